"""The rules send a memory where it belongs and name what it is about, precisely rather than completely."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.triggers.model import EntityMention, RelationMention, RoutingHints
from workbench.engine.triggers.rules import outline_procedure, route_by_rules

HINTS = RoutingHints(owner="Kim")


@pytest.mark.parametrize(
    ("text", "store", "kind", "block"),
    [
        ("We chose SQLite over Postgres for the edge nodes", "episodic", "decision", None),
        ("我们选了 SQLite 而不是 Postgres", "episodic", "decision", None),
        ("Alex’s birthday is May 3rd", "semantic", "fact", None),
        ("Sam works at Globex", "semantic", "fact", None),
        ("Orion 项目使用 Kafka", "semantic", "fact", None),
        ("To deploy: 1. run the tests 2. push to staging", "procedural", "fact", None),
        ("When I ask you to deploy, always run the tests", "procedural", "fact", None),
        ("部署流程：先跑测试，再打标签", "procedural", "fact", None),
        ("My name is Marta", "core", "fact", "Identity"),
        ("我叫陈默", "core", "fact", "Identity"),
        ("I prefer tabs over spaces", "semantic", "preference", "Identity"),
        ("I prefer short answers", "core", "preference", "Persona"),
        ("Always round amounts to whole euros", "core", "preference", "Persona"),
        ("From now on, write dates the ISO way", "core", "preference", "Persona"),
        ("以后都用繁体字", "core", "preference", "Persona"),
        ("I’m Ines Duarte, a nurse at the harbour clinic", "core", "fact", "Identity"),
        ("My main task right now is the move to the new office", "episodic", "fact", "Active Context"),
        ("I have always liked rain", "episodic", "fact", None),
        ("From now on we ship on Tuesdays", "episodic", "fact", None),
        ("I’m allergic to penicillin", "semantic", "fact", "Critical Facts"),
        ("Never push straight to main", "core", "fact", "Critical Facts"),
        ("I’m currently working on the memory architecture", "episodic", "fact", "Active Context"),
        ("never forget that Rosa hates lilies", "vault", "preference", None),
        ("永久记住：我的血型是 O 型", "vault", "fact", None),
        ("Buy milk before Friday", "episodic", "task", None),
        ("my flight to Lisbon leaves at 6:40 on Thursday", "episodic", "event", None),
        ("小李下周一开始休假", "episodic", "event", None),
        ("I’m so excited about the launch", "episodic", "emotion", None),
        ("Actually, the office is in Porto", "semantic", "correction", None),
        ("the gate code changes every other month", "episodic", "fact", None),
    ],
)
def test_a_memory_goes_where_it_belongs(text: str, store: str, kind: str, block: str | None) -> None:
    routing = route_by_rules(text, HINTS)
    assert (routing.store, routing.type, routing.core_block) == (store, kind, block)
    assert routing.core_update == (block is not None)
    assert (routing.router, routing.fallback) == ("rules", None)


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("[[person--alex|Alex]] met [[tool--openclaw]]", {("Alex", "person"), ("Openclaw", "tool")}),
        ("Project Orion uses Kafka", {("Orion", "project"), ("Kafka", "tool")}),
        ("the Apollo project slipped", {("Apollo", "project")}),
        ("@kit owns the `orders.v3` topic, see `README.md`", {("kit", "person"), ("orders.v3", "tool")}),
        ("My sister’s name is Marta", {("Marta", "person")}),
        ("Ines Duarte, the new hire, sits upstairs", {("Ines Duarte", "person")}),
        ("We use OAuth2 PKCE and TypeScript", {("OAuth2 PKCE", "concept"), ("TypeScript", "tool")}),
        ("Sam moved to Berlin", {("Sam", "person"), ("Berlin", "place")}),
        ("我的经理现在是爱子", {("爱子", "person")}),
        ("我在北京", {("北京", "place")}),
    ],
)
def test_marked_and_placed_names_are_entities(text: str, entities: set[tuple[str, str]]) -> None:
    named = {(entity.name, entity.type) for entity in route_by_rules(text, HINTS).entities}
    assert named - {("Kim", "person")} == entities


@pytest.mark.parametrize(
    "text",
    [
        "The Dinner went well. People liked it. Monday is fine.",
        "Marketing wants everything in British English by March",
        "The CEO reads these reports on her phone",
        "Remember the API. Everyone knows the PDF.",
        "Timezone is Europe/Warsaw",
        "Please keep the lights on. Thanks for the rust removal and the swift reply.",
        "Mail kit@halden.example about it",
    ],
)
def test_a_capital_letter_alone_makes_no_entity(text: str) -> None:
    assert route_by_rules(text, HINTS).entities == ()


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("Sam works at Globex", {("Sam", "part-of", "Globex")}),
        ("I prefer tabs over spaces", set()),
        ("I prefer Vim over Emacs", {("Kim", "prefers", "Vim")}),
        ("Priya prefers Signal over email", {("Priya", "prefers", "Signal")}),
        ("We chose SQLite over Postgres", {("Kim", "decided-on", "SQLite")}),
        ("We chose SQLite for project Orion", {("Orion", "decided-on", "SQLite")}),
        (
            "Project Orion uses Kafka and depends on Redis",
            {("Orion", "uses", "Kafka"), ("Orion", "depends-on", "Redis")},
        ),
        ("We moved from Jenkins to Terraform", {("Terraform", "supersedes", "Jenkins")}),
        ("Project Orion doesn’t use Kafka", set()),
        ("Nora uses Vim", {("Nora", "uses", "Vim")}),
        ("The team without Dana uses Vim", set()),
        ("Project Orion not only uses Kafka", {("Orion", "uses", "Kafka")}),
        ("I can’t stand meetings", set()),
        ("I can’t stand Jira", {("Kim", "avoids", "Jira")}),
    ],
)
def test_what_is_stated_between_names_becomes_a_relation(
    text: str, relations: set[tuple[str, str, str]]
) -> None:
    routing = route_by_rules(text.replace("’", "'"), HINTS)
    assert {(r.from_, r.relation, r.to) for r in routing.relations} == relations


def related(text: str, **hints: object) -> set[tuple[str, str, str]]:
    routing = route_by_rules(text, replace(HINTS, store="semantic", **hints))  # type: ignore[arg-type]  # any hints
    return {(r.from_, r.relation, r.to) for r in routing.relations}


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("Orion is maintained by Dana Ruiz", {("Dana Ruiz", "develops", "Orion")}),
        (
            "Dana Ruiz and Priya work on Orion",
            {("Dana Ruiz", "develops", "Orion"), ("Priya", "develops", "Orion")},
        ),
        (
            "Orion uses Kafka, Redis and Grafana",
            {("Orion", "uses", each) for each in ("Kafka", "Redis", "Grafana")},
        ),
        (
            "Orion uses Kafka, which depends on Redis",
            {("Orion", "uses", "Kafka"), ("Kafka", "depends-on", "Redis")},
        ),
        (
            "Orion runs on Kubernetes. It requires Redis.",
            {("Orion", "uses", "Kubernetes"), ("Orion", "depends-on", "Redis")},
        ),
        (
            "We moved Orion from Jenkins to GitLab",
            {("GitLab", "supersedes", "Jenkins"), ("Orion", "uses", "GitLab")},
        ),
        ("For Orion we chose Kafka over Redis", {("Orion", "decided-on", "Kafka")}),
        (
            "Priya avoids Jira but prefers Linear",
            {("Priya", "avoids", "Jira"), ("Priya", "prefers", "Linear")},
        ),
        ("The audit log is part of Orion", {("Audit log", "part-of", "Orion")}),
        ("Priya works at the Port of Ningbo", {("Priya", "part-of", "Port of Ningbo")}),
        ("Orion 由小王负责", {("小王", "develops", "Orion")}),
        ("小王负责 Orion", {("小王", "develops", "Orion")}),
        ("Orion 依赖 Redis", {("Orion", "depends-on", "Redis")}),
        ("我们从 Jenkins 迁移到 GitLab", {("GitLab", "supersedes", "Jenkins")}),
        ("Priya’s team uses Jira", set()),
        ("Does Orion use Kafka?", set()),
        ("Orion never used Kafka", set()),
        ("Priya opened a GitHub pull request with a library like SQLite", set()),
    ],
)
def test_a_relation_is_that_of_its_verb_and_runs_its_way(
    text: str, relations: set[tuple[str, str, str]]
) -> None:
    given = (
        EntityMention("Orion", "project"),
        EntityMention("Audit log", "concept"),
        EntityMention("小王", "person"),
    )
    assert (
        related(text, known=lambda name: next((e for e in given if e.name.casefold() == name), None))
        == relations
    )


def test_the_workspaces_own_relations_are_read_as_verbs() -> None:
    given = (EntityMention("Orion", "project"), EntityMention("Port of Ningbo", "concept"))
    assert related("Orion serves the Port of Ningbo", entities=given, relations=("serves",)) == {
        ("Orion", "serves", "Port of Ningbo")
    }
    assert related("Orion serves the Port of Ningbo", entities=given) == set()


def test_given_entities_are_found_however_they_are_written() -> None:
    given = (EntityMention("Storm surge model", "concept"), EntityMention("SMHI forecast", "concept"))
    routing = route_by_rules(
        "The storm surge model takes its wind from the SMHI forecast",
        replace(HINTS, store="semantic", entities=given),
    )
    assert [(r.from_, r.relation, r.to) for r in routing.relations] == [
        ("Storm surge model", "depends-on", "SMHI forecast")
    ]
    assert routing.entities == given
    assert [fact.subject for fact in routing.facts] == ["Storm surge model"]


def test_a_person_is_called_by_the_first_name_alone() -> None:
    sam = EntityMention("Sam Okafor", "person")
    will = EntityMention("Will Turner", "person")
    hints = replace(HINTS, known=lambda _: None, called={"sam": sam, "will": will}.get)
    assert route_by_rules("the report is for Sam", hints).entities == (sam,)
    assert sam not in route_by_rules("Sam Berg works at Globex", hints).entities
    assert sam not in route_by_rules("Sam Berg works at Globex", replace(HINTS, entities=(sam,))).entities
    assert route_by_rules("Will this work? sam is short for samba", hints).entities == ()


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday Sam joined Globex",
        "Last week the Port of Ningbo asked for a wave forecast",
        "We decided to keep raw readings for ninety days",
        "const apiKey = getKey('London');",
        "from flask_wtf import FlaskForm",
        "Tried the `required` attribute and the `main` branch yesterday",
        "McDonald called, the TypeErrors are gone",
        "I love your detailed photo of the NoneTypeError",
    ],
)
def test_an_episode_makes_no_entity_of_what_is_not_marked(text: str) -> None:
    assert route_by_rules(text, replace(HINTS, store="episodic")).entities == ()


@pytest.mark.parametrize(
    "text",
    [
        "Met [[person--alex]]",
        "Met @kit",
        "Project Orion slipped",
        "Set up MapLibre",
        "the “Night Owl” project",
    ],
)
def test_an_episode_makes_entities_of_marked_names(text: str) -> None:
    (entity,) = route_by_rules(text, replace(HINTS, store="episodic")).entities
    assert entity.marked


def test_the_store_that_was_asked_for_gets_its_parts() -> None:
    steps = "When I ask to deploy Harbor: 1. run the tests, all of them 2. tag it 3. push"
    procedure = route_by_rules(steps, replace(HINTS, store="procedural")).procedure
    assert procedure is not None
    assert (procedure.title, procedure.trigger) == ("How to deploy Harbor", "When asked to deploy Harbor.")
    assert procedure.steps == ("Run the tests, all of them", "Tag it", "Push")
    assert route_by_rules("Buy milk before Friday", replace(HINTS, store="semantic")).facts
    assert route_by_rules("Buy milk before Friday", replace(HINTS, store="procedural")).procedure
    core = route_by_rules("Answer in German", replace(HINTS, store="core"))
    assert (core.core_update, core.core_block) == (True, "Persona")


def test_each_fact_is_about_its_subject() -> None:
    routing = route_by_rules("Sam works at Globex. He lives in Lisbon. Dana is on leave.", HINTS)
    assert [(fact.subject, fact.text) for fact in routing.facts] == [
        ("Sam", "Sam works at Globex"),
        ("Sam", "He lives in Lisbon"),
        ("Dana", "Dana is on leave"),
    ]


def test_a_whole_story_is_kept_as_it_was_told() -> None:
    assert route_by_rules("Sam works at Globex. " * 21, HINTS).store == "episodic"
    assert len(route_by_rules("Sam works at Globex. " * 20, HINTS).facts) == 20


def test_known_names_are_found_as_they_are_called() -> None:
    known = {
        "apollo rewrite": EntityMention("Apollo", "project"),
        "小王": EntityMention("小王", "person"),
        "globex": EntityMention("Globex Corp", "concept"),
    }
    hints = RoutingHints(owner="Kim", known=known.get)
    routing = route_by_rules("the apollo rewrite slipped at Globex, 小王说的", hints)
    assert {entity.name for entity in routing.entities} == {"Apollo", "小王", "Globex Corp"}


def test_a_procedure_is_taken_apart() -> None:
    procedure = route_by_rules("To deploy:\n1. run the tests\n2. tag it\n3. push to staging", HINTS).procedure
    assert procedure is not None
    assert procedure.title == "How to deploy"
    assert procedure.trigger == "When asked to deploy."
    assert procedure.steps == ("run the tests", "tag it", "push to staging")


@pytest.mark.parametrize(
    ("text", "title", "trigger"),
    [
        (
            "To release we do this every time: bump it, tag it, push it",
            "How to release",
            "When asked to release.",
        ),
        ("写周报先列数据，再写分析，最后写计划", "写周报", "写周报的时候。"),
        ("好的，发版流程先打tag，再推送", "发版流程", "发版流程的时候。"),
    ],
)
def test_a_procedure_is_called_by_its_aim(text: str, title: str, trigger: str) -> None:
    procedure = outline_procedure(text)
    assert (procedure.title, procedure.trigger) == (title, trigger)
    assert len(procedure.steps) > 1


def test_protection_and_doubt_are_heard() -> None:
    assert route_by_rules("Sam works at Globex", RoutingHints(protect=True)).store == "vault"
    assert route_by_rules("maybe Sam works at Globex", RoutingHints(explicit=False)).confidence == "low"
    assert route_by_rules("maybe Sam works at Globex").confidence == "medium"
    assert route_by_rules("Sam works at Globex", RoutingHints(explicit=False)).confidence == "medium"


WORDS = "Sam,works at,Globex,I prefer,tea,project,Orion,uses,Kafka,[[tool--x]],`code`,“Q”,.,1.,To deploy:,then,–,'s"
CHINESE = ["我", "喜欢", "小李", "在北京", "流程", "\uff1a", "先", "再"]
PIECES = [*WORDS.split(","), *CHINESE, ",", "\n", "when I ask,", "\ud800", "\x00"]


@pytest.mark.parametrize(
    "piece",
    ["uses ", "Sam likes tea and ", "先我喜欢小李", "[[", "1. ", "i need to go ", "Sam ", "A", "A-", "A'"],
)
def test_a_hostile_text_is_routed_soon(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    route_by_rules(text, HINTS)
    assert time.process_time() - started < 3.0


@given(st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join) | st.text(max_size=200))
def test_every_text_gives_a_routing_that_holds_together(text: str) -> None:
    routing = route_by_rules(text, HINTS)
    assert routing == route_by_rules(text, HINTS)
    assert 2 <= len(routing.tags) <= 5
    assert 0 < len(routing.summary) <= 100
    assert "\n" not in routing.summary
    names = [entity.name for entity in routing.entities]
    assert len({name.casefold() for name in names}) == len(names)
    for relation in routing.relations:
        assert isinstance(relation, RelationMention)
        assert {relation.from_, relation.to} <= set(names)
    for fact in routing.facts:
        assert fact.subject is None or fact.subject in names
    assert (routing.procedure is not None) == (routing.store == "procedural")
    assert routing.procedure is None or routing.procedure.steps
    assert (routing.core_block is not None) == routing.core_update

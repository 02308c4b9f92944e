"""Items of an answer become proposed changes only where they hold; one that does not takes no other with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.reflection.model_mind.saying import entity, evidence, fact, item
from tests.engine.reflection.snapshots import check_quotes, faded, said, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Snapshot, Work
from workbench.engine.reflection.model_mind import consolidating, material
from workbench.engine.reflection.model_mind.material import Window
from workbench.engine.reflection.model_mind.reading import ItemContext, Read, Targets, read_items, speakers_of
from workbench.engine.reflection.model_mind.showing import Shown

FILES = {
    "MEMORY.md": "# Core\n\n## Identity\n- Name: Alex\n\n## Critical Facts\n- Alex is allergic to nuts\n",
    "memory/graph/entities/person--alex.md": (
        "# Alex\n\n## Facts\n- Alex lives in Berlin (since 2025-01-01) ^f1aa\n- Alex drinks tea\n\n"
        "## Relations\n- develops: [[project--apollo]] ^r1aa\n"
    ),
    "memory/graph/entities/project--apollo.md": "# Apollo\n\n## Facts\n- Apollo runs on Postgres ^f2aa\n",
    "memory/graph/entities/project--apollo-app.md": "# Apollo App\n",
    "memory/procedures/deploy.md": "# Deploy\n\n## Trigger\nA release\n\n## Steps\n1. Build it\n2. Ship it\n",
    "memory/meta/evolution.md": "# Evolution\n\n## Insights\n- Alex decides quickly ^e1aa\n",
    "memory/episodes/2025-10-01.md": "# Log\n\n## 09:00 | event\nA CSS bug was fixed\n",
    "memory/episodes/2025-10-02.md": "# Log\n\n## 09:00 | event\nThe cat was ill\n",
}
P1, P2 = ("P1", "moved to Lisbon"), ("P2", "Maria leads Apollo now")


@dataclass
class Reading:
    """What a model was shown, and what becomes of what it says."""

    made: Snapshot
    shown: Shown
    targets: Targets

    def read(self, *said: Any) -> Read:
        return read_items(said, ItemContext(self.made, self.shown, self.targets), tuple(Kind))

    def one(self, said: dict[str, Any]) -> ReviewItem:
        read = self.read(said)
        assert read.dropped == ()
        assert len(read.items) == 1
        check_quotes(self.made, read.items)
        return read.items[0]

    def ref(self, text: str) -> str:
        """Return the handle of the memory that says something."""
        return next(ref for ref, source in self.shown.sources.items() if text in source.text)


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    made = snapshot(
        tmp_path,
        [
            said("2026-02-10 10:00", "I have moved to Lisbon for good.\nIgnore the rest.", speaker="Alex"),
            said("2026-02-11 10:00", "Maria leads Apollo now, she said “it’s mine”.", speaker="Alex"),
            said("2026-02-12 10:00", "To release: run the tests, build it, then ship it.", speaker="Kim"),
        ],
        files=FILES,
        owner="Alex",
        fading=(
            faded("episode:2025-10-01:09:00", 0.03),
            faded("episode:2025-10-02:09:00", 0.04, pinned=True),
        ),
    )
    shown = Shown(made.text_of)
    material.window_rows(made, Window(0, 3), shown, 500)
    consolidating.near_rows(made, made.passages, shown, 4_000, Work())
    material.memory_rows(made, shown, 2_000)
    material.core_rows(made, shown, 2_000)
    return Reading(made, shown, Targets(made.graph, made.owner, speakers_of(made.passages)))


def test_a_new_entity(reading: Reading) -> None:
    made = reading.one(entity("Maria", P2, aliases=["Mia", "maria", " "], summary="Leads Apollo."))
    assert (made.kind, made.target, made.text, made.confidence) == (
        "entity",
        "person--maria",
        "Maria",
        "medium",
    )
    assert dict(made.fields) == {forms.ALIASES: "Mia", forms.SUMMARY: "Leads Apollo."}
    assert made.evidence[0].id == reading.made.passages[1].id


def test_a_fact_about_a_known_entity(reading: Reading) -> None:
    made = reading.one(fact("alex", "Alex has moved to Lisbon.", P1, since="2026-02-10"))
    assert (made.target, made.needs, dict(made.fields)) == ("person--alex", (), {forms.SINCE: "2026-02-10"})


def test_what_is_about_a_new_entity_needs_it_wherever_it_stands(reading: Reading) -> None:
    read = reading.read(
        fact("Maria", "Maria leads Apollo.", P2),
        item("relation", P2, from_="person--maria", relation="develops", to="Apollo", since="soon"),
        entity("Maria", P2),
    )
    assert [made.kind for made in read.items] == ["entity", "fact", "relation"]
    assert [made.needs for made in read.items] == [(), ("person--maria",), ("person--maria",)]
    assert read.items[2].text == "develops [[project--apollo]]"
    assert read.items[2].fields == ()


@pytest.mark.parametrize("name", ["Kim", "person--kim"])
def test_who_speaks_is_a_person_even_if_nobody_proposed_one(reading: Reading, name: str) -> None:
    made = reading.one(fact(name, "Kim runs the tests before a release.", ("P3", "run the tests")))
    assert (made.target, made.needs) == ("person--kim", ("person--kim",))


@pytest.mark.parametrize("name", ["user", "The user", "[[person--alex]]", "entity:person--alex"])
def test_the_owner_goes_by_several_names(reading: Reading, name: str) -> None:
    assert reading.one(fact(name, "Alex has moved.", P1)).target == "person--alex"


def test_a_fact_worded_better(reading: Reading) -> None:
    ref = reading.ref("lives in Berlin")
    made = reading.one(fact("Alex", "Alex lived in Berlin.", P1, replaces=ref))
    assert made.target == "entity:person--alex#^f1aa"
    assert made.before == "Alex lives in Berlin"


def test_an_update_of_a_recorded_fact_says_the_old_value_as_recorded(reading: Reading) -> None:
    ref = reading.ref("lives in Berlin")
    made = reading.one(
        item(
            "supersession",
            (ref, "lives in Berlin"),
            P1,
            about="Alex",
            old="Berlin",
            new="Alex lives in Lisbon",
            since="",
        )
    )
    assert (made.target, made.before, made.text) == (
        "entity:person--alex#^f1aa",
        "Alex lives in Berlin",
        "Alex lives in Lisbon",
    )
    assert dict(made.fields) == {
        forms.HELD_SINCE: "2025-01-01",
        forms.UNTIL: "2026-02-10",
        forms.SINCE: "2026-02-10",
    }


def test_an_update_between_passages_is_about_the_entity(reading: Reading) -> None:
    made = reading.one(
        item("supersession", P1, P2, about="Apollo", old="Alex led it", new="Maria leads it", since="")
    )
    assert (made.target, made.before) == ("project--apollo", "Alex led it")
    assert dict(made.fields)[forms.HELD_SINCE] == "2026-02-10"


def test_a_contradiction_has_no_winner(reading: Reading) -> None:
    made = reading.one(
        item(
            "contradiction",
            P1,
            P2,
            about="Alex",
            question="Where is Alex?",
            this="In Lisbon.",
            that="In Porto.",
        )
    )
    assert made.kind == "contradiction"
    assert dict(made.fields) == {forms.THIS: "In Lisbon.", forms.THAT: "In Porto.", forms.RESOLVE: "ask"}


def test_a_merge(reading: Reading) -> None:
    made = reading.one(item("merge", P2, keep="Apollo", absorb="project--apollo-app"))
    assert (made.target, made.text) == ("project--apollo", "[[project--apollo-app]] is the same")


def test_a_new_procedure_and_other_steps_for_a_known_one(reading: Reading) -> None:
    cited = ("P3", "run the tests, build it, then ship it")
    steps = ["Run the tests", "Build it", "Ship it"]
    new = reading.one(item("procedure", cited, title="Release", when="A release", steps=steps, changes=""))
    assert (new.target, new.before) == ("procedure:release", "")
    changed = reading.one(
        item("procedure", cited, title="Deploy", when="", steps=steps, changes="procedure:deploy")
    )
    assert (changed.target, changed.before) == ("procedure:deploy", "1. Build it\n2. Ship it")
    assert dict(changed.fields)[forms.STEPS] == "1. Run the tests\n2. Build it\n3. Ship it"


def test_fading_memories_are_archived_or_protected(reading: Reading) -> None:
    ref = reading.ref("CSS bug")
    cited = (ref, "A CSS bug was fixed")
    made = reading.one(item("archive", cited, memory=ref))
    assert (made.target, dict(made.fields)) == ("episode:2025-10-01:09:00", {forms.SCORE: "0.030"})
    assert reading.one(item("vault pin", cited, memory=ref)).target == "episode:2025-10-01:09:00"


def test_core_memory_changes_at_an_item_or_gets_a_new_one(reading: Reading) -> None:
    ref = reading.ref("allergic")
    changed = reading.one(
        item(
            "core change", P1, block="critical-facts", replaces=ref, text="Alex is allergic to nuts and eggs"
        )
    )
    assert changed.target.startswith("core:critical-facts:")
    assert changed.before == "Alex is allergic to nuts"
    new = reading.one(item("core change", P1, block="active-context", replaces="", text="Moving to Lisbon"))
    assert (new.target, new.before) == ("core:active-context", "")
    gone = reading.one(item("demotion", (ref, "allergic to nuts"), item=ref))
    assert (gone.target, gone.before) == (changed.target, "Alex is allergic to nuts")
    up = reading.one(item("promotion", P1, memory="P1", text="Alex lives in Lisbon"))
    assert (up.target, dict(up.fields)) == ("core:critical-facts", {forms.OF: reading.made.passages[0].id})


def test_insights_and_questions(reading: Reading) -> None:
    insight = reading.one(item("insight", P1, section="Insights", text="Alex moves a lot"))
    assert insight.target == "evolution:Insights"
    asked = reading.one(item("question", P2, text="Who owns Apollo?", about="Apollo"))
    assert (asked.target, asked.kind) == ("project--apollo", "question")
    assert reading.one(item("question", P2, text="Who else?", about="nobody known")).target == ""


BAD: list[tuple[Any, str]] = [
    ("words", "none of the kinds"),
    (None, "none of the kinds"),
    ({}, "none of the kinds"),
    ({"kind": "decision"}, "none of the kinds"),
    ({"kind": ["fact"]}, "none of the kinds"),
    ({"kind": "fact"}, "it lacks evidence"),
    (fact("Alex", "x", P1, decision="approved"), "says “decision”"),
    (fact("Alex", "x", P1, confidence="certain"), "none of those allowed"),
    (fact("Alex", 3, P1), "text is no text"),  # type: ignore[arg-type]  # what models do
    ({**fact("Alex", "x"), "evidence": "P1"}, "evidence is no list"),
    ({**fact("Alex", "x"), "evidence": [{"ref": "P1"}]}, "it lacks quote"),
    (fact("Alex", "Alex sings."), "cites nothing"),
    (fact("Alex", "Alex sings.", ("P99", "sings")), "'P99' was not shown"),
    (fact("Alex", "Alex sings.", ("episode:2025-10-01:09:00", "CSS")), "was not shown"),
    (fact("Alex", "Alex sings.", ("P1", "I sing")), "P1 does not say “I sing”"),
    (fact("Alex", "Alex sings.", P1, ("P2", "I sing")), "P2 does not say"),
    (fact("Alex", "Alex sings.", ("P1", "  ")), "does not say"),
    (fact("Alex", "  ", P1), "cannot be empty"),
    (fact("Alex", "a" * 501, P1), "500 characters"),
    (fact("Alex", "x", P1) | {"reason": ""}, "reason cannot be empty"),
    (fact("Bob", "Bob sings.", P1), "“Bob” is no known or proposed entity"),
    (fact("person--bob", "Bob sings.", P1), "no known or proposed entity"),
    (fact("assistant", "It sings.", P1), "no known or proposed entity"),
    (fact("Alex", "alex lives in  Berlin.", P1), "recorded already"),
    (fact("Alex", "x", P1, replaces="F99"), "nothing that this can be done to"),
    (fact("Alex", "x", P1, replaces="P1"), "nothing that this can be done to"),
    (entity("Alex", P1), "known already as person--alex"),
    (entity("Zoe", P2), "does not name it"),
    (entity("Maria", P2, type_="dog"), "none of those allowed"),
    (entity("[[", P2), "letter or a digit"),
    (item("relation", P1, from_="Alex", relation="eats", to="Apollo", since=""), "none of those allowed"),
    (item("relation", P1, from_="Alex", relation="uses", to="user", since=""), "to itself"),
    (item("relation", P1, from_="Alex", relation="develops", to="Apollo", since=""), "recorded already"),
    (item("merge", P1, keep="Apollo", absorb="project--apollo"), "two entities that are known"),
    (item("merge", P1, keep="Apollo", absorb="Kim"), "two entities that are known"),
    (item("supersession", P1, about="Alex", old="a", new="b", since=""), "both sides"),
    (item("supersession", P1, ("P1", "for good"), about="Alex", old="a", new="b", since=""), "both sides"),
    (item("supersession", P1, P2, about="Alex", old="Same.", new="same", since=""), "are the same"),
    (item("contradiction", P1, P2, about="Alex", question="?", this="A", that="a."), "are the same"),
    (item("procedure", P1, title="X", when="", steps=["one"], changes=""), "fewer than two"),
    (item("procedure", P1, title="X", when="", steps=["a", "b"], changes="procedure:x"), "is no procedure"),
    (
        item(
            "procedure",
            P1,
            title="Deploy",
            when="",
            steps=["Build it", "Ship it"],
            changes="procedure:deploy",
        ),
        "recorded already",
    ),
    (item("archive", P1, memory="P1"), "nothing that this can be done to"),
    (item("restore", P1, memory="M1"), "nothing that this can be done to"),
    (item("core change", P1, block="attic", replaces="", text="x"), "none of those allowed"),
    (item("core change", P1, block="identity", replaces="P1", text="x"), "nothing that this can be done to"),
    (item("core change", P1, block="identity", replaces="", text="Name: Alex"), "says so already"),
    (item("promotion", P1, memory="C1", text="x"), "nothing that this can be done to"),
    (item("promotion", P1, memory="P1", text="Alex is allergic to nuts."), "says so already"),
    (item("demotion", P1, item="core:identity:name"), "nothing that this can be done to"),
    (item("insight", P1, section="Elsewhere", text="x"), "none of those allowed"),
    (item("insight", P1, section="Insights", text="Alex decides quickly"), "evolution.md already"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
def test_what_does_not_hold_is_dropped_alone_and_with_the_reason(
    reading: Reading, bad: Any, reason: str
) -> None:
    read = reading.read(bad, fact("Alex", "Alex has moved to Lisbon.", P1))
    assert [made.text for made in read.items] == ["Alex has moved to Lisbon."]
    assert len(read.dropped) == 1
    assert reason in read.dropped[0]


def test_protected_memories_are_not_archived_nor_taken_out_of_core(reading: Reading) -> None:
    ref = reading.ref("cat was ill")
    for kind in ("archive", "vault pin"):
        assert "protected" in reading.read(item(kind, (ref, "The cat"), memory=ref)).dropped[0]


def test_an_entity_is_proposed_once(reading: Reading) -> None:
    read = reading.read(entity("Maria", P2), entity("maria", P2))
    assert len(read.items) == 1
    assert "proposed already" in read.dropped[0]


def test_controls_and_overrides_do_not_come_through(reading: Reading) -> None:
    made = reading.one(fact("Alex", "Alex\u202e has\nmoved\x07\ud83d.", P1))
    assert made.text == "Alex has moved."


def test_markup_stays_text(reading: Reading) -> None:
    text = "- [x] `r-001.1` fact for [[person--alex]]: [bold]yes[/]"
    assert reading.one(fact("Alex", text, P1)).text == text


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("i have MOVED", "I have moved"),
        ("“moved to Lisbon…”", "moved to Lisbon"),
        ("for good. Ignore", "for good. Ignore"),
        ("for good.\n\n  Ignore", "for good. Ignore"),
    ],
)
def test_quotes_become_the_words_of_their_source(reading: Reading, quote: str, found: str) -> None:
    assert reading.one(fact("Alex", "Alex has moved.", ("P1", quote))).evidence[0].quote == found


def test_typographic_quotes_may_be_written_as_others(reading: Reading) -> None:
    made = reading.one(fact("Maria", "It is hers.", ("[P2]", 'she said "it\'s mine"')) | {"about": "Apollo"})
    assert made.evidence[0].quote == "she said “it’s mine”"


def test_evidence_is_bounded(reading: Reading) -> None:
    cited = fact("Alex", "Alex has moved.") | {"evidence": evidence(*[P1, P2] * 5)}
    assert len(reading.one(cited).evidence) == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
CHANGES = st.dictionaries(
    st.sampled_from(["kind", "evidence", "reason", "confidence", "about", "text", "since", "replaces", "x"]),
    JSON
    | st.sampled_from(
        [str(kind) for kind in Kind] + ["P1", "F1", "C1", "M1", "Alex", "\u202e", "2026-02-30"]
    ),
    max_size=4,
)


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
@given(st.lists(JSON | CHANGES.map(lambda change: {**fact("Alex", "Alex moved.", P1), **change}), max_size=4))
def test_whatever_a_model_says_is_an_item_or_dropped(reading: Reading, said: list[Any]) -> None:
    read = reading.read(*said)
    assert len(read.items) + len(read.dropped) == len(said)
    check_quotes(reading.made, read.items)
    assert {made.decision for made in read.items} <= {"undecided"}
    assert all("\n" not in reason for reason in read.dropped)


def test_a_kind_nested_without_end_is_dropped(reading: Reading) -> None:
    deep: Any = "x"
    for _ in range(20_000):
        deep = [deep]
    assert "none of the kinds" in reading.read({"kind": deep}).dropped[0]
    assert "no text" in reading.read(fact("Alex", deep, P1)).dropped[0]
    # Taken apart from the outside, as the interpreter would recurse to do it.
    while isinstance(deep, list):
        deep = deep.pop()

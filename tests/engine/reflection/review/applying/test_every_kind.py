"""Every kind of item: proposed, decided, applied, and taken back to the byte."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.engine.reflection.review.applying.desk import BACKUPS, BOTH, HARBOUR, ROBIN, WHY, Desk
from workbench.engine import layout
from workbench.engine.history.work_files import WorkFiles
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.memory.scores_file import read_scores
from workbench.engine.reflection import items
from workbench.engine.reflection.kinds import Kind

TEA = "entity:person--robin#^tea1"
LANGUAGE = "entity:project--harbour#^lang"
RELEASE = "procedure:how-to-release"
EPISODES = "memory/episodes"


def with_field(item: ReviewItem, label: str, value: str) -> ReviewItem:
    kept = tuple(field for field in item.fields if field[0] != label)
    return replace(item, fields=(*kept, (label, value)))


@dataclass(frozen=True)
class Case:
    """An item and what its application must leave: in which file, which words, and which no longer."""

    item: ReviewItem
    path: str
    says: tuple[str, ...]
    no_longer: tuple[str, ...] = ()


def contradiction(resolve: str, target: str = "person--robin") -> ReviewItem:
    this = "Drinks tea in the morning" if target == TEA else "Lives in Uppsala"
    item = items.contradiction(target, "Which?", this, "Lives in Visby", BOTH, reason=WHY)
    return with_field(item, items.RESOLVE, resolve)


CASES = {
    "fact": Case(
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY, since="2026-01-30"),
        ROBIN,
        ("- Robin sails (confidence medium, since 2026-01-30, from episode:2026-02-01:09:15 and source:",),
    ),
    "fact reworded": Case(
        items.fact(TEA, "Drinks green tea", (BACKUPS,), reason=WHY, before="Drinks tea in the morning"),
        ROBIN,
        ("- Drinks green tea (since 2026-01-20, from episode:2026-02-01:09:15) ^tea1",),
        ("Drinks tea in",),
    ),
    "entity": Case(
        items.entity("tool--ferry", "Ferry", BOTH, reason=WHY, aliases=["The boat"], summary="A boat."),
        "memory/graph/entities/tool--ferry.md",
        ("Label: Ferry", "- The boat", "A boat.", "First mentioned (from episode:2026-02-01:09:15)"),
    ),
    "relation": Case(
        items.relation("project--harbour", "part-of", "person--robin", BOTH, reason=WHY, confidence="low"),
        HARBOUR,
        ("- part-of: [[person--robin]] (confidence low, since 2026-02-01,",),
    ),
    "merge": Case(
        items.merge("person--robin", "project--harbour", BOTH, reason=WHY),
        ROBIN,
        ("Harbour is written in Rust",),
    ),
    "supersession of a recorded fact": Case(
        items.supersession(
            TEA,
            "Drinks tea in the morning",
            "Drinks coffee in the morning",
            BOTH,
            reason=WHY,
            until="2026-01-31",
            since="2026-02-01",
        ),
        ROBIN,
        (
            "- Drinks coffee in the morning (confidence medium, since 2026-02-01,",
            "- Drinks tea in the morning (2026-01-20 to 2026-01-31,",
        ),
    ),
    "supersession of what nobody recorded": Case(
        items.supersession(
            "project--harbour",
            "Harbour runs on one server",
            "Harbour runs on three servers",
            BOTH,
            reason=WHY,
            held_since="2025-12-01",
            until="2026-01-31",
            since="2026-02-01",
        ),
        HARBOUR,
        (
            "on three servers (confidence medium, since 2026-02-01, from episode:2026-02-01:18:40 and source:",
            "on one server (confidence medium, 2025-12-01 to 2026-01-31, from episode:2026-02-01:09:15 and s",
        ),
    ),
    "contradiction: this": Case(
        contradiction("this"), ROBIN, ("- Lives in Uppsala (confidence medium",), ("Visby",)
    ),
    "contradiction: that": Case(contradiction("that"), ROBIN, ("- Lives in Visby (",), ("Uppsala",)),
    "contradiction: both": Case(contradiction("both"), ROBIN, ("- Lives in Uppsala (", "- Lives in Visby (")),
    "contradiction: that, against a recorded fact": Case(
        contradiction("that", TEA),
        ROBIN,
        ("- Lives in Visby (", "- Drinks tea in the morning (2026-01-20 to 2026-02-01,"),
    ),
    "archive": Case(
        items.archive("episode:2026-02-01:18:40", "Ferry", (BACKUPS,), reason=WHY, score=0.03),
        layout.DECAY_SCORES,
        ('"episode:2026-02-01:18:40"', '"archived": true'),
    ),
    "archive of a fact": Case(
        items.archive(LANGUAGE, "Rust", (BACKUPS,), reason=WHY, score=0.03),
        HARBOUR,
        ("## Superseded\n- Harbour is written in Rust (2026-01-16 to 2026-02-02) ^lang",),
    ),
    "procedure": Case(
        items.procedure(
            "procedure:how-to-sail", "How to sail", ["Cast off", "Hoist"], BOTH, reason=WHY, when="Wind"
        ),
        "memory/procedures/how-to-sail.md",
        ("# How to sail", "## Trigger\nWind", "1. Cast off\n2. Hoist", "- episode:2026-02-01:18:40"),
    ),
    "procedure with other steps": Case(
        items.procedure(
            RELEASE,
            "How to release",
            ["Run the tests", "Ask Robin", "Tag the commit"],
            BOTH,
            reason=WHY,
            steps_before=["Run the tests", "Tag the commit"],
        ),
        "memory/procedures/how-to-release.md",
        ("1. Run the tests\n2. Ask Robin\n3. Tag the commit",),
    ),
    "core change": Case(
        items.core_change(
            "core:identity:name", "Name: Robin Ek", (BACKUPS,), reason=WHY, before="Name: Robin"
        ),
        layout.CORE,
        ("- Name: Robin Ek\n",),
        ("- Name: Robin\n",),
    ),
    "core addition": Case(
        items.core_change("core:persona", "Name sources", (BACKUPS,), reason=WHY),
        layout.CORE,
        ("- Be brief\n- Name sources\n",),
    ),
    "promotion": Case(
        items.promotion(LANGUAGE, "Harbour is written in Rust", (BACKUPS,), reason=WHY),
        layout.CORE,
        ("called harbour\n- Harbour is written in Rust\n",),
    ),
    "demotion": Case(
        items.demotion("core:identity:lives-in-uppsala", "Lives in Uppsala", (BACKUPS,), reason=WHY),
        layout.CORE,
        (),
        ("Uppsala",),
    ),
    "vault pin": Case(
        items.vault_pin("episode:2026-02-01:09:15", "Backups", (BACKUPS,), reason=WHY),
        layout.DECAY_SCORES,
        ('"pinned": true',),
    ),
    "vault pin of an item of core memory": Case(
        items.vault_pin("core:persona:be-brief", "Be brief", (BACKUPS,), reason=WHY),
        layout.CORE,
        ("- Be brief <!-- pinned -->",),
    ),
    "insight": Case(
        items.insight("Milestones", "Robin prefers both to either.", (BACKUPS,), reason=WHY),
        layout.EVOLUTION,
        ("## Milestones\n- Robin prefers both to either. ^",),
    ),
    "question": Case(
        with_field(
            items.question("When does the ferry leave?", (BACKUPS,), reason=WHY, about="person--robin"),
            items.ANSWER,
            "At nine.",
        ),
        "memory/episodes/2026-02-02.md",
        ("entities:[person--robin] | from:[episode:2026-02-01:09:15]\nWhen does the ferry leave? At nine.",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_approved_item_changes_the_files_and_is_taken_back_to_the_byte(desk: Desk, name: str) -> None:
    case = CASES[name]
    desk.propose(case.item)
    desk.tick_all()
    before = desk.memory()
    proposed = desk.text(layout.PENDING_REFLECTION)

    applied = desk.apply()

    assert (applied.applied, applied.waiting, applied.outcome) == (("r-012.1",), {}, "approved")
    text = desk.text(case.path)
    assert all(words in text for words in case.says), text
    assert not any(words in text for words in case.no_longer), text
    assert not (desk.root / layout.PENDING_REFLECTION).exists()
    assert "- `r-012.1` approved: " in desk.text(layout.REFLECTION_LOG)
    commit = desk.commit_of(applied.commit)
    assert (commit.actor, commit.approval) == ("reflection:r-012", "approved")

    desk.revert("r-012.1")
    assert desk.memory() == before

    with desk.open() as workspace:
        workspace.undo()
    assert desk.text(case.path) == text
    desk.rollback()
    assert desk.memory() == before
    assert desk.text(layout.PENDING_REFLECTION) == proposed


def test_every_kind_has_a_case() -> None:
    assert {case.item.kind for case in CASES.values()} == set(Kind) - {Kind.RESTORE}


def test_an_archived_memory_is_restored(desk: Desk) -> None:
    memory = "episode:2026-02-01:18:40"
    with desk.open() as workspace:
        workspace.forget(ids=[memory], apply=True)
    desk.propose(items.restore(memory, "The ferry", (BACKUPS,), reason=WHY))
    desk.tick_all()
    before = desk.memory()
    assert desk.apply().applied == ("r-012.1",)
    with desk.open() as workspace:
        score = workspace.show(memory).score
        assert score is not None
        assert score.status != "archived"
    desk.revert("r-012.1")
    assert desk.memory() == before


def test_an_archived_item_of_core_memory_is_restored(desk: Desk) -> None:
    with desk.open() as workspace:
        workspace.forget(ids=["core:identity:lives-in-uppsala"], apply=True)
    desk.propose(items.restore("core:identity:lives-in-uppsala", "Lives", (BACKUPS,), reason=WHY))
    desk.tick_all()
    before = desk.memory()
    assert desk.apply().applied == ("r-012.1",)
    assert "- Lives in Uppsala\n" in desk.text(layout.CORE)
    desk.revert("r-012.1")
    assert desk.memory() == before


def test_a_demoted_item_can_be_restored(desk: Desk) -> None:
    item = "core:identity:lives-in-uppsala"
    before = desk.text(layout.CORE)
    desk.propose(items.demotion(item, "Lives in Uppsala", (BACKUPS,), reason=WHY))
    desk.approve_all()
    with desk.open() as workspace:
        workspace.restore(item)
    assert desk.text(layout.CORE) == before


def test_merged_entities_can_be_parted(desk: Desk) -> None:
    before = {path: desk.text(path) for path in (ROBIN, HARBOUR)}
    desk.propose(items.merge("person--robin", "project--harbour", BOTH, reason=WHY))
    desk.approve_all()
    with desk.open() as workspace:
        workspace.graph_unmerge("project--harbour")
    assert {path: desk.text(path) for path in (ROBIN, HARBOUR)} == before


def test_an_answer_closes_the_open_question_of_the_entity(desk: Desk) -> None:
    asked = "When does the ferry leave?"
    file = EntityFile.parse((desk.root / ROBIN).read_bytes(), ROBIN)
    desk.write(ROBIN, file.add_question(asked).render())
    before = desk.text(ROBIN)
    item = items.question(asked, (BACKUPS,), reason=WHY, about="person--robin")
    desk.propose(with_field(item, items.ANSWER, "At nine."))
    desk.approve_all()
    assert asked not in desk.text(ROBIN)
    desk.revert("r-012.1")
    assert desk.text(ROBIN) == before


def test_a_contradiction_keeps_both_with_the_dates_that_the_person_wrote(desk: Desk) -> None:
    item = with_field(contradiction("both"), items.THIS, "Lives in Uppsala (2024-01 to 2025-06)")
    item = with_field(item, items.THAT, "Lives in Visby, in summer (since 2025-06)")
    desk.propose(item)
    desk.approve_all()
    file = EntityFile.parse((desk.root / ROBIN).read_bytes(), ROBIN)
    (past,) = file.retired
    assert (past.text, past.provenance.since, past.provenance.until) == (
        "Lives in Uppsala",
        "2024-01",
        "2025-06",
    )
    now = file.facts[-1]
    assert (now.text, now.provenance.since) == ("Lives in Visby, in summer", "2025-06")


def test_of_two_recorded_facts_the_older_held_until_the_newer_began(desk: Desk) -> None:
    visby = "- Lives in Visby (since 2026-01-28, from episode:2026-02-01:09:15) ^visb\n"
    desk.write(ROBIN, desk.text(ROBIN).replace("- Drinks tea", f"{visby}- Drinks tea", 1))
    old, new = "Drinks tea in the morning", "Lives in Visby"
    evidence = (Evidence(TEA, old), Evidence("entity:person--robin#^visb", new))
    item = items.contradiction(TEA, "Which holds?", old, new, evidence, reason=WHY)
    desk.propose(with_field(item, items.RESOLVE, "that"))
    desk.approve_all()
    file = EntityFile.parse((desk.root / ROBIN).read_bytes(), ROBIN)
    (past,) = (fact for fact in file.retired if fact.text == old)
    assert past.provenance.until == "2026-01-28"


def test_a_recorded_fact_is_given_the_scope_that_lets_both_stand(desk: Desk) -> None:
    item = with_field(contradiction("both", TEA), items.THIS, "Drinks tea in the morning at work")
    desk.propose(item)
    desk.approve_all()
    text = desk.text(ROBIN)
    assert (
        "- Drinks tea in the morning at work (since 2026-01-20, from episode:2026-02-01:09:15) ^tea1" in text
    )
    assert "- Lives in Visby (" in text


def test_a_contradiction_is_settled_also_where_what_is_recorded_was_right(desk: Desk) -> None:
    desk.propose(contradiction("this", TEA))
    before = desk.memory()
    applied = desk.approve_all()
    assert (applied.applied, applied.waiting) == (("r-012.1",), {})
    assert desk.memory() == before
    assert "approved: contradiction `entity:person--robin#^tea1` Which? (this)\n" in desk.text(
        layout.REFLECTION_LOG
    )


def test_what_reflection_learned_fades_as_inferred(desk: Desk) -> None:
    desk.propose(items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY))
    (fact,) = desk.approve_all().ids
    with desk.open() as workspace:
        workspace.forget(ids=[fact], apply=True)
    assert read_scores(WorkFiles(desk.root)).entries[fact].base_relevance == 0.5

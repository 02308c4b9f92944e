"""Items applied together, taken back one by one in any order, or all at once."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from tests.engine.reflection.review.applying.desk import BACKUPS, BOTH, HARBOUR, ROBIN, WHY, Desk
from workbench.engine import layout
from workbench.engine.errors import Stale
from workbench.engine.markdown.decay_scores import DecayScores, ScoreEntry
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection import items

TEA = "entity:person--robin#^tea1"
NEW = "memory/graph/entities/tool--ferry.md"


def many() -> list[ReviewItem]:
    """Return items of every kind that go together, several on one file."""
    question = items.question("When does it leave?", (BACKUPS,), reason=WHY, about="person--robin")
    other = items.question("Where does it leave?", (BACKUPS,), reason=WHY)
    disagreement = items.contradiction(
        "project--harbour", "Which?", "It is blue", "It is red", BOTH, reason=WHY
    )
    return [
        items.entity("tool--ferry", "Ferry", BOTH, reason=WHY, aliases=["The boat"], summary="A boat."),
        items.fact("tool--ferry", "It goes to Gotland", BOTH, reason=WHY, needs=["r-012.1"]),
        items.fact("tool--ferry", "It goes at nine", BOTH, reason=WHY, needs=["r-012.1"]),
        items.relation("person--robin", "uses", "tool--ferry", BOTH, reason=WHY, needs=["r-012.1"]),
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
        items.supersession(
            TEA, "Drinks tea in the morning", "Drinks coffee", BOTH, reason=WHY, since="2026-02-01"
        ),
        items.supersession("project--harbour", "On one server", "On three servers", BOTH, reason=WHY),
        replace(disagreement, fields=(*disagreement.fields[:2], (items.RESOLVE, "this"))),
        items.archive("episode:2026-02-01:18:40", "Ferry", (BACKUPS,), reason=WHY, score=0.03),
        items.vault_pin("episode:2026-02-01:09:15", "Backups", (BACKUPS,), reason=WHY),
        items.procedure("procedure:how-to-sail", "How to sail", ["Cast off"], BOTH, reason=WHY),
        items.procedure(
            "procedure:how-to-release",
            "How to release",
            ["Ask Robin", "Tag the commit"],
            BOTH,
            reason=WHY,
            steps_before=["Run the tests", "Tag the commit"],
        ),
        items.core_change(
            "core:identity:name", "Name: Robin Ek", (BACKUPS,), reason=WHY, before="Name: Robin"
        ),
        items.demotion("core:identity:lives-in-uppsala", "Lives in Uppsala", (BACKUPS,), reason=WHY),
        items.core_change("core:identity", "Lives in Visby", (BACKUPS,), reason=WHY),
        items.promotion("entity:project--harbour#^lang", "Harbour is in Rust", (BACKUPS,), reason=WHY),
        items.insight("Insights", "Robin prefers both.", (BACKUPS,), reason=WHY),
        items.insight("Milestones", "The first ten.", (BACKUPS,), reason=WHY),
        replace(question, fields=((items.ANSWER, "At nine."),)),
        replace(other, fields=((items.ANSWER, "At the pier."),)),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_items_are_taken_back_in_any_order_until_nothing_is_left_of_them(desk: Desk, seed: int) -> None:
    desk.propose(*many())
    ids = [item.id for item in desk.pending.items]
    desk.tick_all()
    before = desk.memory()
    applied = desk.apply()
    assert (applied.waiting, list(applied.applied)) == ({}, ids)
    if seed == 1:
        ids.reverse()
    elif seed > 1:
        random.Random(seed).shuffle(ids)
    for item_id in ids:
        desk.revert(item_id)
    assert desk.memory() == before


PAIRS = {
    "two facts": (
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
        items.fact("person--robin", "Robin rows", (BACKUPS,), reason=WHY),
    ),
    "alike lines of core memory": (
        items.demotion("core:identity:lives-in-uppsala", "Lives in Uppsala", (BACKUPS,), reason=WHY),
        items.core_change("core:identity", "Lives in Visby", (BACKUPS,), reason=WHY),
    ),
    "an entity and what is said of it": (
        items.entity("tool--ferry", "Ferry", (), reason=WHY),
        items.fact("tool--ferry", "It goes at nine", BOTH, reason=WHY, needs=["r-012.1"]),
    ),
    "a merge and a fact": (
        items.merge("person--robin", "project--harbour", BOTH, reason=WHY),
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
    ),
    "two archived": (
        items.archive("episode:2026-02-01:18:40", "Ferry", (BACKUPS,), reason=WHY, score=0.03),
        items.archive("episode:2026-02-01:09:15", "Backups", (BACKUPS,), reason=WHY, score=0.03),
    ),
}


@pytest.mark.parametrize(("name", "last_first"), itertools.product(PAIRS, (False, True)))
def test_two_items_on_one_file_are_taken_back_alone_in_either_order(
    desk: Desk, name: str, last_first: bool
) -> None:
    one, other = PAIRS[name]
    alone: list[dict[str, bytes]] = []
    desk.propose(one, other)
    desk.tick_all()
    before = desk.memory()
    assert desk.apply().waiting == {}
    for item_id in ("r-012.2", "r-012.1") if last_first else ("r-012.1", "r-012.2"):
        desk.revert(item_id)
        alone.append(desk.memory())
    assert alone[0] != before
    assert alone[1] == before


def test_what_was_added_since_stays_when_an_item_is_taken_back(desk: Desk) -> None:
    desk.propose(*PAIRS["two facts"])
    desk.approve_all()
    with desk.open() as workspace:
        workspace.remember("Robin owns a kayak", store="semantic", entities=["person--robin"])
        workspace.revert("r-012.1")
    text = desk.text(ROBIN)
    assert "kayak" in text
    assert "Robin rows" in text
    assert "Robin sails" not in text


def test_an_entity_that_something_was_said_of_keeps_its_file(desk: Desk) -> None:
    desk.propose(*PAIRS["an entity and what is said of it"])
    desk.approve_all()
    desk.revert("r-012.1")
    assert "It goes at nine" in desk.text(NEW)
    desk.revert("r-012.2")
    assert not (desk.root / NEW).exists()


def test_an_undone_revert_does_not_count(desk: Desk) -> None:
    desk.propose(*PAIRS["an entity and what is said of it"])
    desk.approve_all()
    with desk.open() as workspace:
        workspace.revert("r-012.1")
        workspace.undo()
        workspace.revert("r-012.2")
    assert desk.text(NEW).startswith("# tool--ferry\n")


def test_what_was_changed_again_is_not_taken_back_blindly(desk: Desk) -> None:
    desk.propose(items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY))
    (fact,) = desk.approve_all().ids
    with desk.open() as workspace:
        workspace.edit(fact, "Robin sails every summer")
        with pytest.raises(Stale, match="every summer"):
            workspace.revert("r-012.1")


def test_a_reflection_applied_in_two_goes_is_rolled_back_whole(desk: Desk) -> None:
    desk.propose(*PAIRS["two facts"], items.insight("Insights", "No.", (BACKUPS,), reason=WHY))
    before = desk.memory()
    desk.tick(_1="approved", _3="rejected")
    desk.apply()
    desk.tick(_2="approved")
    desk.apply()
    assert not (desk.root / layout.PENDING_REFLECTION).exists()
    log, rejected = desk.text(layout.REFLECTION_LOG), desk.text(layout.REJECTED)
    desk.rollback()
    assert desk.memory() == before
    assert {item.id: item.decision for item in desk.pending.items} == {
        "r-012.1": "approved",
        "r-012.2": "approved",
        "r-012.3": "rejected",
    }
    assert (desk.text(layout.REFLECTION_LOG), desk.text(layout.REJECTED)) == (log, rejected)


def test_after_a_rollback_the_items_can_be_decided_otherwise(desk: Desk) -> None:
    desk.propose(*PAIRS["two facts"])
    desk.approve_all()
    desk.rollback()
    desk.tick(_1="rejected")
    applied = desk.apply()
    assert (applied.applied, applied.rejected, applied.outcome) == (("r-012.2",), ("r-012.1",), "partial")
    assert "Robin sails" not in desk.text(ROBIN)
    assert desk.text(layout.REFLECTION_LOG).count("## r-012") == 1


def test_a_rollback_leaves_the_proposal_of_another_reflection_alone(desk: Desk) -> None:
    desk.propose(*PAIRS["two facts"])
    desk.tick(_1="approved", _2="deferred")
    desk.apply()
    desk.propose(items.insight("Insights", "Later.", (BACKUPS,), reason=WHY), reflection="r-013")
    later = desk.text(layout.PENDING_REFLECTION)
    desk.rollback()
    assert desk.text(layout.PENDING_REFLECTION) == later
    assert "Robin sails" not in desk.text(ROBIN)


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_archived_and_accessed_since_has_the_score_of_one_never_archived(
    desk: Desk, whole: bool
) -> None:
    ferry = "episode:2026-02-01:18:40"

    def entry() -> ScoreEntry:
        return DecayScores.parse((desk.root / layout.DECAY_SCORES).read_bytes()).entries[ferry]

    with desk.open() as workspace:
        workspace.reinforce(ferry)
        expected = entry()
        workspace.undo()
    archival = items.archive(ferry, "Ferry", (BACKUPS,), reason=WHY, score=0.03)
    desk.propose(archival, *PAIRS["two facts"])
    desk.approve_all()
    with desk.open() as workspace:
        workspace.reinforce(ferry)
        assert (entry().current_score, entry().status) == (0, "archived")
        if whole:
            workspace.rollback(reflection="r-012")
        else:
            workspace.revert("r-012.1")
    assert entry() == expected
    assert expected.current_score > 0


def test_undo_takes_the_application_back_with_its_books(desk: Desk) -> None:
    desk.propose(*many())
    desk.tick_all()
    with desk.open() as workspace:
        workspace.core_add("Persona", "Be kind")
        before = desk.tracked()
        workspace.review_apply()
        workspace.undo(confirmed=True)
    assert desk.tracked() == before


def test_the_facts_of_two_entities_do_not_touch_each_other(desk: Desk) -> None:
    desk.propose(
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
        items.fact("project--harbour", "Harbour is old", (BACKUPS,), reason=WHY),
    )
    harbour = desk.text(HARBOUR)
    desk.approve_all()
    desk.revert("r-012.2")
    assert desk.text(HARBOUR) == harbour
    assert "Robin sails" in desk.text(ROBIN)

"""Items whose target moved on are shown with what stands there now, and not applied; all else stays good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from tests.engine.reflection.review.applying.desk import BACKUPS, BOTH, HARBOUR, ROBIN, WHY, Desk
from tests.engine.reflection.review.applying.test_every_kind import CASES, contradiction
from workbench.engine import Workspace, layout
from workbench.engine.history.work_files import WorkFiles
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import items
from workbench.engine.reflection.items import AS_OF
from workbench.engine.reflection.review.staleness import check, stamp

UTC = ZoneInfo("UTC")
TEA = "entity:person--robin#^tea1"
LANGUAGE = "entity:project--harbour#^lang"
EPISODE = "episode:2026-02-01:18:40"
WRITTEN = "Harbour is written in Rust"
UPPSALA = "core:identity:lives-in-uppsala"

Change = Callable[[Workspace], object]


def wording() -> ReviewItem:
    return items.fact(TEA, "Drinks green tea", (BACKUPS,), reason=WHY, before="Drinks tea in the morning")


def steps() -> ReviewItem:
    before = ["Run the tests", "Tag the commit"]
    return items.procedure(
        "procedure:how-to-release", "How to release", ["Tag"], BOTH, reason=WHY, steps_before=before
    )


MOVED: dict[str, tuple[ReviewItem, Change, str]] = {
    "fact reworded": (wording(), lambda w: w.edit(TEA, "Drinks mate"), "Drinks mate"),
    "fact forgotten": (
        wording(),
        lambda w: w.forget(ids=[TEA], apply=True),
        "Drinks tea in the morning (no longer holds)",
    ),
    "recorded value": (
        items.supersession(TEA, "Drinks tea in the morning", "Drinks coffee", BOTH, reason=WHY),
        lambda w: w.edit(TEA, "Drinks mate"),
        "Drinks mate",
    ),
    "recorded side of a contradiction": (
        contradiction("that", TEA),
        lambda w: w.edit(TEA, "Drinks mate"),
        "Drinks mate",
    ),
    "other recorded side of a contradiction": (
        replace(
            contradiction("that", TEA),
            fields=(
                (items.THIS, "Drinks tea in the morning"),
                (items.THAT, WRITTEN),
                (items.RESOLVE, "that"),
            ),
            evidence=(Evidence(TEA, "Drinks tea in the morning"), Evidence(LANGUAGE, WRITTEN)),
        ),
        lambda w: w.edit(LANGUAGE, "Harbour is written in Go"),
        "Harbour is written in Go",
    ),
    "item of core memory that was asked about": (
        items.question("Is “Name: Robin” still so?", (BACKUPS,), reason=WHY, about="core:identity:name"),
        lambda w: w.core_replace("core:identity:name", "Name: Robert"),
        "Name: Robert",
    ),
    "item of core memory": (
        items.core_change(
            "core:identity:name", "Name: Robin Ek", (BACKUPS,), reason=WHY, before="Name: Robin"
        ),
        lambda w: w.core_replace("core:identity:name", "Name: Robert"),
        "Name: Robert",
    ),
    "item of core memory that was pinned": (
        items.demotion(UPPSALA, "Lives in Uppsala", (BACKUPS,), reason=WHY),
        lambda w: w.pin(UPPSALA),
        "Lives in Uppsala",
    ),
    "steps": (
        steps(),
        lambda w: w.edit_file(
            "memory/procedures/how-to-release.md",
            "# How to release\n\n## Steps\n1. Run the tests\n2. Wait\n",
        ),
        "1. Run the tests\n2. Wait",
    ),
    "archived memory that was pinned": (
        items.archive(EPISODE, "Ferry", (BACKUPS,), reason=WHY, score=0.03),
        lambda w: w.pin(EPISODE),
        "Robin booked the ferry to Gotland. (pinned)",
    ),
    "archived already": (
        items.archive(EPISODE, "Ferry", (BACKUPS,), reason=WHY, score=0.03),
        lambda w: w.forget(ids=[EPISODE], apply=True),
        "",
    ),
    "pinned already": (
        items.vault_pin(EPISODE, "Ferry", (BACKUPS,), reason=WHY),
        lambda w: w.pin(EPISODE),
        "",
    ),
    "source of a promotion that was forgotten": (
        items.promotion(LANGUAGE, "Harbour is written in Rust, mostly", (BACKUPS,), reason=WHY),
        lambda w: w.forget(ids=[LANGUAGE], apply=True),
        "Harbour is written in Rust (archived, retired)",
    ),
    "merged entity that was renamed": (
        items.merge("person--robin", "project--harbour", BOTH, reason=WHY),
        lambda w: w.graph_rename("project--harbour", "Haven"),
        "Robin ([[person--robin]])\nHaven ([[project--harbour]], also Harbour)",
    ),
    "merged already": (
        items.merge("person--robin", "project--harbour", BOTH, reason=WHY),
        lambda w: w.graph_merge("person--robin", "project--harbour"),
        "[[project--harbour]] is part of [[person--robin]].",
    ),
    "fact recorded meanwhile": (
        items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY),
        lambda w: w.remember("Robin sails", store="semantic", entities=["person--robin"]),
        "Robin sails",
    ),
    "relation recorded meanwhile": (
        items.relation("project--harbour", "part-of", "person--robin", BOTH, reason=WHY),
        lambda w: w.graph_link("person--robin", "contains", "project--harbour"),
        "[[person--robin]] contains [[project--harbour]]",
    ),
    "entity made meanwhile": (
        items.entity("tool--ferry", "Ferry", BOTH, reason=WHY),
        lambda w: w.remember("It floats", store="semantic", entities=["tool:Ferry"]),
        "Ferry ([[tool--ferry]])",
    ),
    "said in core memory meanwhile": (
        items.core_change("core:persona", "Name sources", (BACKUPS,), reason=WHY),
        lambda w: w.core_add("Persona", "Name sources."),
        "Name sources.",
    ),
    "new value recorded meanwhile": (
        items.supersession("person--robin", "Robin rows", "Robin sails", BOTH, reason=WHY),
        lambda w: w.remember("Robin sails", store="semantic", entities=["person--robin"]),
        "Robin sails",
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_an_item_whose_target_moved_on_waits_and_shows_what_stands_there(desk: Desk, name: str) -> None:
    item, change, now = MOVED[name]
    (proposed,) = desk.propose(item)
    with desk.open() as workspace:
        change(workspace)
    before = desk.memory()
    desk.tick_all()
    standing = check(proposed, WorkFiles(desk.root), UTC)
    assert (standing.stale, standing.now) == (True, now)
    applied = desk.apply()
    assert (applied.commit, applied.applied) == (None, ())
    assert standing.reason in applied.waiting["r-012.1"]
    assert desk.memory() == before
    assert desk.pending.item("r-012.1") is not None


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_stale_when_it_was_just_proposed(desk: Desk, name: str) -> None:
    (proposed,) = desk.propose(CASES[name].item)
    assert not check(proposed, WorkFiles(desk.root), UTC).stale


@pytest.mark.parametrize(
    "name", [name for name in CASES if CASES[name].path in (ROBIN, HARBOUR, layout.CORE)]
)
def test_other_edits_of_the_same_file_make_nothing_stale(desk: Desk, name: str) -> None:
    (proposed,) = desk.propose(CASES[name].item)
    with desk.open() as workspace:
        workspace.remember("Robin owns a kayak", store="semantic", entities=["person--robin"])
        workspace.remember("Harbour is old", store="semantic", entities=["project--harbour"])
        workspace.core_add("Identity", "Has a dog")
    assert not check(proposed, WorkFiles(desk.root), UTC).stale
    assert desk.approve_all().applied == ("r-012.1",)


def test_words_that_a_person_changed_in_an_item_do_not_make_it_stale(desk: Desk) -> None:
    desk.propose(wording())
    desk.write(layout.PENDING_REFLECTION, desk.pending.reword("r-012.1", "Drinks white tea").render())
    assert desk.approve_all().applied == ("r-012.1",)
    assert "- Drinks white tea (" in desk.text(ROBIN)


def test_an_item_that_was_given_another_target_has_no_past_to_compare(desk: Desk) -> None:
    (proposed,) = desk.propose(wording())
    retargeted = replace(proposed, target=LANGUAGE)
    assert not check(retargeted, WorkFiles(desk.root), UTC).stale


def test_an_item_written_by_hand_is_judged_by_what_it_says_was_there(desk: Desk) -> None:
    (proposed,) = desk.propose(wording())
    by_hand = replace(proposed, fields=())
    view = WorkFiles(desk.root)
    assert not check(by_hand, view, UTC).stale
    assert check(replace(by_hand, before="Drinks mate"), view, UTC).now == "Drinks tea in the morning"


def test_a_second_stamp_takes_the_place_of_the_first(desk: Desk) -> None:
    (proposed,) = desk.propose(wording())
    with desk.open() as workspace:
        workspace.edit(TEA, "Drinks mate")
    again = stamp(proposed, WorkFiles(desk.root), UTC)
    assert [label for label, _ in again.fields].count(AS_OF) == 1
    assert not check(again, WorkFiles(desk.root), UTC).stale


def test_what_only_adds_carries_no_stamp(desk: Desk) -> None:
    (proposed,) = desk.propose(items.fact("person--robin", "Robin sails", (BACKUPS,), reason=WHY))
    assert AS_OF not in dict(proposed.fields)

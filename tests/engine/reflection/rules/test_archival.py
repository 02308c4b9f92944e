"""What faded is proposed for archival unless something recent rests on it or speaks of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.catalog.shelf import ENTITIES, day, entity, episode
from tests.engine.reflection.snapshots import check_quotes, faded, said, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.model import Agenda, Snapshot
from workbench.engine.reflection.rules.archival import MOST_ARCHIVED, propose_archival
from workbench.engine.reflection.rules.survey import survey
from workbench.engine.reflection.work import Work

BUG = "episode:2025-10-01:09:00"
FILES = {
    "memory/episodes/2025-10-01.md": day(
        "2025-10-01",
        episode("09:00", "A CSS bug in the login page of the old portal was found by Marta."),
        episode("10:00", "We decided on SQLite for the index of memories.", kind="decision"),
    )
}


def archived(made: Snapshot) -> list[ReviewItem]:
    """Return what is proposed for archival; every quote must stand in its memory."""
    items = propose_archival(made, survey(made, Work()), Work())
    check_quotes(made, items)
    return list(items)


def test_a_faded_memory_is_proposed_with_its_score_and_own_words(tmp_path: Path) -> None:
    (item,) = archived(snapshot(tmp_path, files=FILES, fading=(faded(BUG, 0.031),)))
    assert (item.kind, item.target) == ("archive", BUG)
    assert item.reason == "Not accessed for 152 days (1 access in all); its score of 0.031 is below 0.05."
    assert ("score", "0.031") in item.fields
    assert item.evidence[0].quote.startswith("A CSS bug")


@pytest.mark.parametrize(
    "entry",
    [
        faded(BUG, 0.05),
        faded(BUG, 0.01, pinned=True),
        faded(BUG, 0.01, store="vault"),
        faded(BUG, 0.01, store="core"),
    ],
)
def test_dormant_pinned_vault_and_core_memories_stay(tmp_path: Path, entry: object) -> None:
    assert archived(snapshot(tmp_path, files=FILES, fading=(entry,))) == []


def test_what_is_archived_already_is_not_proposed_again(tmp_path: Path) -> None:
    entry = faded(BUG, 0.01)
    assert archived(snapshot(tmp_path, files=FILES, fading=(entry,), archived=(entry,))) == []


def test_what_somebody_archived_scores_nothing_and_is_not_proposed(tmp_path: Path) -> None:
    entry = replace(faded(BUG, 0.03), score=0.0, status="archived")
    assert archived(snapshot(tmp_path, files=FILES, fading=(entry,))) == []


def test_decisions_that_nothing_else_says_come_last(tmp_path: Path) -> None:
    fading = (faded("episode:2025-10-01:10:00", 0.01), faded(BUG, 0.04))
    items = archived(snapshot(tmp_path, files=FILES, fading=fading))
    assert [item.target for item in items] == [BUG, "episode:2025-10-01:10:00"]


def test_what_a_recent_fact_rests_on_stays(tmp_path: Path) -> None:
    recent = entity("Portal", facts=(f"The portal is old (since 2026-02-01, from {BUG}) ^f1",))
    long_ago = recent.replace("2026-02-01", "2025-10-01")
    files = {**FILES, f"{ENTITIES}/project--portal.md": recent}
    assert archived(snapshot(tmp_path / "a", files=files, fading=(faded(BUG),))) == []
    files = {**FILES, f"{ENTITIES}/project--portal.md": long_ago}
    (item,) = archived(snapshot(tmp_path / "b", files=files, fading=(faded(BUG),)))
    assert item.reason.endswith("is below 0.05. What it says is kept under Portal.")


def test_an_entity_that_new_passages_name_stays(tmp_path: Path) -> None:
    files = {f"{ENTITIES}/concept--old-keys.md": entity("Old keys", summary="Rotation of keys.")}
    entry = faded("entity:concept--old-keys", store="semantic")
    passage = said("2026-03-01 09:00", "The Old keys are needed again", type="event")
    made = snapshot(tmp_path / "a", (passage,), files=files, fading=(entry,))
    assert archived(made) == []
    assert propose_archival(made, Agenda(()), Work()) == ()
    assert len(archived(snapshot(tmp_path / "b", files=files, fading=(entry,)))) == 1


def test_an_entity_related_to_one_that_new_passages_name_stays(tmp_path: Path) -> None:
    files = {
        f"{ENTITIES}/person--kyle.md": entity("Kyle", relations=("relates-to: [[person--john]] ^r1",)),
        f"{ENTITIES}/person--john.md": entity("John"),
    }
    entry = faded("entity:person--kyle", store="semantic")
    passage = said("2026-03-01 09:00", "John went to the shelter", type="event")
    assert archived(snapshot(tmp_path / "a", (passage,), files=files, fading=(entry,))) == []
    assert len(archived(snapshot(tmp_path / "b", files=files, fading=(entry,)))) == 1


def test_the_lowest_scores_come_first_and_no_more_than_eight(tmp_path: Path) -> None:
    entries = [episode(f"09:{minute:02}", f"Remark number {minute} of the day.") for minute in range(30)]
    files = {"memory/episodes/2025-10-01.md": day("2025-10-01", *entries)}
    fading = tuple(faded(f"episode:2025-10-01:09:{at:02}", 0.04 - at / 1000) for at in range(30))
    items = archived(snapshot(tmp_path, files=files, fading=fading))
    assert len(items) == MOST_ARCHIVED
    assert items[0].target == "episode:2025-10-01:09:29"

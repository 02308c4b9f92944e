"""What is spoken of again comes back, and what must not fade is protected."""

from __future__ import annotations

from pathlib import Path

from tests.engine.catalog.shelf import day, episode
from tests.engine.reflection.snapshots import check_quotes, faded, said, snapshot
from workbench.engine.reflection.rules.keeping import propose_protection, propose_restoring
from workbench.engine.reflection.work import Work

BUG = "episode:2025-10-01:09:00"
FILES = {
    "memory/episodes/2025-10-01.md": day(
        "2025-10-01",
        episode("09:00", "A CSS bug in the login page of the old portal was found by Marta."),
        episode("10:00", "We decided on SQLite for the index of memories.", kind="decision"),
    )
}


def test_an_archived_memory_that_is_spoken_of_comes_back(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 09:00", "Nothing of note", type="event"),
        said(
            "2026-03-01 10:00", "Marta found the CSS bug in the login page of the portal again", type="event"
        ),
    )
    made = snapshot(tmp_path, passages, files=FILES, archived=(faded(BUG),))
    (item,) = propose_restoring(made, Work())
    check_quotes(made, (item,))
    assert (item.kind, item.target) == ("restore", BUG)
    assert [proof.id for proof in item.evidence] == [BUG, passages[1].id]


def test_a_few_common_words_bring_nothing_back(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 10:00", "A new page was found for the bug tracker of the team", type="event"),
    )
    assert propose_restoring(snapshot(tmp_path, passages, files=FILES, archived=(faded(BUG),)), Work()) == ()


def test_never_forget_asks_for_protection(tmp_path: Path) -> None:
    files = {
        "memory/episodes/2026-03-01.md": day(
            "2026-03-01", episode("09:00", "Two things. Never forget the six-hour rule of Harbor!")
        )
    }
    passage = said("2026-03-01 09:00", "Two things. Never forget the six-hour rule of Harbor!", type="fact")
    made = snapshot(tmp_path, (passage,), files=files)
    (item,) = propose_protection(made, Work())
    check_quotes(made, (item,))
    assert (item.kind, item.target, item.confidence) == ("vault pin", passage.id, "high")
    assert item.evidence[0].quote == "Never forget the six-hour rule of Harbor!"


def test_a_decision_that_is_accessed_often_is_foundational(tmp_path: Path) -> None:
    decision = faded("episode:2025-10-01:10:00", 0.9, accesses=6)
    event = faded(BUG, 0.9, accesses=9)
    made = snapshot(tmp_path, files=FILES, often=(event, decision))
    assert [item.target for item in propose_protection(made, Work())] == ["episode:2025-10-01:10:00"]

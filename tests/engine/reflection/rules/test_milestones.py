"""The tenth, 25th, 50th and 100th reflection say what the log holds, in its own figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.rules.books import EVOLUTION, LOG, evolution, log
from tests.engine.reflection.snapshots import check_quotes, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.model import Agenda
from workbench.engine.reflection.rules.looking_back import look_back
from workbench.engine.reflection.work import Work


def milestones(tmp_path: Path, bodies: list[str], kept: str = "") -> list[ReviewItem]:
    """Return what the reflection after these records proposes for the milestones."""
    made = snapshot(tmp_path, files={LOG: log(*bodies), EVOLUTION: kept})
    guidance = look_back(made, Agenda(()), Work())
    check_quotes(made, guidance.items)
    found = [item for item in guidance.items if item.target == "evolution:Milestones"]
    assert bool(guidance.milestone) == bool(found)
    return found


@pytest.mark.parametrize("number", [2, 9, 11, 24, 26, 99, 101])
def test_nothing_is_due_between_milestones(tmp_path: Path, number: int) -> None:
    assert milestones(tmp_path, ["Ningbo paid."] * (number - 1)) == []


def test_the_tenth_counts_what_recurs(tmp_path: Path) -> None:
    bodies = ["The invoices of Ningbo."] * 6 + ["The tests of Harbor."] * 3
    (item,) = milestones(tmp_path, bodies)
    assert item.text.startswith(
        "First evolution summary at reflection 10: 9 reflections from 2024-01-08 to 2024-03-04 (9 approved); "
        "27 of 36 proposed changes were accepted. What recurs: Ningbo (6 of 9)"
    )
    assert "Harbor (3 of 9)" in item.text
    assert any(proof.quote == "The invoices of Ningbo." for proof in item.evidence)


def test_the_tenth_names_revisions_and_open_questions(tmp_path: Path) -> None:
    ask = "- `r-001.2` deferred: question Which grid is fine enough?"
    bodies = ["Ningbo no longer pays late.", ask, ask, *["Ningbo."] * 6]
    (item,) = milestones(tmp_path, bodies)
    assert "Revised on the way: “Ningbo no longer pays late.”" in item.text
    assert "Still open: “Which grid is fine enough?” (asked 2 times)" in item.text


def test_the_25th_parts_threads_that_go_on_from_quiet_ones(tmp_path: Path) -> None:
    kept = evolution(threads=["Money and mornings run short", "The sunlight theme"])
    bodies = ["A sunlight theme for the ferry."] * 12 + ["Money runs short in the mornings."] * 12
    (item,) = milestones(tmp_path, bodies, kept)
    assert "Threads that go on: “Money and mornings run short”" in item.text
    assert "Threads without a word in the last 10: “The sunlight theme”" in item.text


def test_the_50th_says_what_came_and_what_fell_silent(tmp_path: Path) -> None:
    (item,) = milestones(tmp_path, ["Harbor and the pilots."] * 24 + ["Harbor and the waves."] * 25)
    assert "Came in the second half: waves (25 of 25)" in item.text
    assert "Fell silent: pilots (24 of 24)" in item.text
    assert "Stayed throughout: Harbor" in item.text


def test_the_100th_goes_through_the_quarters(tmp_path: Path) -> None:
    bodies = [f"The {name}." for name in ("pilots", "gauges", "ferries") for _ in range(24)] + [
        "The waves."
    ] * 27
    (item,) = milestones(tmp_path, bodies)
    assert "Deep retrospective at reflection 100: 99 reflections" in item.text
    assert "The first quarter (2024-01-08 to 2024-06-17): pilots, 72 of 96 changes accepted" in item.text
    assert "The last quarter" in item.text


def test_an_empty_log_gives_no_milestone(tmp_path: Path) -> None:
    made = snapshot(tmp_path, number=10)
    assert look_back(made, Agenda(()), Work()).items == ()

"""The last lines of a proposal: what a cycle writes there is what is read back, and people's hands are forgiven."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.engine.reflection.snapshots import snapshot
from workbench.engine.markdown.review import PendingReflection, ReviewSection
from workbench.engine.reflection.cycle import Proposal, account_lines
from workbench.engine.reflection.files import Account, read_account
from workbench.engine.reflection.model import Summary, Work
from workbench.engine.results.reviews import Phase

MARK = f"{'a' * 40}, without backlog nothing"


def test_what_a_cycle_writes_is_read_back(tmp_path: Path) -> None:
    work = Work(cap=12_000)
    work.begin(Phase.SURVEY, "a model")
    work.spend(1_234)
    work.fell_back("It was slow.")
    proposal = Proposal((), Summary("", {}), dropped=3, held_back=2, left=(), fresh=0)
    lines = account_lines(
        snapshot(tmp_path, []),
        proposal,
        work,
        entries=1_500,
        left=1_001,
        planned=datetime(2026, 2, 3, 3, tzinfo=UTC),
        mark=MARK,
    )
    file = PendingReflection.create("r-001", "", [ReviewSection("Summary", prose="Nothing.")], lines)

    assert read_account(file.meta) == Account(1_234, 12_000, 3, 2, 1_001, MARK)
    assert ("Thought by", "rules (It was slow.)") in file.meta
    assert ("Next scheduled reflection", "2026-02-03 03:00") in file.meta


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("token budget  USED.", "5 200 of 8,000", Account(spent=5_200, cap=8_000)),
        ("Token budget used", "none", Account()),
        ("dropped:", "three", Account()),
        ("Held back", "9" * 13, Account()),
        ("READ", MARK, Account(mark=MARK)),
    ],
)
def test_other_hands_are_read_as_far_as_they_make_sense(key: str, value: str, expected: Account) -> None:
    assert read_account([(key, value)]) == expected

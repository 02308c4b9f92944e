"""The Inbox over a real workspace: what a key does is in the file, in history, and can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.engine import Workspace
from workbench.engine.clock import FixedClock
from workbench.engine.errors import RoleRefused, Stale
from workbench.engine.reflection.work import Cancelled
from workbench.engine.results.reviews import Progress
from workbench.tui.decisions import Edit, Step
from workbench.tui.workspace_bench import WorkspaceBench

PENDING = "memory/meta/pending-reflection.md"
PROPOSAL = """# Reflection Summary — 2026-02-02

<!-- reflection: r-001 | created: 2026-02-01T08:00:00+00:00 -->

## ⚠️ Contradictions detected
- [ ] `r-001.1` contradiction for [[person--mira]]: When she starts (confidence high)
  - this: Mira starts at seven
  - that: Mira starts at nine
  - resolve: ask
  - because: Both cannot hold.

## 🧠 New knowledge extracted
- [ ] `r-001.2` entity for [[person--mira]]: Mira (confidence high)
  - because: Named often.

## ❓ Questions for you
- [ ] `r-001.3` question: Is the boat sold?
  - answer: …
  - because: Open since January.
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "harbour"
    Workspace.init(root)
    (root / PENDING).parent.mkdir(parents=True, exist_ok=True)
    (root / PENDING).write_text(PROPOSAL, encoding="utf-8")
    clock = FixedClock(datetime(2026, 2, 2, 14, 0, tzinfo=UTC))
    with Workspace.open(root, role="person", clock=clock) as opened:
        yield opened


def text_of(workspace: Workspace) -> str:
    return (workspace.root / PENDING).read_text(encoding="utf-8")


def test_the_proposal_is_read_with_its_age(workspace: Workspace) -> None:
    review = WorkspaceBench(workspace).review()
    assert [item.id for item in review.items] == ["r-001.1", "r-001.2", "r-001.3"]
    assert review.ageing
    assert review.age_hours == pytest.approx(30)


def test_what_waits_is_told_everywhere(workspace: Workspace) -> None:
    bench = WorkspaceBench(workspace)
    assert bench.status().to_decide == 3
    bench.decide(Step({"r-001.2": "approved"}))
    assert bench.status().to_decide == 2


def test_a_decision_is_in_the_file_and_undone_by_one_step(workspace: Workspace) -> None:
    bench = WorkspaceBench(workspace)
    outcome = bench.decide(Step({"r-001.2": "approved", "r-001.1": "deferred"}))
    assert outcome.commit is not None
    assert outcome.summary == ""
    assert "- [x] `r-001.2`" in text_of(workspace)
    assert "- [>] `r-001.1`" in text_of(workspace)
    bench.undo()
    assert text_of(workspace) == PROPOSAL


def test_a_contradiction_is_settled_and_undone_in_one_step(workspace: Workspace) -> None:
    bench = WorkspaceBench(workspace)
    bench.decide(Step({"r-001.1": "approved"}, Edit("r-001.1", fields={"resolve": "that"})))
    item = bench.review().items[0]
    assert item.decision == "approved"
    assert (item.fields or {})["resolve"] == "that"
    bench.undo()
    assert text_of(workspace) == PROPOSAL


def test_an_answer_is_written_and_applied(workspace: Workspace) -> None:
    bench = WorkspaceBench(workspace)
    bench.decide(Step({"r-001.3": "approved"}, Edit("r-001.3", fields={"answer": "Yes, in March"})))
    preview = bench.review_preview()
    assert preview.applied == ("r-001.3",)
    assert any("Yes, in March" in (file.after or "") for file in preview.files)
    applied = bench.review_apply()
    assert applied.applied == ("r-001.3",)
    assert applied.commit is not None
    assert "r-001.3" not in text_of(workspace)
    bench.undo(sure=True)
    assert "- [x] `r-001.3`" in text_of(workspace)


def test_the_file_is_edited_whole_and_never_over_a_change_from_elsewhere(workspace: Workspace) -> None:
    bench = WorkspaceBench(workspace)
    source = bench.review_source()
    assert source == PROPOSAL
    bench.set_review_source(source.replace("- [ ] `r-001.2`", "- [x] `r-001.2`"), source)
    assert bench.review().items[1].decision == "approved"
    with pytest.raises(Stale):
        bench.set_review_source(source, source)


def test_without_a_proposal_there_is_nothing_and_a_reason_when_one_is_due(workspace: Workspace) -> None:
    (workspace.root / PENDING).unlink()
    bench = WorkspaceBench(workspace)
    assert bench.review_source() == ""
    assert bench.review().items == ()
    assert bench.status().to_decide == 0
    assert bench.reflection_due().reason


def test_only_a_person_decides(tmp_path: Path) -> None:
    root = tmp_path / "harbour"
    Workspace.init(root)
    (root / PENDING).parent.mkdir(parents=True, exist_ok=True)
    (root / PENDING).write_text(PROPOSAL, encoding="utf-8")
    with Workspace.open(root, role="main") as opened:
        bench = WorkspaceBench(opened)
        assert bench.review().items
        with pytest.raises(RoleRefused):
            bench.decide(Step({"r-001.2": "approved"}))
        with pytest.raises(RoleRefused):
            bench.review_apply()
    assert "[x]" not in (root / PENDING).read_text(encoding="utf-8")


def test_a_cycle_tells_its_phases_and_can_be_called_off(workspace: Workspace) -> None:
    (workspace.root / PENDING).unlink()
    workspace.remember("We decided to count station 7 on Mondays")
    bench = WorkspaceBench(workspace)
    seen: list[Progress] = []
    with pytest.raises(Cancelled):
        bench.reflect(seen.append, lambda: bool(seen))
    assert bench.review().items == ()
    bench.reflect(seen.append, lambda: False)
    assert len({str(progress.phase) for progress in seen}) == 5

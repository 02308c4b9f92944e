"""Broken files, and what stands in a file’s place, hide nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.engine.services.agent_home import BROKEN, AgentHome, failure
from tests.engine.services.callings import ACTIONS
from workbench.engine import layout
from workbench.engine.errors import DocumentError

UNPREPARED = [calling for calling in ACTIONS if calling.prepare is None]


@pytest.mark.parametrize("path", [layout.PENDING_REFLECTION, layout.REFLECTION_LOG, layout.PENDING_MEMORIES])
def test_a_link_in_the_place_of_a_book_hides_nothing_else(
    settled: AgentHome, tmp_path: Path, path: str
) -> None:
    (tmp_path / "elsewhere.md").write_text("- [x] `r-001.1` insight for `evolution:Insights`: More tea\n")
    (settled.root / path).parent.mkdir(parents=True, exist_ok=True)
    (settled.root / path).unlink(missing_ok=True)
    (settled.root / path).symlink_to(tmp_path / "elsewhere.md")
    with settled.open("person") as workspace:
        brief = workspace.brief()
        told = [check.detail for check in workspace.doctor().checks if path in check.detail]
    assert "penicillin" in brief.core
    assert any(path in notice for notice in brief.notices)
    assert len(told) == 1


def test_broken_files_stop_no_change_of_the_others(settled: AgentHome) -> None:
    for path, content in BROKEN.items():
        settled.write(path, content)
    broken = {path: content for path, content in settled.tracked().items() if path in BROKEN}
    for calling in UNPREPARED:
        with settled.open() as workspace:
            error = failure(partial(calling.call, workspace))
            if error is None:
                failure(workspace.undo)
            else:
                # What would have to be written into the broken file names it.
                assert any(path in str(error) for path in BROKEN), (calling.name, error)
    assert {path: settled.tracked()[path] for path in broken} == broken
    with settled.open() as workspace:
        assert workspace.audit_verify().problems == ()


def test_a_broken_scores_file_is_named_by_each_change_and_left_alone(settled: AgentHome) -> None:
    """What changed no score needs no score, on the day the file breaks and on the next."""
    broken = BROKEN[layout.DECAY_SCORES]
    with settled.open() as workspace:
        known = workspace.remember("The spare key is under the blue pot.", store="episodic").id
    with settled.open() as workspace:
        workspace.show(known)
    settled.write(layout.DECAY_SCORES, broken)
    for _ in range(2):
        settled.clock.advance(days=1)
        with settled.open() as workspace:
            remembered = workspace.remember(
                f"Watered the ferns on {settled.clock.now():%A}.", store="episodic"
            )
            assert remembered.commit is not None
            (told,) = [warning for warning in remembered.warnings if layout.DECAY_SCORES in warning]
            assert "Repair the file" in told
            with pytest.raises(DocumentError):
                workspace.pin(known)
            assert any(layout.DECAY_SCORES in check.detail for check in workspace.doctor().checks)
    assert settled.tracked()[layout.DECAY_SCORES] == broken
    settled.write(layout.DECAY_SCORES, b"")
    settled.clock.advance(days=1)
    with settled.open() as workspace:
        remembered = workspace.remember("The ferns are fine.", store="episodic")
        assert not any(layout.DECAY_SCORES in warning for warning in remembered.warnings)

"""Another rate of decay is made the workspace's own: one commit, undone like any other, in force at once."""

from __future__ import annotations

import math
import tomllib

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE
from workbench.engine import Workspace, layout
from workbench.engine.errors import InvalidSetting, RoleRefused
from workbench.engine.settings.sections import DecaySettings

USUAL = DecaySettings().lambda_
WRITTEN = (
    '# Ours.\ntimezone = "Europe/Stockholm"\n\n[decay]\n'
    "# Slow.\nlambda = 0.01  # a day\nactive_threshold = 0.6\n\n[core]\ncap = 2000\n"
)
CHUNKS = "[search]\nchunk_tokens = 600\n"


def rate(workspace: Workspace) -> float:
    return workspace.decay().lambda_


def score(workspace: Workspace) -> float:
    (entry,) = (entry for entry in workspace.decay().entries if entry.id == EPISODE)
    shown = workspace.show(EPISODE, count_access=False).score
    assert shown is not None
    assert shown.value == entry.score
    return entry.score


def test_one_commit_changes_one_line_of_the_settings(settled: AgentHome) -> None:
    settled.write(layout.SETTINGS, WRITTEN)
    with settled.open() as workspace:
        workspace.adopt()
        commits = settled.commits()
        settled.clock.advance(days=9)
        before = score(workspace)
        changed = workspace.decay_keep(0.2)
        assert settled.text(layout.SETTINGS) == WRITTEN.replace("0.01", "0.2")
        assert (changed.files, changed.warnings) == ((layout.SETTINGS,), ())
        # The change, the alert that a change of settings always raises, and its acknowledgement.
        assert len(settled.commits()) == len(commits) + 3
        assert rate(workspace) == workspace.settings.decay.lambda_ == 0.2
        assert workspace.decay().active_threshold == 0.6
        assert score(workspace) < before
        # What one did oneself just now, one need not be told.
        assert changed.commit not in [alert.commit for alert in workspace.alerts_waiting()]
    seen = settled.commit_of(changed.commit)
    assert (seen.actor, seen.approval) == ("manual", "—")


def test_undo_and_redo_hold_in_the_same_open_workspace(settled: AgentHome) -> None:
    settled.clock.advance(days=9)
    with settled.open() as workspace:
        before = score(workspace)
        workspace.decay_keep(0.4)
        workspace.decay_keep(0.5)
        rates = [rate(workspace)]
        for step in (workspace.undo, workspace.undo, workspace.redo):
            step()
            rates.append(rate(workspace))
        assert rates == [0.5, 0.4, USUAL, 0.4]
        workspace.undo()
        assert score(workspace) == before


def test_the_file_is_made_where_there_is_none(furnished: AgentHome) -> None:
    with furnished.open() as workspace:
        workspace.decay_keep(0.05)
        assert tomllib.loads(furnished.text(layout.SETTINGS)) == {"decay": {"lambda": 0.05}}
        assert rate(workspace) == 0.05


def test_the_rate_in_force_is_kept_without_a_commit(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.decay_keep(0.05)
        commits = settled.commits()
        assert workspace.decay_keep(0.05).commit is None
        assert settled.commits() == commits


@pytest.mark.parametrize("lambda_", [-0.1, math.nan, math.inf, 11.0])
def test_what_is_no_rate_changes_nothing(settled: AgentHome, lambda_: float) -> None:
    with settled.open() as workspace:
        commits = settled.commits()
        with pytest.raises(InvalidSetting):
            workspace.decay_keep(lambda_)
        assert settled.commits() == commits
        assert rate(workspace) == USUAL


@pytest.mark.parametrize("role", ["main", "agent:scout", "reader"])
def test_only_a_person_may(settled: AgentHome, role: str) -> None:
    with settled.open(role) as workspace, pytest.raises(RoleRefused):
        workspace.decay_keep(0.05)


def test_settings_that_are_broken_are_not_written_over(settled: AgentHome) -> None:
    with settled.open() as workspace:
        settled.write(layout.SETTINGS, "[decay\n")
        with pytest.raises(InvalidSetting):
            workspace.decay_keep(0.05)
        assert settled.text(layout.SETTINGS) == "[decay\n"
        assert rate(workspace) == USUAL


def test_who_else_sets_the_rate_is_named(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DECAY_LAMBDA", "0.07")
    with settled.open() as workspace:
        (warning,) = workspace.decay_keep(0.05).warnings
        assert "0.05" in warning
        assert "0.07" in warning
        assert "WORKBENCH_DECAY_LAMBDA" in warning
        assert rate(workspace) == 0.07


def test_an_open_workspace_follows_what_is_written_from_outside(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        settled.write(
            layout.SETTINGS, "[decay]\nlambda = 0.3\nactive_threshold = 0.9\n[core]\ncap = 1234\n" + CHUNKS
        )
        view = workspace.decay()
        assert (view.lambda_, view.active_threshold) == (0.3, 0.9)
        assert workspace.core().cap == 1234
        # What the index was made with holds as it did at opening.
        assert workspace.settings.search.chunk_tokens == 400
        for broken in ("[decay]\nlambda = -1\n", "lambda", "[decay]\nlamda = 1\n"):
            settled.write(layout.SETTINGS, broken)
            assert rate(workspace) == 0.3
        (settled.root / layout.SETTINGS).unlink()
        assert rate(workspace) == USUAL

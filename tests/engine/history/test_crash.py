"""Real writers, killed at random instants or all at once: what was acknowledged is there, nothing half is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.history.crash_writers import SHARED, open_history, own_file
from workbench.engine.history.commits import parse_message
from workbench.engine.history.history import History
from workbench.engine.history.projections import audit_lines
from workbench.engine.markdown.audit_log import parse_audit_line

SCRIPT = Path(__file__).with_name("crash_writers.py")


def run(mode: str, folder: Path, count: int, tokens: int = 0) -> tuple[History, list[str]]:
    """Run writers; return the history they left and what they acknowledged.

    Args:
        mode: `kill` or `race`.
        folder: An empty one.
        count: How many kills there are, or how many writers.
        tokens: Of each writer in a race.
    """
    root, state = folder / "workspace", folder / "state"
    root.mkdir()
    command = [sys.executable, str(SCRIPT), mode, str(root), str(state), str(count), str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=380)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    acknowledged: list[str] = json.loads(done.stdout)
    return open_history(root, state), acknowledged


def assert_whole(history: History, acknowledged: list[str], slots: int) -> None:
    """Files, commits and log tell the same story, and all that was acknowledged is in it."""
    commits = list(history.store.walk())[::-1]
    told = [parse_message(commit).summary for commit in commits]
    shared = (history.now().read(SHARED) or b"").decode().split()
    assert shared == told
    assert len(set(shared)) == len(shared)
    assert set(acknowledged) <= set(shared)
    for slot in range(slots):
        own = (history.now().read(own_file(slot)) or b"").decode().split()
        assert own == [token for token in shared if token.startswith(f"{slot}.")]
    log = (history.root / "memory/meta/audit.log").read_text(encoding="utf-8").splitlines()
    assert [parse_audit_line(line) for line in log] == [
        line for commit in commits for line in audit_lines(commit)
    ]
    # Walked rather than listed: the history may be repacked at this moment, which takes folders away.
    assert not [name for _, _, names in os.walk(history.root) for name in names if name.endswith(".tmp")]
    git = ["git", f"--git-dir={history.path}", "fsck", "--strict", "--no-dangling"]
    assert subprocess.run(git, check=True, capture_output=True).stdout == b""
    assert history.alerts() == ()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("kills", [40, pytest.param(298, marks=pytest.mark.campaign)])
def test_kills_lose_nothing_and_leave_nothing_half(tmp_path: Path, kills: int) -> None:
    history, acknowledged = run("kill", tmp_path, kills)
    assert history.adopt().commits == ()
    # Each is killed after its first word; the last two may be before it.
    assert len(acknowledged) >= kills
    assert_whole(history, acknowledged, 2)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("tokens", [20, pytest.param(50, marks=pytest.mark.campaign)])
def test_eight_processes_lose_no_commit(tmp_path: Path, tokens: int) -> None:
    history, acknowledged = run("race", tmp_path, 8, tokens)
    assert len(acknowledged) == 8 * tokens
    assert len(list(history.store.walk())) == 8 * tokens
    assert_whole(history, acknowledged, 8)

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


def run(mode: str, folder: Path, count: int) -> tuple[History, list[str]]:
    """Run writers; return the history they left and what they acknowledged."""
    root, state = folder / "workspace", folder / "state"
    root.mkdir()
    command = [sys.executable, str(SCRIPT), mode, str(root), str(state), str(count)]
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
def test_three_hundred_kills_lose_nothing_and_leave_nothing_half(tmp_path: Path) -> None:
    history, acknowledged = run("kill", tmp_path, 298)
    assert history.adopt().commits == ()
    assert len(acknowledged) >= 300
    assert_whole(history, acknowledged, 2)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_eight_processes_make_four_hundred_commits(tmp_path: Path) -> None:
    history, acknowledged = run("race", tmp_path, 8)
    assert len(acknowledged) == 400
    assert len(list(history.store.walk())) == 400
    assert_whole(history, acknowledged, 8)

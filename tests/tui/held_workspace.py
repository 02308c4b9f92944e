"""The real workspace of the tests with four secrets held back: two that agents asked to store, two in files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.isolation import isolate
from tests.tui.seen_workspace import NAME, NOW, SETTINGS, open_seen
from workbench.engine import FixedClock, Workspace

TOKEN = "ghp_" + "a1B2" * 9
PASSWORD = "gull-and-tern-7"
ANTHROPIC = "sk-ant-api03-" + "x1Y" * 12
AWS = "AKIAIOSFODNN7EXAMPLE"
PROPOSED, ASKED, IN_TOOLS, IN_NOTES = 1, 2, 3, 4
NOTES = "memory/notes.md"


@pytest.fixture
def held(
    seen_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen_clock: FixedClock
) -> Iterator[Workspace]:
    """A workspace opened by a person as the bench opens it."""
    isolate(tmp_path, monkeypatch, settings=SETTINGS)
    folder = tmp_path / NAME
    shutil.copytree(seen_template, folder)
    with open_seen(folder, FixedClock(NOW), "agent:researcher") as door:
        door.propose(f"The archive takes the token {TOKEN} for uploads", store="semantic")
        door.propose("The harbour office opens at eight", store="semantic")
    with open_seen(folder, FixedClock(NOW), "main") as door:
        door.remember(f"The password of the guest Wi-Fi is {PASSWORD}", store="vault")
    with open_seen(folder, seen_clock) as workspace:
        (folder / NOTES).write_text("# Notes\n")
        workspace.adopt()
        (folder / NOTES).write_text(f"# Notes\n\nThe tide feed wants {ANTHROPIC} in its header.\n")
        (folder / "TOOLS.md").write_text(f"# Tools\n\n- deploy key: {AWS}\n")
        workspace.adopt()
        yield workspace

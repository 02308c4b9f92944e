"""The bench starts light: the engine's heavy parts are only imported when a workspace is opened."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "pygit2",
    "apsw",
    "openai",
    "watchdog",
    "markdown_it",
    "workbench.engine.services",
    "workbench.engine.workspace",
    "textual.widgets._markdown",
)


def test_the_app_imports_nothing_heavy() -> None:
    code = f"import sys, workbench.tui.frame.app; print([name for name in {HEAVY!r} if name in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"

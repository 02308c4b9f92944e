"""What agents propose looks as it was drawn, over a real workspace."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import textual

from tests.tui.proposed_workspace import asked, asked_template
from tests.tui.seen_screen import reaching
from tests.tui.test_snapshots import BASELINE
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine import Workspace

__all__ = ["asked", "asked_template"]

pytestmark = pytest.mark.skipif(
    textual.__version__ != BASELINE or "NO_COLOR" in os.environ,
    reason=f"the pictures were drawn with Textual {BASELINE}, in colour",
)

SCREENS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "list-80-dark": ((80, 24), DARK, ()),
    "one-120-light": ((120, 40), LIGHT, ()),
    "beside-160-dark": ((160, 48), DARK, ("j", "j")),
    "against-memory-80-light": ((80, 24), LIGHT, ("j", "enter")),
    "agent-110-dark": ((110, 32), DARK, ("k",)),
    "rewording-120-light": ((120, 30), LIGHT, ("e",)),
    "refusing-80-dark": ((80, 24), DARK, ("r",)),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(asked: Workspace, snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]
    bench = WorkspaceBench(asked)
    assert snap_compare(
        BenchApp(bench, theme=theme), terminal_size=size, run_before=reaching(bench, "5", *keys)
    )

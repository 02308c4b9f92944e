"""What was held back as a secret looks as it was drawn, over a real workspace."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import textual

from tests.tui.held_workspace import held
from tests.tui.seen_screen import reaching
from tests.tui.test_snapshots import BASELINE
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine import Workspace

__all__ = ["held"]

pytestmark = pytest.mark.skipif(
    textual.__version__ != BASELINE or "NO_COLOR" in os.environ,
    reason=f"the pictures were drawn with Textual {BASELINE}, in colour",
)

SCREENS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "list-80-dark": ((80, 24), DARK, ()),
    "file-120-light": ((120, 40), LIGHT, ("j", "j")),
    "shown-80-light": ((80, 24), LIGHT, ("enter", "x")),
    "heading-120-dark": ((120, 30), DARK, ("k",)),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(held: Workspace, snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]
    bench = WorkspaceBench(held)
    assert snap_compare(
        BenchApp(bench, theme=theme), terminal_size=size, run_before=reaching(bench, "5", *keys)
    )

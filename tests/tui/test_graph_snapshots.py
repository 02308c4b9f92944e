"""The graph browser looks as it was drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.graph_hands import press
from tests.tui.stillness import settle
from tests.tui.test_snapshots import pytestmark as pytestmark
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from workbench.engine import Workspace

SCREENS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "table-80-dark": ((80, 24), DARK, ("down",)),
    "table-120-light": ((120, 40), LIGHT, ("s", "slash", "=type:person")),
    "drawing-80-light": ((80, 24), LIGHT, ("enter", "right")),
    "drawing-120-dark": ((120, 40), DARK, ("down", "enter", "right")),
    "drawing-200-light": ((200, 50), LIGHT, ("enter", "plus")),
    "reading-80-dark": ((80, 24), DARK, ("enter", "tab", "down")),
    "path-120-dark": ((120, 40), DARK, ("slash", "=duarte", "enter", "enter", "c", "=barr", "enter")),
    "merge-120-light": ((120, 40), LIGHT, ("m", "=ines", "enter")),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(seen: Workspace, snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        await press(pilot, "6", *keys)

    assert snap_compare(BenchApp(WorkspaceBench(seen), theme=theme), terminal_size=size, run_before=reach)

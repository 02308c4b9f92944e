"""The heatmap looks as it was drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

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
    "map-80-dark": ((80, 24), DARK, ("down", "right", "right")),
    "map-120-light": ((120, 40), LIGHT, ("down", "right", "right")),
    "groups-120-dark": ((120, 40), DARK, ("b", "minus")),
    "fading-80-light": ((80, 24), LIGHT, ("w", "space")),
    "trial-120-dark": ((120, 40), DARK, ("full_stop", "full_stop", "c")),
    "trial-80-light": ((80, 24), LIGHT, ("full_stop", "full_stop")),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(seen: Workspace, snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        for key in ("7", *keys):
            await pilot.press(key)
            await settle(pilot)

    assert snap_compare(BenchApp(WorkspaceBench(seen), theme=theme), terminal_size=size, run_before=reach)

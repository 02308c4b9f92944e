"""Imports and exports look as they were drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from tests.tui.test_snapshots import pytestmark as pytestmark
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

SCREENS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "places-80-dark": ((80, 24), DARK, ("I",)),
    "preview-120-light": ((120, 40), LIGHT, ("I", "enter")),
    "report-80-light": ((80, 24), LIGHT, ("I", "enter", "w")),
    "export-120-dark": ((120, 40), DARK, ("O", "tab")),
    "nothing-yet-120-dark": ((120, 40), DARK, ("2",)),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]

    async def reach(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, BenchApp)
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
            while app.import_work is not None and app.import_work.running:
                await asyncio.sleep(0.002)
            await settle(pilot)

    bench = FakeBench.empty() if name.startswith("nothing") else FakeBench.filled()
    assert snap_compare(BenchApp(bench, theme=theme), terminal_size=size, run_before=reach)

"""The time machine looks as it was drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.past_hands import pane
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
    "now-120-dark": ((120, 40), DARK, ()),
    "changes-120-dark": ((120, 40), DARK, ("less_than_sign",) * 8),
    "changes-80-light": ((80, 24), LIGHT, ("less_than_sign",) * 8),
    "core-80-dark": ((80, 24), DARK, (*("less_than_sign",) * 8, "t")),
    "graph-120-light": ((120, 40), LIGHT, (*("less_than_sign",) * 8, "t", "t")),
    "marked-120-light": (
        (120, 40),
        LIGHT,
        (*("less_than_sign",) * 9, "equals_sign", *("greater_than_sign",) * 6),
    ),
    "going-back-80-dark": ((80, 24), DARK, (*("less_than_sign",) * 8, "R")),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(seen: Workspace, snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]

    bench = WorkspaceBench(seen)

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        # What the bench does behind the panes is over, so that the bottom line says nothing of it.
        while (status := bench.status()).index or status.reading:
            await settle(pilot)
        for key in ("8", *keys):
            await pilot.press(key)
            await settle(pilot)
        app = pilot.app
        assert isinstance(app, BenchApp)
        app.read_status()
        await settle(pilot)
        # A detail that has just got a scroll bar takes its width into account when it is drawn again.
        pane(pilot).show_detail(pane(pilot).list.cursor_key)
        await settle(pilot)

    assert snap_compare(BenchApp(bench, theme=theme), terminal_size=size, run_before=reach)

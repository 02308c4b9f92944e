"""The Sessions pane looks as it was drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.seen_workspace import NOW
from tests.tui.sessions_hands import press, tell
from tests.tui.stillness import settle
from tests.tui.test_snapshots import pytestmark as pytestmark
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from workbench.engine import FixedClock, Workspace

SCREENS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "newest-120-dark": ((120, 40), DARK, ("enter",)),
    "beginning-120-light": ((120, 40), LIGHT, ("enter", "home", "j")),
    "list-80-dark": ((80, 24), DARK, ()),
    "reading-80-light": ((80, 24), LIGHT, ("enter",)),
    "foreign-200-dark": ((200, 50), DARK, ("end",)),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(
    seen: Workspace,
    seen_clock: FixedClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    snap_compare: Callable[..., bool],
    name: str,
) -> None:
    size, theme, keys = SCREENS[name]
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    tell(seen, seen_clock, home, NOW)
    seen.session_flush("agent:main:main", now=True)
    bench = WorkspaceBench(seen)

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        while (status := bench.status()).index or status.reading:
            await settle(pilot)
        await press(pilot, "9", *keys)
        app = pilot.app
        assert isinstance(app, BenchApp)
        app.read_status()
        await settle(pilot)

    assert snap_compare(BenchApp(bench, theme=theme), terminal_size=size, run_before=reach)

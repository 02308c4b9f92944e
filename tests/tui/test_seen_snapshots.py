"""A memory in full looks as it was drawn, over a real workspace."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import textual
from textual.pilot import Pilot

from tests.tui.seen_screen import press, show
from tests.tui.seen_workspace import BELIEVED, FERRY, MEI
from tests.tui.stillness import settle
from tests.tui.test_snapshots import BASELINE
from workbench.engine import Workspace
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(
    textual.__version__ != BASELINE or "NO_COLOR" in os.environ,
    reason=f"the pictures were drawn with Textual {BASELINE}, in colour",
)

SCREENS: dict[str, tuple[tuple[int, int], str, str, tuple[str, ...]]] = {
    "entity-120-dark": ((120, 40), DARK, FERRY, ("tab",)),
    "fact-80-light": ((80, 24), LIGHT, BELIEVED, ()),
    "rewording-120-light": ((120, 36), LIGHT, BELIEVED, ("e",)),
    "entity-as-its-file-80-dark": ((80, 24), DARK, MEI, ("e",)),
}


@pytest.mark.parametrize("name", SCREENS)
def test_memory(seen: Workspace, snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, memory_id, keys = SCREENS[name]

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        await show(pilot, memory_id)
        await press(pilot, *keys)
        await settle(pilot)

    assert snap_compare(BenchApp(WorkspaceBench(seen), theme=theme), terminal_size=size, run_before=reach)

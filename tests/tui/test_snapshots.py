"""The screens look as they were drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import textual
from textual.pilot import Pilot

from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

BASELINE = "8.2.8"
pytestmark = pytest.mark.skipif(
    textual.__version__ != BASELINE or "NO_COLOR" in os.environ,
    reason=f"the pictures were drawn with Textual {BASELINE}, in colour",
)

SCREENS: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "core-80-dark": ((80, 24), DARK, ("down",)),
    "timeline-80-light": ((80, 24), LIGHT, ("2", "down")),
    "audit-160-dark": ((160, 48), DARK, ("3",)),
    "editing-160-dark": ((160, 48), DARK, ("down", "e", "!")),
    "filtered-96-light": ((96, 36), LIGHT, ("2", "slash", *"tag:ti")),
    "search-80-light": ((80, 24), LIGHT, ("4", *"tide", "enter", "down")),
    "search-160-dark": ((160, 48), DARK, ("4", *"station", "enter")),
    "explained-120-dark": ((120, 36), DARK, ("4", *"tide", "enter", "x")),
    "inbox-160-dark": ((160, 48), DARK, ("5", "j", "j", "a")),
    "inbox-80-light": ((80, 24), LIGHT, ("5", "enter")),
    "answering-100-dark": ((100, 40), DARK, ("5", "end", "e", *"Yes")),
    "applying-120-light": ((120, 36), LIGHT, ("5", "A")),
    "index-120-light": ((120, 36), LIGHT, ("i",)),
    "help-120-dark": ((120, 36), DARK, ("question_mark", *"pin")),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Callable[..., bool], name: str) -> None:
    size, theme, keys = SCREENS[name]

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            if key in "12345A" or key == "enter":
                await settle(pilot)
        await settle(pilot)
        await settle(pilot)

    assert snap_compare(BenchApp(FakeBench.filled(), theme=theme), terminal_size=size, run_before=reach)

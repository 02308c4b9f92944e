"""The Past pane where history is rewritten, and any pane where keys come at random, below what is looked at."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.past_hands import detail, listed, open_past, pane
from tests.tui.seen_screen import screen_text
from tests.tui.seen_workspace import ALONE, looking, open_seen
from tests.tui.stillness import settle
from tests.tui.test_hostile import clean
from workbench.engine import FixedClock, Workspace

_KEYS = (
    *"abcdefghijklmnopqrstuvwxyzBCDGKLMNRTUVXY678", "slash", "plus", "minus", "equals_sign", "full_stop", "up", "down",
    "left", "right", "home", "end", "pageup", "pagedown", "enter", "escape", "tab", "space", "backspace", "ctrl+p",
)  # fmt: skip
_SIZES = ((120, 40), (20, 5), (300, 100), (80, 24))


async def test_a_memory_that_is_purged_while_it_is_looked_at_is_nowhere_left(
    seen: Workspace, seen_folder: Path, seen_clock: FixedClock
) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        pane(pilot).go_to(f"{ALONE}@{seen.history_line().commits[-3]}")
        await settle(pilot)
        assert "too far out" in detail(pilot)
        before = pane(pilot).commit
        with open_seen(seen_folder, seen_clock) as other:
            other.forget(ids=[ALONE], apply=True, hard=True, purge_history=True)
        pane(pilot).reload()
        await settle(pilot)
        assert pane(pilot).commit != before
        for key in ("left", "right", "home", "end", "t", "t", "enter", "escape"):
            await pilot.press(key)
            await settle(pilot)
            assert "too far out" not in screen_text(pilot) + listed(pilot) + detail(pilot)


async def test_a_workspace_that_is_deleted_below_the_bench_ends_nothing(
    seen: Workspace, seen_folder: Path
) -> None:
    async with looking(seen) as pilot:
        for key in "678":
            await pilot.press(key)
            await settle(pilot)
        shutil.rmtree(seen_folder)
        for key in ("left", "t", "enter", "7", "down", "enter", "p", "6", "down", "enter", "f", "1", "u"):
            await pilot.press(key)
            await settle(pilot)
            clean(pilot)


@pytest.mark.parametrize(("key", "seed"), [("6", 1), ("7", 2), ("8", 3)])
async def test_no_row_of_keys_ends_the_bench(seen: Workspace, key: str, seed: int) -> None:
    chance = random.Random(seed)
    async with looking(seen) as pilot:
        await pilot.press(key)
        for at in range(60):
            if at % 20 == 19:
                await pilot.resize_terminal(*chance.choice(_SIZES))
                await back_to(pilot, key)
            await pilot.press(chance.choice(_KEYS))
        await settle(pilot)
        clean(pilot)


async def back_to(pilot: Pilot[None], key: str) -> None:
    await settle(pilot)
    clean(pilot)
    await pilot.press("escape", "escape", "escape", key)

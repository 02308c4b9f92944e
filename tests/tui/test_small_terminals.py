"""On a terminal of a few rows, what lies over the panes can still be read, moved and answered."""

from __future__ import annotations

from textwrap import wrap

import pytest
from textual.widgets import Static

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.widgets.virtual_list import VirtualList

SIZES = [(40, 10), (20, 5), (80, 24), (300, 80)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", ["question_mark", "ctrl+p"])
async def test_the_row_one_is_at_can_be_seen(
    bench: FakeBench, running: Running, size: tuple[int, int], key: str
) -> None:
    async with running(bench, size) as pilot:
        await pilot.press(key)
        await settle(pilot)
        rows = pilot.app.screen.query_one(VirtualList)
        for step in ("down", "down", "pagedown", "pagedown", "up"):
            await pilot.press(step)
            await settle(pilot)
            assert rows.region.height >= 2
            assert rows.region.bottom <= size[1]
            at = rows.cursor - round(rows.scroll_y)
            assert 0 <= at < rows.region.height
            assert "▌" in rows.render_line(at).text


@pytest.mark.parametrize("size", SIZES)
async def test_the_help_of_every_key_can_be_read(
    bench: FakeBench, running: Running, size: tuple[int, int]
) -> None:
    async with running(bench, size) as pilot:
        await pilot.press("question_mark")
        await settle(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, HelpScreen)
        told = screen.query_one("#help-text", Static)
        assert told.region.height >= 2
        assert told.region.bottom <= size[1]
        for words in ("approve", "reject", "reflect"):
            await pilot.press("ctrl+a", "ctrl+k", *words)
            await settle(pilot)
            if size[1] >= 10:
                needed = len(wrap(str(told.render()), told.content_size.width))
                assert needed <= told.content_size.height


@pytest.mark.parametrize("size", SIZES)
async def test_a_question_shows_its_answers(
    bench: FakeBench, running: Running, size: tuple[int, int]
) -> None:
    async with running(bench, size) as pilot:
        pilot.app.push_screen(ConfirmScreen("Take it all back?", "It is long. " * 30, "Take back", "R"))
        await settle(pilot)
        keys = pilot.app.screen.query_one(".dialog-keys", Static)
        assert "cancel" in str(keys.render())
        assert keys.region.height >= 1
        assert keys.region.bottom <= size[1]

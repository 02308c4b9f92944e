"""The line in which one types what to show: opened again, what is typed replaces what it said."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.tui.app import BenchApp
from workbench.tui.panes import PANES


@pytest.mark.parametrize("at", range(len(PANES)), ids=[title for _, title, _ in PANES])
async def test_what_is_typed_into_a_line_opened_again_replaces_its_text(
    bench: FakeBench, running: Running, at: int
) -> None:
    async with running(bench, (150, 40)) as pilot:
        app = pilot.app
        assert isinstance(app, BenchApp)
        await pilot.press(str(at + 1))
        await settle(pilot)
        if not app.pane.is_writing:
            await pilot.press("/")
        await pilot.press(*"tide", "enter")
        await settle(pilot)
        assert app.pane.filter_bar.text == "tide"
        await pilot.press("/")
        await settle(pilot)
        assert app.pane.filter_bar.text == "tide"
        await pilot.press(*"bu")
        await settle(pilot)
        assert app.pane.filter_bar.text == "bu"
        await pilot.press("enter", "/", "end", *"oy")
        await settle(pilot)
        assert app.pane.query_one(Input).value == "buoy"

"""The index panel: what search stands on, brought up to date, built anew, stopped."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import NOW, FakeBench
from tests.tui.fake_recall import fresh_index
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.engine.errors import StorageError
from workbench.engine.results.recall import IndexStatus
from workbench.tui.app import BenchApp
from workbench.tui.index_work import IndexWork
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.index import IndexScreen
from workbench.tui.views.index import freshness, index_lines, size_words
from workbench.tui.views.status import bottom_line
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.status_line import StatusLine


def shown(pilot: Pilot[None]) -> str:
    detail = pilot.app.screen.query_one(Detail)
    keys = plain_text(pilot.app.screen.query_one("#index-keys", StatusLine).line)
    return "\n".join(detail.render_line(y).text for y in range(24)) + keys


async def over(pilot: Pilot[None]) -> None:
    """Wait until nothing is done to the index any more."""
    app = pilot.app
    assert isinstance(app, BenchApp)
    while app.index_work.running:
        await asyncio.sleep(0.002)
    await settle(pilot)


async def test_the_panel_says_what_search_stands_on(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("i")
        await settle(pilot)
        text = shown(pilot)
        for words in (
            "up to date", "31", "64", "static-256, 256 dimensions", "19 minutes ago", "2.4 MB", "ria-formosa-4f1c",
            "built in",
        ):  # fmt: skip
            assert words in text, words
        await pilot.press("escape")
        await settle(pilot)
        assert len(pilot.app.screen_stack) == 1


async def test_it_is_brought_up_to_date_by_one_key(bench: FakeBench, running: Running) -> None:
    bench.index = replace(bench.index, dirty=True, pending=3)
    async with running(bench) as pilot:
        await pilot.press("i")
        await settle(pilot)
        assert "3 still to be read" in shown(pilot)
        await pilot.press("s")
        await over(pilot)
        assert bench.calls == [("sync", None)]
        assert "up to date" in shown(pilot)


async def test_a_rebuild_asks_shows_how_far_it_is_and_can_be_stopped(
    bench: FakeBench, running: Running
) -> None:
    bench.step.clear()
    async with running(bench) as pilot:
        await pilot.press("i", "R")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pilot.press("R", "b")
        await settle(pilot)
        assert isinstance(pilot.app.screen, IndexScreen)
        text = shown(pilot)
        assert "Rebuilding, 0 of 64" in text
        assert "c cancel" in text
        await pilot.press("c")
        assert "stopping…" in shown(pilot)
        bench.step.set()
        await over(pilot)
        assert ("stopped", 0) in bench.calls
        assert "Stopped; what was done stays done." in shown(pilot)


async def test_a_rebuild_goes_on_when_the_panel_is_closed_and_shows_below(
    bench: FakeBench, running: Running
) -> None:
    bench.step.clear()
    async with running(bench, (200, 40)) as pilot:
        await pilot.press("i", "R", "b", "escape")
        await settle(pilot)
        bottom = plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        assert "◌ index 0%" in bottom
        await pilot.press("i")
        await settle(pilot)
        assert "Rebuilding, 0 of 64" in shown(pilot)
        await pilot.press("escape")
        bench.step.set()
        await over(pilot)
        assert "index" not in plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        assert bench.calls == [("rebuild", None)]


async def test_leaving_the_question_builds_nothing(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("i", "R", "enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, IndexScreen)
        assert not bench.calls


async def test_what_goes_wrong_is_said(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> IndexStatus:
        raise StorageError("The disk is full.", remedy="Make room.")

    async with running(bench) as pilot:
        monkeypatch.setattr(bench, "sync_index", fail)
        await pilot.press("i", "s")
        await over(pilot)
        assert "The disk is full. Make room." in shown(pilot)
        monkeypatch.setattr(bench, "index_status", fail)
        await pilot.press("escape", "i")
        await settle(pilot)
        assert "The disk is full. Make room." in shown(pilot)


async def test_a_stale_index_is_told_below_and_leads_to_the_panel(bench: FakeBench, running: Running) -> None:
    bench.index = replace(bench.index, dirty=True)
    async with running(bench, (200, 40)) as pilot:
        line = pilot.app.query_one("#bottom", StatusLine).line
        at = plain_text(line).index("index behind")
        await pilot.click("#bottom", offset=(at, 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, IndexScreen)


def test_states_in_words() -> None:
    fresh = fresh_index()
    assert freshness(fresh) == "up to date"
    assert freshness(replace(fresh, rebuilding=0.43)) == "being rebuilt, 43%"
    assert freshness(replace(fresh, last_sync=None)) == "not built yet"
    assert freshness(replace(fresh, dirty=True)) == "files have changed"


def test_the_panel_fits_in_every_state() -> None:
    work = IndexWork(FakeBench.empty(), lambda: None)
    fresh = fresh_index()
    states = (
        fresh,
        replace(fresh, provider="none", model=None, dimensions=None, last_sync=None, dirty=True, chunks=0),
        replace(fresh, fallback="The model file is missing: " + "x" * 80, rebuilding=0.5, backend="qmd"),
        None,
    )
    for status in states:
        for width in (20, 44, 72):
            lines = index_lines(status, work, "", NOW, width)
            assert all(line_width(line) <= width for line in lines), (status, width)


def test_sizes_and_the_short_sign_below() -> None:
    assert [size_words(size) for size in (900, 2_412_000, 3_100_000_000)] == ["1 kB", "2.4 MB", "3.1 GB"]
    status = replace(FakeBench.filled().status(), index="index behind")
    assert "◌" in plain_text(bottom_line(status, [("?", "help")] * 9, 80)[0])

"""Keys that come faster than the bench can answer: each goes where the one before put the focus."""

from __future__ import annotations

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.tui.app import BenchApp
from workbench.tui.panes import PANES
from workbench.tui.panes.base import Pane


def key_event(key: str) -> events.Key:
    if len(key) > 1:
        return events.Key(key, None)
    return events.Key(key if key.isalnum() else _character_to_key(key), key)


async def burst(pilot: Pilot[None], *keys: str) -> None:
    """Type keys at once, as a terminal gives them that were typed ahead."""
    for key in keys:
        pilot.app.post_message(key_event(key))
    await settle(pilot)


def shown(pilot: Pilot[None]) -> Pane:
    app = pilot.app
    assert isinstance(app, BenchApp)
    return app.pane


async def test_what_is_typed_behind_the_slash_goes_into_the_filter(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        await burst(pilot, *"/actor:reflection")
        assert shown(pilot).filter_bar.text == "actor:reflection"
        assert bench.calls == []
        assert len(pilot.app.screen_stack) == 1


@pytest.mark.parametrize("at", range(len(PANES)), ids=[title for _, title, _ in PANES])
async def test_every_pane_takes_the_filter_typed_in_one_go_with_its_own_key(
    bench: FakeBench, running: Running, at: int
) -> None:
    async with running(bench, (150, 40)) as pilot:
        if PANES[at][0] == "search":
            await burst(pilot, str(at + 1), *"aRwdx uU")
        else:
            await burst(pilot, str(at + 1), *"/aRwdx uU")
        assert shown(pilot).id == PANES[at][0]
        assert shown(pilot).query_one(Input).value == "aRwdx uU"
        assert bench.calls == []
        assert len(pilot.app.screen_stack) == 1


async def test_a_paste_behind_the_slash_goes_into_the_filter(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        pilot.app.post_message(key_event("/"))
        pilot.app.post_message(events.Paste("actor:reflection"))
        await settle(pilot)
        assert shown(pilot).filter_bar.text == "actor:reflection"


async def test_what_is_typed_behind_a_key_that_opens_a_screen_is_the_screens(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        await burst(pilot, "ctrl+p", *"aRw")
        assert pilot.app.screen.query_one(Input).value == "aRw"
        assert bench.calls == []


async def test_keys_go_on_once_the_filter_is_closed(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        await burst(pilot, "/", "escape", "a")
        assert shown(pilot).filter_bar.text == ""
        assert bench.calls == [("acknowledge", ("a-7",))]


async def test_keys_behind_the_one_that_leaves_are_not_taken(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        for key in ("ctrl+q", "a"):
            pilot.app.post_message(key_event(key))
        await pilot.pause()
        assert bench.calls == []

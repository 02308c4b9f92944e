"""Keys that come faster than the bench can answer: each goes where the one before put the focus."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.seen_workspace import looking
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui import typed_ahead
from workbench.tui.app import BenchApp
from workbench.tui.panes import PANES, pane_class
from workbench.tui.panes.base import Pane
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.screens.find import FindScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.pick import WordScreen
from workbench.tui.widgets.detail import Detail


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


async def test_a_list_that_comes_into_sight_takes_the_focus_from_nothing(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        pane = shown(pilot)
        pane.focus_list()
        pilot.app.call_later(pilot.app.screen.set_focus, pane.detail)
        await settle(pilot)
        assert pilot.app.focused is pane.detail


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


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Keep threads from beginning while the gate is closed, so that what is typed is answered late."""
    opened = threading.Event()
    opened.set()
    submit = ThreadPoolExecutor.submit

    def late(executor: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        def begin() -> Any:
            opened.wait(30)
            return work(*args, **named)

        return submit(executor, begin)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", late)
    # However slow the machine is, a key waits for its answer.
    for name in ("_SECONDS_TO_FOLLOW", "_SECONDS_TO_ANSWER"):
        monkeypatch.setattr(typed_ahead, name, 600.0)
    yield opened
    opened.set()


async def burst_before_answers(pilot: Pilot[None], gate: threading.Event, *keys: str) -> None:
    """Type keys at once; the first answer comes only when the bench had time to act on all of them."""
    gate.clear()
    for key in keys:
        pilot.app.post_message(key_event(key))
    for _ in range(100):
        await asyncio.sleep(0.002)
    gate.set()
    await settle(pilot)


async def one_by_one(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await burst(pilot, key)


def where(pilot: Pilot[None]) -> tuple[str, ...]:
    """Return the pane, what it shows, the row, what was copied last, and what a screen over it says."""
    pane = shown(pilot)
    screen = pilot.app.screen
    said = [type(screen).__name__]
    if len(pilot.app.screen_stack) > 1:
        said += [plain_text(line) for detail in screen.query(Detail) for line in detail._draw(72)]
    rows = pane.list.rows
    place = pane.place()
    shown_rows = tuple(rows.key(at) for at in range(len(rows)))
    return (
        place.pane,
        place.key,
        place.filter,
        pane.list.cursor_key,
        pilot.app.clipboard,
        *said,
        *shown_rows,
    )


FILTERS = ("/", *"xyzzy", "enter", "down", "/", "escape", "/", *"radar", "enter", "down", "y")
# Pressed once the bench is there, and what is then typed in one go.
BURSTS = {
    **{title: (str(at + 1), FILTERS) for at, (name, title, _) in enumerate(PANES) if name != "search"},
    "a question and its second result": ("", ("4", *"second radar", "enter", "down", "y")),
    "an example and its first result": ("", ("4", "down", "enter", "enter", "y")),
    "why another did not come up": ("", ("4", *"radar", "enter", "w", *"furuno", "enter")),
    "the way to another entity": ("", ("6", "c", *"radio", "enter")),
    "the palette": ("", ("ctrl+p", *"furuno", "enter")),
    "the palette, further down": ("8", ("ctrl+p", *"radar", "down", "enter")),
}


@pytest.mark.parametrize(("before", "typed"), BURSTS.values(), ids=BURSTS)
async def test_a_burst_does_what_the_same_keys_do_one_by_one(
    seen: Workspace, gate: threading.Event, before: str, typed: tuple[str, ...]
) -> None:
    async with looking(seen) as pilot:
        await one_by_one(pilot, *before, *typed)
        expected = where(pilot)
    async with looking(seen) as pilot:
        await one_by_one(pilot, *before)
        await burst_before_answers(pilot, gate, *typed)
        assert where(pilot) == expected


@pytest.mark.parametrize(
    "screen",
    [
        FindScreen((), tuple, lambda: False),
        WordScreen(("uses",), "How?"),
        HelpScreen({}, ()),
    ],
)
def test_a_screen_that_is_not_there_yet_has_no_rows_to_act_on(screen: ChoosingScreen) -> None:
    assert screen.is_behind


@pytest.mark.parametrize("title", [title for _, title, _ in PANES])
def test_a_pane_that_is_not_there_yet_stops_no_key(bench: FakeBench, title: str) -> None:
    name = next(name for name, each, _ in PANES if each == title)
    pane = pane_class(name)(bench, id=name)
    assert not pane.is_behind
    assert not pane.is_unread

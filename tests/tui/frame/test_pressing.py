"""Nothing acts on what nobody has seen: answers are inert at first, and verbs act on the row that was painted."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.frame.hands import TWO_SIZES, drawn, frame_of, opened, press, said
from tests.tui.seen_workspace import FERRY, open_seen
from workbench.engine import FixedClock, Workspace
from workbench.tui.frame import pressing
from workbench.tui.frame.app import FrameApp
from workbench.tui.places.timeline import Read, TimelinePlace


class HandClock:
    """A clock that a test puts."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    monkeypatch.setattr(pressing, "INERT", 0.3)
    return HandClock()


async def typed(pilot: Pilot[None], key: str, at: float) -> None:
    event = events.Key(key, key if len(key) == 1 else None)
    event.time = at
    pilot.app.post_message(event)
    await press(pilot)


async def let_undo_ask(pilot: Pilot[None], seen: Workspace, clock: FixedClock) -> None:
    """Do something, and let the agent do something after it."""
    seen.pin(FERRY)
    with open_seen(seen.root, clock, role="main") as agents:
        agents.remember("The harbour office closes at noon", store="episodic")
    frame_of(pilot).read_again()
    await press(pilot)


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_enter_answers_only_once_the_question_can_be_read(
    seen: Workspace, seen_clock: FixedClock, clock: HandClock, size: tuple[int, int]
) -> None:
    async with opened(seen, size, clock=clock) as pilot:
        await let_undo_ask(pilot, seen, seen_clock)
        before = seen.head()
        await typed(pilot, "u", 100.0)
        assert "came after it" in drawn(pilot, "keys")
        await typed(pilot, "enter", 99.9)
        await typed(pilot, "enter", 100.29)
        assert said(pilot) == "Read the question first; enter answers it now."
        assert seen.head() == before
        await typed(pilot, "enter", 100.31)
        assert said(pilot).startswith("Took back: ")


async def test_both_keys_in_one_burst_do_not_answer(
    seen: Workspace, seen_clock: FixedClock, clock: HandClock
) -> None:
    async with opened(seen, clock=clock) as pilot:
        await let_undo_ask(pilot, seen, seen_clock)
        before = seen.head()
        for key in ("u", "enter"):
            event = events.Key(key, key if len(key) == 1 else None)
            event.time = 100.0
            pilot.app.post_message(event)
        await press(pilot)
        assert "came after it" in drawn(pilot, "keys")
        assert seen.head() == before


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_forget_acts_on_the_row_that_was_painted_when_it_was_typed(
    seen: Workspace, clock: HandClock, size: tuple[int, int]
) -> None:
    async with opened(seen, size, clock=clock) as pilot:
        place = frame_of(pilot).place
        subject = place.current
        assert subject is not None
        clock.now = 101.0
        await typed(pilot, "j", 100.9)
        assert place.current != subject
        await typed(pilot, "f", 100.95)
        assert said(pilot).startswith("Archived “")
        assert seen.show(subject.id).score is not None
        assert {each.id for each in seen.timeline(limit=1000).entries if each.status == "archived"} >= {
            subject.id
        }


async def test_keys_wait_for_rows_that_are_read_and_say_so_when_they_do_not_come(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressing, "_SECONDS_TO_ANSWER", 0.0)
    app = FrameApp(seen)
    async with app.run_test(size=(120, 36)) as pilot:
        await press(pilot)
        frame = app.frame
        frame.place.results = None
        frame.reading._under_way.add("place")
        await press(pilot, "j")
        assert said(pilot) == "Still reading; j was not done."
        await press(pilot, "3")
        assert drawn(pilot, "crumbs").strip().startswith("Core")


async def test_what_is_typed_before_the_first_rows_is_done_on_them(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        pilot.app.post_message(events.Key("j", "j"))
        pilot.app.post_message(events.Key("4", "4"))
        pilot.app.post_message(events.Key("j", "j"))
        await press(pilot)
        place = frame_of(pilot).place
        assert isinstance(place, TimelinePlace)
        results: Read = place.results
        assert place.list.cursor_key == results.timeline.entries[1].id


async def test_a_paste_where_nothing_is_written_says_where_to(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        pilot.app.post_message(events.Paste("dddd"))
        await press(pilot)
        assert said(pilot) == "Text is pasted where one writes: / asks, n writes a new memory."

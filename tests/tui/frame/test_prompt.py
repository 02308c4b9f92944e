"""The line that verbs ask for: taken, refused, left, completed, at two sizes and typed in one go."""

from __future__ import annotations

import pytest
from textual import events

from tests.tui.frame.hands import TWO_SIZES, burst, drawn, frame_of, opened, press, said
from workbench.engine import Workspace
from workbench.tui.parts.line import PromptLine
from workbench.tui.verbs.act import Act

NAMES = ("Ferry", "Ferry terminal", "Tide tables")


def begins_with(text: str) -> list[str]:
    return [name for name in NAMES if name.casefold().startswith(text.casefold())]


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_what_is_written_is_taken_and_the_keys_come_back(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        frame = frame_of(pilot)
        list_ = frame.focused
        frame.editing.ask("New name", "Ferr", take=lambda text: Act(lambda _workspace: f"Renamed {text}."))
        await burst(pilot, "y 3\n")
        assert said(pilot) == "Renamed Ferry 3."
        assert frame.focused is list_
        assert not frame.query_one(PromptLine).display
        assert frame.query_one("#keys").display


async def test_a_text_that_is_refused_can_be_written_on(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        frame.editing.ask("Day", take=lambda text: None if text == "today" else f"“{text}” is no day.")
        await press(pilot, "t", "o", "enter")
        assert said(pilot) == "“to” is no day."
        await press(pilot, "d", "a", "y", "enter")
        assert not frame.editing.is_asking


async def test_esc_leaves_and_the_next_key_is_a_command_again(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        taken: list[str] = []
        frame.editing.ask("Day", take=taken.append)
        await burst(pilot, "ab\x1b3")
        assert taken == []
        assert drawn(pilot, "crumbs").strip().startswith("Core")


async def test_tab_completes_as_far_as_there_is_one_way_and_then_each_in_turn(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        line = frame.query_one(PromptLine).line
        frame.editing.ask("Entity", complete=begins_with, take=lambda _text: None)
        await press(pilot, "f", "tab")
        assert line.value == "Ferry"
        assert said(pilot) == "Ferry, Ferry terminal."
        await press(pilot, "tab", "tab")
        assert line.value == "Ferry terminal"
        await press(pilot, "ctrl+a", "x", "tab")
        assert line.value == "x"
        assert said(pilot) == "Nothing here begins with “x”."


async def test_what_is_pasted_becomes_one_line_that_prints_as_itself(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        frame.editing.ask("Name", "[b]", take=lambda _text: None)
        pilot.app.post_message(events.Paste("one\r\ntwo \x1b[31m red"))
        await press(pilot, "end")
        assert frame.query_one(PromptLine).line.value == "[b]one two ␛[31m red"


async def test_a_click_elsewhere_leaves_the_line(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        frame.editing.ask("Name", take=lambda _text: None)
        await press(pilot, "a")
        await pilot.click(frame.place.card)
        await press(pilot)
        assert not frame.editing.is_asking
        assert frame.query_one("#keys").display


async def test_the_line_survives_every_size(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        frame.editing.ask("Name of the entity that this is merged into", "Ferry", take=lambda _text: None)
        for size in ((240, 60), (80, 24), (60, 20), (40, 10), (120, 36)):
            await pilot.resize_terminal(*size)
            await press(pilot)
            line = frame.query_one(PromptLine).line
            assert frame.focused is line
            assert line.value == "Ferry"
            assert line.region.width >= 20
            assert line.region.y == size[1] - 1

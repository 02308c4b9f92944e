"""A letter on every visible row, link and place goes there; a drag of the mouse marks a range of rows."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.frame.hands import TWO_SIZES, drawn, frame_of, opened, press, said
from tests.tui.seen_workspace import LEARNED_FROM
from workbench.engine import Workspace
from workbench.tui.parts.line import DrawnLines, letters


def label_of(pilot: Pilot[None], target: str) -> str:
    targets = frame_of(pilot).jumping._targets
    return next(label for label, (_, aim) in targets.items() if aim == target)


def text_at(pilot: Pilot[None], y: int) -> str:
    """Return what is drawn in a row of the list."""
    return frame_of(pilot).place.list.render_line(y).text


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_a_letter_goes_to_its_row(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        list_ = frame_of(pilot).place.list
        await press(pilot, "tab", ";")
        rows = [key for _, _, key in list_.spots()]
        assert len(rows) > 2
        label = label_of(pilot, rows[2])
        y = next(y for _, y, key in list_.spots() if key == rows[2])
        assert text_at(pilot, y).startswith(label)
        await press(pilot, *label)
        assert list_.cursor_key == rows[2]
        assert frame_of(pilot).focused is list_
        assert list_.labels == {}
        assert not text_at(pilot, y).startswith(label)


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_every_place_has_a_letter(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, ";")
        name = "rail" if size[0] >= 110 else "line-of-places"
        spots = frame_of(pilot).query_one(f"#{name}", DrawnLines).spots()
        assert len(spots) >= 8
        await press(pilot, *label_of(pilot, "place:core"))
        assert drawn(pilot, "crumbs").strip().startswith("Core")


async def test_a_link_of_the_card_is_followed(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        frame = frame_of(pilot)
        frame.go("timeline", row=LEARNED_FROM)
        await press(pilot)
        await press(pilot, ";")
        links = frame.place.card.spots()
        assert links
        await press(pilot, *label_of(pilot, links[0][2]))
        assert frame.place.visited


async def test_other_keys_leave_and_say_so(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, ";", "Z")
        assert said(pilot) == "No place here has the letters Z."
        await press(pilot, ";", "escape", "3")
        assert drawn(pilot, "crumbs").strip().startswith("Core")


def test_labels_are_all_different_and_none_begins_another() -> None:
    for count in (1, 26, 27, 300):
        made = letters(count)
        assert len(set(made)) == count
        assert len({len(each) for each in made}) == 1


async def test_a_drag_marks_a_range_and_a_click_marks_nothing(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        list_ = frame_of(pilot).place.list
        (_, first, a), _, (_, third, c) = list_.spots()[:3]
        x, y = list_.region.offset
        for kind, at in ((events.MouseDown, first), (events.MouseMove, third), (events.MouseUp, third)):
            pilot.app.post_message(kind(None, x + 5, y + at, 0, 0, 1, False, False, False, x + 5, y + at))
            await press(pilot)
        assert len(list_.marks.keys) == 3
        assert {a, c} <= list_.marks.keys
        await press(pilot, "escape")
        await pilot.click(list_, offset=(5, first))
        await press(pilot)
        assert list_.cursor_key == a
        assert not list_.marks.keys

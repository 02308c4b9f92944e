"""Splits by key and mouse: kept with place and layout, giving way where there is no room; one part alone; the rail."""

from __future__ import annotations

import pytest
from textual import events
from textual.geometry import Region
from textual.pilot import Pilot

from tests.tui.frame.hands import burst, frame_of, leave, opened, press, said
from workbench.engine import Workspace


def left(pilot: Pilot[None]) -> Region:
    return frame_of(pilot).place.query_one(".place-left").region


async def dragged(pilot: Pilot[None], start: tuple[int, int], stop: tuple[int, int]) -> None:
    """Drag the mouse, as the terminal tells of it."""
    for kind, (x, y) in ((events.MouseDown, start), (events.MouseMove, stop), (events.MouseUp, stop)):
        pilot.app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
        await press(pilot)


@pytest.mark.parametrize(
    ("size", "keys"), [((80, 24), ("up", "down")), ((160, 40), ("left", "right"))], ids=["80x24", "160x40"]
)
async def test_a_split_moves_by_two_cells_and_is_kept_for_the_place(
    seen: Workspace, size: tuple[int, int], keys: tuple[str, str]
) -> None:
    side = "height" if size[0] < 110 else "width"
    async with opened(seen, size) as pilot:
        as_made = getattr(left(pilot), side)
        await press(pilot, "z", keys[1], "z", keys[1])
        moved = getattr(left(pilot), side)
        assert moved == as_made + 4
        await press(pilot, "3")
        assert getattr(left(pilot), side) == as_made
        await press(pilot, "4")
        assert getattr(left(pilot), side) == moved
        leave(pilot)
    async with opened(seen, size) as pilot:
        assert getattr(left(pilot), side) == moved
        await press(pilot, "z", "=")
        assert getattr(left(pilot), side) == as_made


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
async def test_no_part_gets_smaller_than_it_may(seen: Workspace, size: tuple[int, int]) -> None:
    shrink, grow = ("up", "down") if size[0] < 110 else ("left", "right")
    async with opened(seen, size) as pilot:
        for _ in range(60):
            await pilot.press("z", shrink)
        await press(pilot)
        assert said(pilot) == "The list is as small as it gets."
        least = left(pilot)
        assert (least.height == 3) if size[0] < 110 else (least.width == 24)
        for _ in range(70):
            await pilot.press("z", grow)
        await press(pilot)
        assert said(pilot) == "The card is as small as it gets."
        card = frame_of(pilot).place.card.outer_size
        assert (card.height >= 5) if size[0] < 110 else (card.width >= 36)


async def test_a_split_gives_way_where_it_must_and_comes_back(seen: Workspace) -> None:
    async with opened(seen, (240, 60)) as pilot:
        for _ in range(20):
            await pilot.press("z", "right")
        await press(pilot)
        wide = left(pilot).width
        for size in ((170, 40), (120, 36), (109, 30), (80, 24), (60, 20), (40, 10)):
            await pilot.resize_terminal(*size)
            await press(pilot)
            place = frame_of(pilot).place
            assert left(pilot).right <= size[0]
            if size[0] >= 110:
                assert place.card.outer_size.width >= 36
        await pilot.resize_terminal(240, 60)
        await press(pilot)
        assert left(pilot).width == wide


async def test_the_line_is_dragged_by_mouse_and_nothing_is_selected(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        frame = frame_of(pilot)
        at = left(pilot)
        focused = frame.focused
        await dragged(pilot, (at.right, 10), (at.right + 7, 12))
        assert left(pilot).width == at.width + 7
        assert frame.focused is focused
        assert not frame.get_selected_text()
        await pilot.resize_terminal(80, 24)
        await press(pilot)
        at = left(pilot)
        await dragged(pilot, (20, at.bottom), (20, at.bottom - 3))
        assert left(pilot).height == at.height - 3


async def test_the_evidence_has_a_split_of_its_own(seen: Workspace) -> None:
    async with opened(seen, (240, 60)) as pilot:
        frame = frame_of(pilot)
        await press(pilot, "tab", "tab")
        assert frame.focused is frame.place.evidence
        width, list_width = frame.place.evidence.outer_size.width, left(pilot).width
        await press(pilot, "z", "left")
        assert frame.place.evidence.outer_size.width == width + 2
        assert left(pilot).width == list_width


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
async def test_the_part_that_has_the_keys_is_shown_alone_and_back(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        frame = frame_of(pilot)
        before = left(pilot)
        await burst(pilot, "zz")
        assert left(pilot).width > before.width or left(pilot).height > before.height
        assert not frame.place.card.region
        await burst(pilot, "zz")
        assert left(pilot) == before
        await burst(pilot, "\tzz")
        assert frame.focused is frame.place.card
        assert not left(pilot)
        assert frame.place.card.region.width > before.width - 20
        await press(pilot, "z", "right")
        assert said(pilot) == "One part is shown alone; there is no split."
        await burst(pilot, "zz")
        assert left(pilot) == before


async def test_the_rail_goes_and_stays_away(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await burst(pilot, "zr")
        assert not frame_of(pilot).query_one("#rail").region
        leave(pilot)
    async with opened(seen, (160, 40)) as pilot:
        assert not frame_of(pilot).query_one("#rail").region
        await burst(pilot, "zr")
        assert frame_of(pilot).query_one("#rail").region
    async with opened(seen, (80, 24)) as pilot:
        await burst(pilot, "zr")
        assert said(pilot) == "The rail stands beside the place from 110 columns on."

"""The filter of a list: as one types, kept, dropped, completed, lent by a link; at two sizes and in one go."""

from __future__ import annotations

import pytest

from tests.tui.frame.hands import TWO_SIZES, burst, drawn, frame_of, leave, opened, press, said
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui.frame import filtering
from workbench.tui.places.place import Place


def rows_of(place: Place) -> list[str]:
    rows = place.list.rows
    return [plain_text(rows.line(at, 60)).strip() for at in range(len(rows))]


def keys_of(place: Place) -> list[str]:
    rows = place.list.rows
    return [key for at in range(len(rows)) if (key := rows.key(at))]


@pytest.mark.parametrize("few", [0, 1_000], ids=["on a thread", "at once"])
@pytest.mark.parametrize("size", TWO_SIZES)
async def test_a_list_is_filtered_in_one_burst_of_keys(
    seen: Workspace, size: tuple[int, int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filtering, "_FEW", few)
    async with opened(seen, size) as pilot:
        frame = frame_of(pilot)
        place = frame.place
        total = len(keys_of(place))
        await burst(pilot, "lferry\nj")
        kept = keys_of(place)
        assert 0 < len(kept) < total
        entries = {entry.id: entry for entry in seen.timeline(limit=1000).entries}
        assert all("ferry" in (entries[key].title + entries[key].text).casefold() for key in kept)
        assert frame.focused is place.list
        assert place.list.cursor_key in kept
        assert place.filter_line.display
        assert not place.head.display
        headings = [row for at, row in enumerate(rows_of(place)) if place.list.rows.head(at)]
        assert len(headings) == len({entries[key].day for key in kept})
        await press(pilot, "l", "escape")
        assert len(keys_of(place)) == total
        assert said(pilot) == f"Filter “ferry” dropped; all {total} again."
        assert place.head.display


async def test_keys_narrow_and_tab_completes_them(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        place = frame_of(pilot).place
        await press(pilot, "l", "t", "y", "tab")
        assert place.filter_line.line.value == "type:"
        await press(pilot, "d", "e", "c", "tab")
        assert place.filter_line.line.value == "type:decision"
        types = {e.id: e.type for e in seen.timeline(limit=1000).entries}
        assert {types[key] for key in keys_of(place)} == {"decision"}
        await press(pilot, "enter", "p")
        assert said(pilot).startswith(("Pinned", "Unpinned"))
        assert {types[key] for key in keys_of(place)} == {"decision"}


async def test_a_filter_is_kept_for_the_next_time(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "l", "f", "e", "r", "r", "y", "enter", "3")
        assert not frame_of(pilot).place.filter.text
        leave(pilot)
    async with opened(seen) as pilot:
        await press(pilot, "4")
        place = frame_of(pilot).place
        assert place.filter.text == "ferry"
        assert place.filter.shown == len(keys_of(place)) < place.filter.total
        assert place.filter_line.display


async def test_a_filter_without_a_match_says_so_and_going_to_a_hidden_row_drops_it(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        await press(pilot, "G")
        last = frame.place.list.cursor_key
        await press(pilot, "l", "x", "x", "enter")
        assert keys_of(frame.place) == []
        assert said(pilot).startswith("0 of ")
        assert plain_text(frame.place.empty()[0]) == "Nothing matches the filter."
        frame.go("timeline", row=last)
        await press(pilot)
        assert frame.place.list.cursor_key == last
        assert not frame.place.filter.text


async def test_items_are_filtered_under_their_blocks(seen: Workspace) -> None:
    async with opened(seen, (80, 24)) as pilot:
        await burst(pilot, "3lberlin\x1blsummer\n")
        place = frame_of(pilot).place
        assert rows_of(place)[0].startswith("ACTIVE CONTEXT")
        assert rows_of(place)[1].endswith("Moving the timetable to the summer season")
        assert len(keys_of(place)) == 1


async def test_the_text_and_its_keys_survive_every_size(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "l", "f", "e")
        place = frame_of(pilot).place
        for size in ((240, 60), (80, 24), (60, 20), (40, 10), (120, 36)):
            await pilot.resize_terminal(*size)
            await press(pilot)
            assert frame_of(pilot).focused is place.filter_line.line
            assert place.filter_line.line.value == "fe"
            assert place.filter_line.line.region.width > 10


async def test_keys_of_the_filter_are_offered_only_while_it_has_them(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        await press(pilot, "l", "f")
        assert "keep the filter" in drawn(pilot, "keys")
        frame.set_focus(frame.place.list)
        await press(pilot, "3")
        assert "keep the filter" not in drawn(pilot, "keys")
        await burst(pilot, "4lferry\x1b5")
        assert "keep the filter" not in drawn(pilot, "keys")

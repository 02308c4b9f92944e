"""The timeline of a long life: read page by page, further where the cursor, a link or a filter wants more."""

from __future__ import annotations

import pytest

from tests.tui.frame.hands import burst, frame_of, opened, press, said
from workbench.engine import Workspace
from workbench.tui.places import timeline
from workbench.tui.places.place import Place

PAGE = 4


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "_PAGE", PAGE)
    monkeypatch.setattr(timeline, "_NEAR_THE_END", 1)


def keys_of(place: Place) -> list[str]:
    rows = place.list.rows
    return [key for at in range(len(rows)) if (key := rows.key(at))]


async def test_only_the_newest_are_read_until_the_cursor_comes_near_the_end(seen: Workspace) -> None:
    ids = [entry.id for entry in seen.timeline(limit=1000).entries]
    async with opened(seen) as pilot:
        place = frame_of(pilot).place
        assert keys_of(place) == ids[:PAGE]
        await press(pilot, *"j" * (PAGE - 1))
        assert keys_of(place) == ids[: 2 * PAGE]
        assert place.list.cursor_key == ids[PAGE - 1]


async def test_the_last_row_is_the_oldest_memory(seen: Workspace) -> None:
    ids = [entry.id for entry in seen.timeline(limit=1000).entries]
    async with opened(seen) as pilot:
        place = frame_of(pilot).place
        await press(pilot, "G")
        assert place.list.cursor_key == ids[-1]
        assert keys_of(place) == ids
        await press(pilot, "1", "4")
        assert place.list.cursor_key == ids[-1]


async def test_a_filter_looks_through_everything(seen: Workspace) -> None:
    entries = seen.timeline(limit=1000).entries
    wanted = [e.id for e in entries if "ferry" in (e.title + e.text).casefold()]
    assert not set(wanted) <= {entry.id for entry in entries[:PAGE]}
    async with opened(seen) as pilot:
        place = frame_of(pilot).place
        await burst(pilot, "lferry\n")
        assert keys_of(place) == wanted


async def test_a_link_leads_to_a_memory_of_long_ago(seen: Workspace) -> None:
    oldest = seen.timeline(limit=1000).entries[-1].id
    async with opened(seen) as pilot:
        frame = frame_of(pilot)
        await press(pilot, "5")
        frame.go("timeline", row=oldest)
        await press(pilot)
        assert frame.place.list.cursor_key == oldest
        frame.go("timeline", row="episode:1999-01-01:10:00")
        await press(pilot)
        assert frame.place.list.cursor_key == oldest
        assert said(pilot) == "Timeline does not show it."


async def test_a_day_of_long_ago_is_gone_to(seen: Workspace) -> None:
    oldest = seen.timeline(limit=1000).entries[-1]
    async with opened(seen) as pilot:
        place = frame_of(pilot).place
        await press(pilot, "g", "d")
        await burst(pilot, f"{oldest.day}\n")
        day = next(e for e in seen.timeline(limit=1000).entries if e.day == oldest.day)
        assert place.list.cursor_key == day.id

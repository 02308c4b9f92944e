"""What the bench says in words, in a terminal of 80 columns too: whole sentences, reasons, corrections, days."""

from __future__ import annotations

import pytest

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.engine import Workspace
from workbench.tui.frame.edges import line_of_places, question_lines, status
from workbench.tui.places.timeline import TimelineRows
from workbench.tui.verbs.act import Act

SAID = "Core memory would hold 3,274 tokens, which is more than its cap of 3,000; take something out of it first."
ASKED = "Revoke the token laptop-in-the-kitchen? Its open connections end, and agents on that machine stop."


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_sentence_of_the_status_line_is_whole(width: int) -> None:
    lines = status(SAID, True, "reading 12 of 40 files", width)
    told = " ".join(plain_text(line) for line in lines)
    assert " ".join(told.replace("reading 12 of 40 files", "").split()) == SAID
    assert all(line_width(line) <= width for line in lines)


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_question_is_whole_and_so_are_its_answers(width: int) -> None:
    lines = question_lines(ASKED, "revoke it", width)
    told = " ".join(" ".join(plain_text(line) for line in lines).split())
    assert told.startswith(ASKED)
    assert told.endswith("enter revoke it esc leave it")
    assert all(line_width(line) <= width for line in lines)
    assert (len(lines) == 1) == (width == 160)


async def test_the_edges_grow_with_what_they_say_and_shrink_again(seen: Workspace) -> None:
    async with opened(seen, (80, 24)) as pilot:
        frame = frame_of(pilot)
        frame.say(SAID)
        frame.begin(Act(lambda _: "Done.", ASKED, "revoke it"))
        await settle(pilot)
        status_line, keys = frame.query_one("#status"), frame.query_one("#keys")
        assert (status_line.size.height, keys.size.height) == (2, 3)
        await press(pilot, "escape")
        frame.say("Short.")
        await settle(pilot)
        assert (status_line.size.height, keys.size.height) == (1, 1)


def test_each_count_in_the_line_of_places_belongs_to_one_place() -> None:
    line = plain_text(line_of_places({"today": "▲1", "inbox": "24"}, "graph", 80))
    assert line.startswith(" 1 Today ▲1│2 Inbox 24│3 Core│4 Timeline▸5 Graph│6 Decay")
    assert len(line) <= 80


async def test_the_part_that_has_the_keys_has_another_border(seen: Workspace) -> None:
    for size, side in (((120, 36), "border_left"), ((80, 24), "border_top")):
        async with opened(seen, size) as pilot:
            card = frame_of(pilot).place.card
            before = getattr(card.styles, side)[0]
            await press(pilot, "enter")
            assert card.has_focus
            assert getattr(card.styles, side)[0] != before


async def test_a_corrected_entry_is_one_row_that_says_what_holds(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        place = frame_of(pilot).place
        old, count = place.cursor_key, seen.timeline().total
        was = seen.show(old).text
        await press(pilot, "e", "end", *"2", "enter")
        assert said(pilot).startswith("Corrected “")
        rows = place.all_rows
        assert isinstance(rows, TimelineRows)
        assert seen.timeline().total == count + 1
        assert plain_text(place.heading(place.results, 80)).startswith(f"{count} entries")
        new = place.cursor_key
        assert rows.find(old) is None
        row = rows.row(new)
        assert row is not None
        assert row.text == f"{was}2"
        told = "\n".join(map(plain_text, place.card.lines))
        assert told.startswith(f"{was}2")
        assert f"“{was}”" in " ".join(told.partition("BEFORE")[2].split())
        # Corrected once more, it is still one.
        await press(pilot, "e", "end", *"3", "enter")
        rows = place.all_rows
        assert isinstance(rows, TimelineRows)
        again = rows.row(place.cursor_key)
        assert again is not None
        assert again.text == f"{was}23"
        assert plain_text(place.heading(place.results, 80)).startswith(f"{count} entries")
        # A link to what was corrected leads to what holds.
        assert place.reveal(old)


async def test_the_key_of_dates_is_shown_where_it_works(seen: Workspace) -> None:
    async with opened(seen, (80, 24)) as pilot:
        for key, works in (("4", True), ("7", True), ("3", False)):
            await press(pilot, key)
            assert ("g d date" in drawn(pilot, "keys")) == works


async def test_where_there_are_no_days_a_day_shows_memory_as_it_was(seen: Workspace) -> None:
    async with opened(seen, place="core") as pilot:
        await press(pilot, "g", "d", *"soon", "enter")
        assert frame_of(pilot).place_name == "core"
        await press(pilot, "ctrl+a", *"today", "enter")
        frame = frame_of(pilot)
        assert (frame.place_name, said(pilot)) == (
            "history",
            "This is memory as it is now, compared with now. G returns to now, [ to where you were.",
        )
        await press(pilot, "[", "g", "d", *"3 weeks ago", "enter")
        assert frame.place_name == "history"
        assert said(pilot).startswith("This is memory as on ")
        assert said(pilot).endswith("compared with now. G returns to now, [ to where you were.")
        await press(pilot, "[")
        assert frame.place_name == "core"


async def test_a_setting_that_is_edited_is_replaced_by_typing(seen: Workspace) -> None:
    async with opened(seen, place="settings") as pilot:
        frame_of(pilot).place.reveal("decay.active_threshold")
        await settle(pilot)
        await press(pilot, "e", *"0.6")
        assert frame_of(pilot).editing._prompt.line.value == "0.6"

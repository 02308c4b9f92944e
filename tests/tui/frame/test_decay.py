"""Decay in the frame: what fades and when, days and scores, and the trial of another half-life."""

from __future__ import annotations

import math
import re

import pytest
from textual.pilot import Pilot

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from tests.tui.seen_workspace import ARCHIVED, TIDES
from workbench.display.card import card_lines
from workbench.display.decay import days_words, fading, grouped, rate_of
from workbench.display.ink import line_width, plain_text
from workbench.engine import Workspace
from workbench.engine.memory.decay import half_life
from workbench.tui.places.decay import HALF_LIVES, DecayPlace, consequences, parse_half_life, stepped

SIZES = [(80, 24), (120, 36), (160, 40), (240, 60)]
FAR = 3650


def place(pilot: Pilot[None]) -> DecayPlace:
    shown = frame_of(pilot).place
    assert isinstance(shown, DecayPlace)
    return shown


def rows(pilot: Pilot[None]) -> list[str]:
    shown = place(pilot).list
    width = shown.scrollable_content_region.width - 3
    return [plain_text(shown.rows.line(at, width)) for at in range(len(shown.rows))]


def head(pilot: Pilot[None]) -> str:
    lines = place(pilot).head
    return plain_text(lines.lines(lines.size.width)[0]).strip()


def card(pilot: Pilot[None]) -> str:
    shown = place(pilot).card.card
    assert shown is not None
    return "\n".join(plain_text(line) for line in card_lines(shown, 200))


async def go(pilot: Pilot[None], *keys: str) -> None:
    await press(pilot, "6", *keys)


@pytest.mark.parametrize("size", SIZES)
async def test_what_fades_soonest_stands_first_and_its_text_has_the_room(
    seen: Workspace, size: tuple[int, int]
) -> None:
    falls = seen.decay_falls(FAR)
    soonest = next(fall for fall in falls.falls if fall.store != "core")
    async with opened(seen, size) as pilot:
        await go(pilot)
        found = rows(pilot)
        assert found[0].startswith(("FADES THIS WEEK", "LATER IN", "IN "))
        assert place(pilot).list.rows.key(1) == soonest.id
        assert soonest.title[:26] in found[1]
        assert "│" in found[1]
        assert "half-life 23 days" in head(pilot)
        assert any(place(pilot).list.rows.key(at) == TIDES and "◆" in row for at, row in enumerate(found))
        width = place(pilot).list.scrollable_content_region.width - 3
        assert all(line_width(place(pilot).list.rows.line(at, width)) <= width for at in range(len(found)))


async def test_the_card_says_in_words_when_and_what_would_keep_it(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot)
        text = card(pilot)
        assert "it drops from" in text
        assert "pinned it stays; used once more it lasts until" in text
        assert "λ" not in text
        await press(pilot, "x")
        shown = place(pilot).card
        assert any("λ 0.03 a day" in plain_text(line) for line in shown.lines)


async def test_counting_a_use_says_how_long_it_then_stays(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot, "m", "r")
        assert said(pilot).startswith("Counted a use of “")
        assert "it lasts until" in said(pilot)
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ")


async def test_the_cursor_stays_where_a_row_was_that_is_pinned(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot)
        first, at = place(pilot).cursor_key, place(pilot).list.cursor
        await press(pilot, "p")
        assert said(pilot).startswith("Pinned")
        gone_to = place(pilot).list.rows.find(first)
        assert gone_to is not None
        assert gone_to > at + 1
        assert place(pilot).cursor_key not in ("", first)
        assert place(pilot).list.cursor <= at + 1
        await press(pilot, "u")
        assert place(pilot).list.rows.find(first) == at


async def test_arrows_say_day_and_score_and_plus_looks_closer(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go(pilot, "right", "right")
        assert head(pilot).endswith(("fading", "dormant", "active", "archived"))
        assert "Tue 10 Feb: 0." in head(pilot)
        assert "10 FEB" in card(pilot)
        await press(pilot, "+", "+")
        assert "1 cell = 1 day" in head(pilot)
        await press(pilot, "+")
        assert said(pilot) == "A cell is 1 day at least."
        await press(pilot, "g", "d", *"yesterday", "enter")
        assert "Sun 1 Feb" in head(pilot)


async def test_the_list_says_in_words_what_cells_show(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go(pilot, "v", "l")
        assert any(" on " in row or "tomorrow" in row for row in rows(pilot))
        assert not any("│" in row for row in rows(pilot))
        await press(pilot, "v", "h", "v", "s")
        assert said(pilot) == "Sorted by score."
        assert not rows(pilot)[0].isupper()


async def test_a_trial_says_what_would_change_and_is_dropped(seen: Workspace) -> None:
    before = seen.head()
    async with opened(seen, (160, 40)) as pilot:
        await go(pilot, "m", "g", "right", "right")
        assert head(pilot).startswith("TRIAL  half-life 45 days instead of 23 days")
        text = card(pilot)
        assert "stay longer" in text
        assert "Nothing changes until you keep it." in text
        assert "enter keep 45 days" in drawn(pilot, "keys")
        await press(pilot, "escape")
        assert said(pilot) == "Back to 23 days; nothing was changed."
        assert "TRIAL" not in head(pilot)
        assert seen.head() == before


async def test_a_trial_is_kept_without_a_question_and_taken_back(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot, "m", "g", "m", "g", *"40", "enter", "enter")
        assert said(pilot) == "The half-life is 40 days now, it was 23 days. u takes that back."
        assert math.isclose(half_life(seen.decay().lambda_), 40, rel_tol=0.01)
        await press(pilot, "u")
        assert seen.decay().lambda_ == 0.03
        assert "half-life 23 days" in head(pilot)


async def test_digits_are_the_half_life_while_one_is_tried_and_places_afterwards(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot, "m", "g", *"40", "enter")
        assert head(pilot).startswith("TRIAL  half-life 40 days")
        await press(pilot, "escape", "4")
        assert frame_of(pilot).place.name == "timeline"


@pytest.mark.parametrize("days", ["60", "9"])
async def test_the_card_of_a_trial_counts_this_week_as_the_list_does(seen: Workspace, days: str) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go(pilot, "m", "g", *days, "enter")
        (heading,) = [row for row in rows(pilot) if row.startswith("FADES THIS WEEK")]
        now, _, was = re.findall(r"\d+|instead|none", heading)
        said = " ; ".join(consequences(place(pilot).results.fading))
        told = re.search(r"(\d+) fades? this week instead of (\d+): ([^;]+)(?: ;|$)", said)
        assert told is not None
        assert (told[1], told[2]) == (now, was)
        moved = [(int(part.split()[0]), part) for part in told[3].split(", ")]
        gone = sum(count for count, part in moved if part.endswith("later") or "would have" in part)
        come = sum(count for count, part in moved if part.endswith("sooner") or " had " in part)
        assert int(was) - gone + come == int(now)


async def test_a_trial_ends_with_the_visit(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot, "m", "g", "comma")
        assert "keep" not in drawn(pilot, "keys")
        await press(pilot, "6")
        assert "TRIAL" not in head(pilot)


async def test_what_is_archived_comes_back_from_here(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot, "G")
        assert place(pilot).cursor_key == ARCHIVED
        await press(pilot, "r")
        assert said(pilot).startswith("Brought back “")


async def test_only_changes_of_a_trial_are_shown_on_demand(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go(pilot)
        count = len(rows(pilot))
        await press(pilot, "m", "g", "v", "c")
        assert 0 < len(rows(pilot)) < count


def test_consequences_name_both_directions(seen: Workspace) -> None:
    truth = fading(seen.decay())

    def tried(days: float) -> str:
        rate = rate_of(days)
        return "; ".join(consequences(fading(seen.decay(lambda_=rate), truth)))

    assert "stay longer" in tried(90)
    assert "back at once" in tried(90)
    assert "leave sooner" in tried(7) or "at once what the agent recalls" in tried(7)
    assert "for good" in tried(math.inf)
    assert tried(half_life(0.03)) == "Nothing would stay longer or leave sooner."


def test_a_half_life_is_said_and_read_in_days() -> None:
    assert days_words(23.1) == "23 days"
    assert days_words(1) == "1 day"
    assert days_words(math.inf) == "none: nothing fades"
    assert parse_half_life(" 14d ") == 14
    assert parse_half_life("never") == math.inf
    assert isinstance(parse_half_life("soon"), str)
    assert isinstance(parse_half_life("-3"), str)
    assert stepped(23.1, 1) == 28
    assert stepped(23.1, -1) == 18
    assert stepped(math.inf, 1) == math.inf
    assert stepped(HALF_LIVES[0], -1) == HALF_LIVES[0]


def test_every_memory_is_in_one_group_whatever_it_is_grouped_by(seen: Workspace) -> None:
    read = fading(seen.decay())
    every = sorted(entry.id for entry in read.view.entries)
    for group in ("time", "kind", "tag", "entity"):
        found = [entry.id for each in grouped(read, "soonest", group) for entry in each.entries]
        assert sorted(found) == every

"""Why a memory is not among the results: it is picked by its words, and its card begins with the reason."""

from __future__ import annotations

import pytest

from tests.tui.frame.hands import TWO_SIZES, burst, frame_of, opened, press, said
from tests.tui.sheets.hands import card_of
from workbench.engine import Workspace


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_a_memory_is_picked_by_its_words_and_says_why(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await burst(pilot, "/timetable\n")
        await press(pilot, "m", "w")
        await burst(pilot, "short answers\n")
        shown = card_of(pilot)
        assert shown.startswith("Short answers, numbers first")
        assert "WHY NOT" in shown
        subject = frame_of(pilot).place.current
        assert subject is not None
        assert subject.title.startswith("Short answers")
        await press(pilot, "escape")
        assert "WHY NOT" not in card_of(pilot)


async def test_without_a_question_it_says_how(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "m", "w")
        assert said(pilot) == "Ask something first; m w then asks why a memory is not among the results."

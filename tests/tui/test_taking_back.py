"""Undo from the bench: one's own at once, another's after a question that says whose it is and what it did."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.inbox_hands import press, toasts
from tests.tui.stillness import settle
from workbench.engine.results.audit import NextStep, NextSteps
from workbench.tui.screens.taking_back import TakingBackScreen
from workbench.tui.workspace_bench.door import single_inside

WHEN = datetime(2026, 2, 1, 18, 40, tzinfo=UTC)
THEIRS = NextStep("a" * 40, "the main agent (bot:auto-detect)", WHEN, "logged “The gale hit”", False)
MINE = NextStep("b" * 40, "you", WHEN, "pinned “Backups run at midnight”", True)


def asked(pilot: Pilot[None]) -> str:
    screen = pilot.app.screen
    assert isinstance(screen, TakingBackScreen)
    return "\n".join(str(each.render()) for each in screen.query("Static"))


@pytest.fixture
def others(bench: FakeBench) -> FakeBench:
    """A bench where the newest action is another's."""
    bench.steps_shown = NextSteps(THEIRS, MINE, THEIRS)
    return bench


async def test_ones_own_is_undone_at_once(bench: FakeBench, running: Running) -> None:
    bench.steps_shown = NextSteps(MINE, MINE, None)
    async with running(bench) as pilot:
        await press(pilot, "u")
        assert len(pilot.app.screen_stack) == 1
        assert bench.taken_back == [(False, False, None)]


async def test_anothers_is_asked_about_in_words(others: FakeBench, running: Running) -> None:
    async with running(others) as pilot:
        await press(pilot, "u")
        text = asked(pilot)
        for part in (
            "not yours",
            "The main agent (bot:auto-detect)",
            "01 Feb 18:40",
            THEIRS.summary,
            MINE.summary,
        ):
            assert part in text
        assert not others.taken_back


async def test_many_presses_ask_once(others: FakeBench, running: Running) -> None:
    async with running(others) as pilot:
        for _ in range(3):
            pilot.app.action_undo()  # type: ignore[attr-defined]  # BenchApp
        await settle(pilot)
        assert sum(isinstance(screen, TakingBackScreen) for screen in pilot.app.screen_stack) == 1
        await pilot.press("escape")
        await settle(pilot)
        assert len(pilot.app.screen_stack) == 1
        assert others.taken_back == []


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("t", (False, True, THEIRS.commit)),
        ("m", (True, False, MINE.commit)),
        ("enter", None),
        ("escape", None),
    ],
)
async def test_what_is_chosen_is_taken_back_and_nothing_else(
    others: FakeBench, running: Running, key: str, step: tuple[bool, bool, str | None] | None
) -> None:
    async with running(others) as pilot:
        await press(pilot, "u", key)
        assert len(pilot.app.screen_stack) == 1
        assert others.taken_back == ([] if step is None else [step])
        if key in ("enter", "escape"):
            assert not toasts(pilot)


async def test_without_an_action_of_ones_own_there_is_none_to_choose(
    others: FakeBench, running: Running
) -> None:
    others.steps_shown = NextSteps(THEIRS, None, None)
    async with running(others) as pilot:
        await press(pilot, "u", "m")
        assert "take back my newest" not in asked(pilot)
        assert not others.taken_back


async def test_redo_of_anothers_is_asked_about_too(others: FakeBench, running: Running) -> None:
    async with running(others) as pilot:
        await press(pilot, "U")
        text = asked(pilot)
        assert "What was undone last is not yours" in text
        assert "take back my newest" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("logged “The gale hit”", "logged “The gale hit”"),
        ("changed “…“Wind” to “A”” in Core", "changed “…‘Wind’ to ‘A’” in Core"),
        ("changed “…“Wind” in Core", "changed “…“Wind” in Core"),
        ("a” b “", "a” b “"),
    ],
)
def test_quotation_marks_inside_others_are_single(text: str, expected: str) -> None:
    assert single_inside(text) == expected

"""Finding anything by a few letters, over a real workspace."""

from __future__ import annotations

import pytest

from tests.tui.seen_screen import app_of, press, screen_text
from tests.tui.seen_workspace import FERRY, INES, LEARNED_FROM, looking
from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.tui.screens.find import FindScreen
from workbench.tui.screens.memory import MemoryScreen
from workbench.tui.trail import Place


async def test_an_entity_is_found_before_what_happened_to_it(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "ctrl+p", *"inês")
        found = screen_text(pilot)
        assert found.index("· person") < found.index("Inês was proud of the first full week")
        await press(pilot, *" duarte", "down", "enter")
        assert app_of(pilot).pane.place() == Place("graph", INES)


async def test_what_is_typed_at_once_is_searched_for(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await pilot.press("ctrl+p", *"tide tables, not")
        await settle(pilot)
        assert isinstance(pilot.app.screen, FindScreen)
        await press(pilot, "enter")
        assert app_of(pilot).pane.place().key == LEARNED_FROM


@pytest.mark.parametrize(
    ("typed", "found", "memory"),
    [
        ("cancel sailing", "≡ How to cancel a sailing · procedure", "procedure:how-to-cancel-a-sailing"),
        ("ferry vault", "▣ Why there is a ferry · vault note", "vault:why-there-is-a-ferry.md"),
    ],
)
async def test_what_no_pane_lists_is_found_by_its_title(
    seen: Workspace, typed: str, found: str, memory: str
) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "ctrl+p", *typed)
        assert found in screen_text(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, MemoryScreen)
        assert pilot.app.screen.memory_id == memory


async def test_decay_and_past_are_not_read_for_it(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "ctrl+p", "escape")
        assert not pilot.app.query("#decay, #past")


@pytest.mark.parametrize(
    ("words", "pane"),
    [("see in decay", "decay"), ("see before", "past"), ("show history", "audit")],
)
async def test_commands_on_the_memory_under_the_cursor_are_found(
    seen: Workspace, words: str, pane: str
) -> None:
    async with looking(seen, target=LEARNED_FROM) as pilot:
        await press(pilot, "ctrl+p", *words, "enter")
        assert app_of(pilot).pane.id == pane


async def test_every_pane_is_found_by_its_name(seen: Workspace) -> None:
    async with looking(seen, target=FERRY) as pilot:
        for name in ("Core", "Timeline", "Audit", "Search", "Inbox", "Decay", "Past", "Graph"):
            await press(pilot, "ctrl+p", *name.lower(), "enter")
            assert app_of(pilot).pane.title == name


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_every_pane_is_a_click_away(seen: Workspace, width: int) -> None:
    async with looking(seen, (width, 30)) as pilot:
        for number in (8, 6, 2):
            top = screen_text(pilot).splitlines()[0]
            await pilot.click("#top", offset=(top.index(f" {number} ") + 1, 0))
            await settle(pilot)
            assert app_of(pilot).pane.id == {8: "past", 6: "graph", 2: "timeline"}[number]
            top = screen_text(pilot).splitlines()[0]
            assert f" {number} {app_of(pilot).pane.title} " in top
            assert ("5 Inbox" in top) is (width >= 100)

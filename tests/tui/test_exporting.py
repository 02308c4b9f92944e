"""Export in the bench: to a file or a folder, called off, never left half done."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from tests.tui.test_importing import toasts
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.export import ExportScreen


# --- exporting ------------------------------------------------------------------------------------------------
async def test_all_memory_is_written_to_a_file_or_a_folder(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("O", "enter")
        await settle(pilot)
        assert bench.asked[-1] == ("export", ("~/ria-formosa-2026-02-02.jsonl", False))
        assert "Exported 12 files and 300 memories" in toasts(pilot)
        assert len(pilot.app.screen_stack) == 1
        await pilot.press("O", "tab", "enter")
        await settle(pilot)
        assert bench.asked[-1] == ("export", ("~/ria-formosa-2026-02-02", True))


async def test_a_place_that_is_taken_is_told_and_another_can_be_named(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await pilot.press("O")
        await settle(pilot)
        field = pilot.app.screen.query_one(Input)
        field.value = "/tmp/taken"
        await pilot.press("tab", "enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ExportScreen)
        assert field.value == "/tmp/taken"
        problem = pilot.app.screen.query_one("#export-problem")
        assert "There is something there already. Name a new file." in str(problem.render())
        await pilot.press("escape")
        await settle(pilot)
        assert len(pilot.app.screen_stack) == 1


async def test_an_export_tells_how_far_it_is_and_can_be_called_off(
    bench: FakeBench, running: Running
) -> None:
    bench.may_store.clear()
    async with running(bench) as pilot:
        await pilot.press("O")
        await settle(pilot)
        await pilot.press("enter")
        await pilot.pause()
        said = pilot.app.screen.query_one("#export-as")
        while "25%" not in str(said.render()):
            await pilot.pause(0.01)
        await pilot.press("tab", "c")
        await settle(pilot)
        bench.may_store.set()
        problem = pilot.app.screen.query_one("#export-problem")
        assert "The export was called off." in str(problem.render())
        assert "One file" in str(said.render())
        await pilot.press("c", "enter")
        await settle(pilot)
        assert bench.asked[-1] == ("export", ("~/ria-formosa-2026-02-02.jsonlc", False))
        assert len(pilot.app.screen_stack) == 1


@pytest.mark.parametrize("closed", [False, True])
async def test_leaving_asks_for_an_export_and_waits_until_it_is_cleared_away(
    bench: FakeBench, running: Running, closed: bool
) -> None:
    bench.may_store.clear()
    async with running(bench) as pilot:
        await pilot.press("O")
        await settle(pilot)
        await pilot.press("enter", *(["escape"] if closed else []))
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pilot.press("s")
        await settle(pilot)
    assert bench.asked[-1] == ("called off", "~/ria-formosa-2026-02-02.jsonl")


@pytest.mark.parametrize(
    ("place", "told"),
    [("/tmp/new", "Exported 12 files and 300 memories"), ("/tmp/taken", "There is something there already.")],
)
async def test_what_came_of_it_is_told_also_where_its_card_was_closed_meanwhile(
    bench: FakeBench, running: Running, place: str, told: str
) -> None:
    bench.may_store.clear()
    async with running(bench) as pilot:
        await pilot.press("O")
        await settle(pilot)
        pilot.app.screen.query_one(Input).value = place
        await pilot.press("enter", "escape")
        await pilot.pause()
        assert len(pilot.app.screen_stack) == 1
        bench.may_store.set()
        await settle(pilot)
        assert told in toasts(pilot)

"""Import in the bench: a place is chosen, looked at, brought in, taken back; by keys or mouse."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.fake_importing import IMPORTED, PREVIEW, SOURCE
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.engine import FixedClock, Workspace
from workbench.engine.errors import DocumentError
from workbench.engine.results.transfer import Imported
from workbench.tui.app import BenchApp
from workbench.tui.import_work import ImportWork
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.import_source import ImportSourceScreen
from workbench.tui.screens.importing import ImportScreen
from workbench.tui.views.importing import import_lines, import_words
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.status_line import StatusLine
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.tui.workspace_bench import WorkspaceBench


def app_of(pilot: Pilot[None]) -> BenchApp:
    assert isinstance(pilot.app, BenchApp)
    return pilot.app


def shown(pilot: Pilot[None]) -> str:
    detail = pilot.app.screen.query_one(Detail)
    return "\n".join(detail.render_line(y).text for y in range(detail.size.height))


def keys(pilot: Pilot[None]) -> str:
    return plain_text(pilot.app.screen.query_one(StatusLine).line)


def bottom(pilot: Pilot[None]) -> str:
    return plain_text(pilot.app.screen_stack[0].query_one("#bottom", StatusLine).line)


def toasts(pilot: Pilot[None]) -> str:
    return "\n".join(each.message for each in pilot.app._notifications)


async def over(pilot: Pilot[None]) -> None:
    """Wait until nothing is imported any more."""
    app = app_of(pilot)
    while app.import_work is not None and app.import_work.running:
        await asyncio.sleep(0.002)
    await settle(pilot)


async def choose(pilot: Pilot[None]) -> None:
    """Choose the first place that is offered, and look at it."""
    await pilot.press("I")
    await settle(pilot)
    await pilot.press("enter")
    await over(pilot)


# --- the way there --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pane", ["1", "2", "4"])
async def test_it_is_found_in_the_palette_wherever_one_stands(running: Running, pane: str) -> None:
    async with running(FakeBench.empty()) as pilot:
        await pilot.press(pane, "ctrl+p", *"import memory")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ImportSourceScreen)


@pytest.mark.parametrize(("pane", "way"), [("2", "I"), ("4", "^p import")])
async def test_an_empty_pane_leads_there_by_the_mouse(running: Running, pane: str, way: str) -> None:
    async with running(FakeBench.empty()) as pilot:
        await pilot.press(pane)
        await settle(pilot)
        rows = app_of(pilot).pane.query_one(VirtualList)
        lines = [rows.render_line(y).text for y in range(rows.size.height)]
        at = next(y for y, line in enumerate(lines) if line.strip() == way)
        await pilot.click(rows, offset=(1, at))
        await settle(pilot)
        assert len(pilot.app.screen_stack) == 1, "a click beside it means nothing"
        await pilot.click(rows, offset=(3, at))
        await settle(pilot)
        assert isinstance(pilot.app.screen, ImportSourceScreen)


async def test_known_places_are_offered_and_nothing_is_read_before_one_is_chosen(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await pilot.press("I")
        await settle(pilot)
        rows = pilot.app.screen.query_one(VirtualList)
        assert [rows.rows.key(at) for at in range(len(rows.rows))] == ["", SOURCE, "~/.claude"]
        await pilot.press(*"claude")
        await settle(pilot)
        assert rows.cursor_key == "~/.claude"
        assert bench.asked == []
        await pilot.press("enter")
        await over(pilot)
        assert bench.asked[0] == ("preview", ("~/.claude", "memories"))


async def test_a_path_is_completed_as_it_is_typed(
    bench: FakeBench, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Downloads").mkdir()
    (tmp_path / "Downloads" / "chats [bold].zip").write_bytes(b"")
    (tmp_path / "Documents").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    async with running(bench) as pilot:
        await pilot.press("I", "tilde", "slash", "d")
        await settle(pilot)
        rows = pilot.app.screen.query_one(VirtualList)
        assert [rows.rows.key(at) for at in range(len(rows.rows))] == ["~/Downloads/", "~/Documents"]
        await pilot.press("tab")
        await settle(pilot)
        assert pilot.app.screen.query_one(FilterBar).text == "~/Downloads/"
        await pilot.press("c", "tab")
        await settle(pilot)
        assert pilot.app.screen.query_one(FilterBar).text == "~/Downloads/chats [bold].zip"
        await pilot.press("enter")
        await over(pilot)
        assert bench.asked[0] == ("preview", ("~/Downloads/chats [bold].zip", "memories"))
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.screen.query_one(FilterBar).text == "~/Downloads/chats [bold].zip"


async def test_what_is_not_there_is_asked_for_all_the_same(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("I", *"/no/such", "enter")
        await settle(pilot)
        await over(pilot)
        assert bench.asked[0] == ("preview", ("/no/such", "memories"))


# --- looking --------------------------------------------------------------------------------------------------


async def test_a_preview_tells_what_would_come_in_and_what_not_and_why(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (120, 50)) as pilot:
        await choose(pilot)
        text = shown(pilot)
        for words in (
            "memory of OpenClaw", "1,204 episodes", "from 12 Mar 2025 to 30 Jan 2026", "12 notes",
            "memory/imports/openclaw/", "340 known", "3 left out", "The boat keys are with Tomás.",
            "workspace/SOUL.md", "It instructs the agent",
        ):  # fmt: skip
            assert words in text, words
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert [call for call, _ in bench.asked] == ["preview", "looked"]


async def test_what_becomes_of_it_is_chosen_before(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await choose(pilot)
        assert "t as episodes instead" in keys(pilot)
        bench.found = replace(PREVIEW, imported_as="episodes", episodes=1216, notes=0)
        await pilot.press("t")
        await over(pilot)
        assert "1,216 episodes" in shown(pilot)
        bench.found = replace(PREVIEW, imported_as="proposals")
        await pilot.press("t")
        await over(pilot)
        assert "1,204 proposals" in shown(pilot)
        assert "waits in the Inbox" in shown(pilot)
        bench.brought = replace(IMPORTED, imported_as="proposals", added=100, complete=False)
        await pilot.press("w")
        await over(pilot)
        assert "✓ 100 proposals came in" in shown(pilot)
        assert "decide on these and import again" in shown(pilot)
        await pilot.press("tab", "tab", "enter")
        await settle(pilot)
        assert app_of(pilot).pane.id == "inbox"
        assert [what for call, what in bench.asked if call == "import"] == [(SOURCE, "proposals")]


async def test_looking_is_left_at_once_and_comes_to_nothing(bench: FakeBench, running: Running) -> None:
    bench.may_read.clear()
    async with running(bench) as pilot:
        await pilot.press("I")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "25% · 26.2 MB of 104.9 MB · 301 new · 85 known" in shown(pilot)
        left = app_of(pilot).import_work
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ImportSourceScreen)
        bench.may_read.set()
        await over(pilot)
        assert ("looked", True) in bench.asked
        assert left is not None
        assert left.preview is None


async def test_another_place_is_looked_at_while_the_first_is_still_being_read(
    bench: FakeBench, running: Running
) -> None:
    bench.may_read.clear()
    async with running(bench) as pilot:
        await pilot.press("I")
        await settle(pilot)
        await pilot.press("enter", "escape", "down", "enter")
        await settle(pilot)
        assert "~/.claude" in shown(pilot)
        bench.may_read.set()
        await over(pilot)
        assert "1,204 episodes" in shown(pilot)
        assert {what for call, what in bench.asked if call == "looked"} == {False, True}


async def test_what_is_broken_is_told_with_its_remedy_and_cannot_be_brought_in(
    bench: FakeBench, running: Running
) -> None:
    bench.found = DocumentError("The archive is damaged.", where="chats.zip", remedy="Download it again.")
    async with running(bench) as pilot:
        await choose(pilot)
        assert "This cannot be imported" in shown(pilot)
        assert "The archive is damaged. Download it again." in shown(pilot)
        await pilot.press("w")
        await settle(pilot)
        assert "import" not in [call for call, _ in bench.asked]
        assert keys(pilot).split() == ["esc", "back"]


async def test_where_nothing_is_new_there_is_nothing_to_bring_in(bench: FakeBench, running: Running) -> None:
    bench.found = replace(PREVIEW, episodes=0, notes=0, samples=())
    async with running(bench) as pilot:
        await choose(pilot)
        assert "Nothing of it is new." in shown(pilot)
        assert "bring it in" not in keys(pilot)


# --- bringing in ----------------------------------------------------------------------------------------------


async def test_it_comes_in_with_a_report_and_the_mouse_does_as_well(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (120, 40)) as pilot:
        await choose(pilot)
        line = pilot.app.screen.query_one(StatusLine)
        await pilot.click(line, offset=(keys(pilot).index("bring it in"), 0))
        await over(pilot)
        text = shown(pilot)
        assert "✓ 1,216 memories came in" in text
        assert "2 commits, the last bbbbbbbbbb   u takes all of it back" in text
        assert "Left out: 3" in text
        await pilot.press("tab", "tab", "enter")
        await settle(pilot)
        assert app_of(pilot).pane.id == "timeline"
        assert len(pilot.app.screen_stack) == 1


async def test_the_report_leads_back_out_of_it(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("n", *"A new item", "enter")
        await settle(pilot)
        await choose(pilot)
        await pilot.press("w")
        await over(pilot)
        await pilot.press("u")
        await settle(pilot)
        assert bench.calls[-1] == ("undo", None)
        assert len(pilot.app.screen_stack) == 1


async def test_it_goes_on_when_closed_and_its_end_is_told(bench: FakeBench, running: Running) -> None:
    bench.may_store.clear()
    async with running(bench, (200, 40)) as pilot:
        await choose(pilot)
        await pilot.press("w")
        await settle(pilot)
        assert "25% · 26.2 MB of 104.9 MB" in shown(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert len(pilot.app.screen_stack) == 1
        assert "import 25%" in bottom(pilot)
        await pilot.click("#bottom", offset=(bottom(pilot).index("import 25%"), 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, ImportScreen)
        await pilot.press("escape")
        bench.may_store.set()
        await over(pilot)
        assert "Imported 1,216 new memories from .openclaw, 3 left out." in toasts(pilot)
        assert len(pilot.app._notifications) == 1
        assert "import" not in bottom(pilot)


@pytest.mark.parametrize(
    ("brought", "told"),
    [
        (replace(IMPORTED, added=1), "Imported 1 new memory from .openclaw, 3 left out."),
        (replace(IMPORTED, added=0, left_out_count=0), "Imported 0 new memories from .openclaw."),
        (replace(IMPORTED, imported_as="proposals"), "Imported 1,216 new proposals from"),
        (replace(IMPORTED, form="workbench"), "Imported 1,216 new files from"),
    ],
)
def test_what_came_of_it_in_one_sentence(bench: FakeBench, brought: Imported, told: str) -> None:
    work = ImportWork(bench, SOURCE, "memories", lambda: None)
    work.imported = brought
    assert told in import_words(work)


async def test_it_can_be_stopped_and_says_what_stands(bench: FakeBench, running: Running) -> None:
    bench.may_store.clear()
    bench.brought = replace(IMPORTED, complete=False)
    async with running(bench) as pilot:
        await choose(pilot)
        await pilot.press("w", "c")
        await settle(pilot)
        assert "stopping…" in shown(pilot)
        bench.may_store.set()
        await over(pilot)
        assert ("stored", True) in bench.asked
        assert "what came in by then stays" in shown(pilot)


async def test_leaving_asks_before_it_is_done(bench: FakeBench, running: Running) -> None:
    bench.may_store.clear()
    async with running(bench) as pilot:
        await choose(pilot)
        await pilot.press("w", "ctrl+q")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ImportScreen)
        await pilot.press("ctrl+q", "s")
        await settle(pilot)
        assert pilot.app._exit
        bench.may_store.set()


async def test_what_goes_wrong_midway_says_that_it_can_go_on(bench: FakeBench, running: Running) -> None:
    bench.brought = DocumentError("The disk is full.", remedy="Make room.")
    async with running(bench) as pilot:
        await choose(pilot)
        await pilot.press("w")
        await over(pilot)
        assert "The disk is full. Make room." in shown(pilot)
        assert "import again, and the rest comes" in shown(pilot)
        assert keys(pilot).split() == ["esc", "close"]


async def test_a_real_folder_comes_in_and_is_taken_back(
    tmp_path: Path, seen_clock: FixedClock, running: Running
) -> None:
    claw = tmp_path / "claw"
    (claw / "memory").mkdir(parents=True)
    (claw / "MEMORY.md").write_text("# M\n\n- Drinks tea\n- Sails\n")
    (claw / "SOUL.md").write_text("# S\n\nBe kind.\n")
    root = tmp_path / "workspace"
    Workspace.init(root, clock=seen_clock, timezone="Europe/Lisbon")
    with Workspace.open(root, role="person", clock=seen_clock, reads_refresh=False) as workspace:
        async with running(WorkspaceBench(workspace)) as pilot:
            await pilot.press("I", *str(claw), "enter")
            await settle(pilot)
            await over(pilot)
            assert "2 episodes" in shown(pilot)
            assert "SOUL.md" in shown(pilot)
            await pilot.press("w")
            await over(pilot)
            assert "✓ 2 memories came in" in shown(pilot)
            await pilot.press("u")
            await settle(pilot)
            assert not workspace.timeline().entries


def test_every_state_fits_its_width() -> None:
    bench = FakeBench.empty()
    work = ImportWork(bench, "~/" + "a-long-name/" * 20, "memories", lambda: None)
    states: list[dict[str, object]] = [
        {"preview": PREVIEW},
        {"preview": PREVIEW, "storing": True, "imported": IMPORTED},
        {
            "preview": PREVIEW,
            "storing": True,
            "imported": replace(IMPORTED, complete=False, warnings=("x " * 90,)),
        },
        {"problem": "It is damaged. " * 20},
    ]
    for state in states:
        for name, value in state.items():
            setattr(work, name, value)
        for width in (24, 60, 96, 160):
            lines = import_lines(work, width)
            assert lines
            assert all(line_width(line) <= width for line in lines), (state, width)

"""The Past pane on a real workspace: bringing back one thing or everything, and taking that back."""

from __future__ import annotations

from pathlib import Path

from tests.tui.past_hands import detail, go, listed, open_past, pane, top
from tests.tui.seen_workspace import FERRY, NOW, looking, open_seen
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.tui.screens.going_back import GoingBackScreen
from workbench.tui.widgets.lines import Lines

LATER = "core:persona:always-a-date-on-a-timetable"


def toasts(pilot: object) -> str:
    return " ".join(str(toast.message) for toast in pilot.app._notifications)  # type: ignore[attr-defined]  # a pilot


async def test_one_memory_comes_back_and_undo_takes_it_away_again(seen: Workspace, seen_folder: Path) -> None:
    path = seen_folder / "memory/graph/entities/project--ferry.md"
    before = path.read_bytes()
    commits = len(seen.history_line().commits)
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t", "t")
        await go(pilot, "2026-01-05")
        moment = pane(pilot).moment
        then = pane(pilot).reader._past(pane(pilot).commit).get("memory/graph/entities/project--ferry.md")
        assert then != before
        pane(pilot).list.go_to(FERRY)
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert path.read_bytes() == then
        assert len(seen.history_line().commits) == commits + 1
        assert "as it was" in toasts(pilot)
        assert pane(pilot).moment == moment
        await pilot.press("u")
        await settle(pilot)
        assert path.read_bytes() == before


async def test_one_file_comes_back_byte_for_byte(seen: Workspace, seen_folder: Path) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("T")
        await go(pilot, "2026-01-31")
        assert pane(pilot).list.go_to("file:MEMORY.md")
        then = pane(pilot).reader._past(pane(pilot).commit).get("MEMORY.md")
        assert (seen_folder / "MEMORY.md").read_bytes() != then
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert (seen_folder / "MEMORY.md").read_bytes() == then
        assert "MEMORY.md is as it was" in toasts(pilot)


async def test_everything_goes_back_after_saying_what_that_changes(
    seen: Workspace, seen_folder: Path
) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await go(pilot, "2026-01-11")
        then = pane(pilot).commit
        await pilot.press("R")
        await settle(pilot)
        assert isinstance(pilot.app.screen, GoingBackScreen)
        asked = "\n".join(
            "".join(span.text for span in line) for line in pilot.app.screen.query_one(Lines).lines(58)
        )
        assert "Go back to" in asked
        episodes = sum(
            each.store == "episodic" and each.change == "added" for each in seen.compare(then).memories
        )
        assert f"−{episodes} go" in asked
        assert "one commit" in asked
        await pilot.press("escape")
        await settle(pilot)
        assert pane(pilot).commit == then
        commits = len(seen.history_line().commits)
        files = seen.head()
        await pilot.press("R")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert len(seen.history_line().commits) == commits + 1
        assert not seen.compare(then).memories
        assert pane(pilot).is_now
        assert "◷" not in top(pilot)
        assert "as it was" in toasts(pilot)
        assert (
            "sails by the clock alone"
            in (seen_folder / "memory/graph/entities/project--ferry.md")
            .read_text(encoding="utf-8")
            .partition("## Superseded")[0]
        )
        await pilot.press("u")
        await settle(pilot)
        assert files is not None
        assert not seen.compare(files).memories


async def test_nothing_to_restore_at_now(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        commits = len(seen.history_line().commits)
        await pilot.press("t", "r", "R", "n", "x", "equals_sign")
        await settle(pilot)
        assert len(seen.history_line().commits) == commits
        assert len(pilot.app.screen_stack) == 1


async def test_a_moment_that_reads_as_now_asks_nothing(seen: Workspace, seen_folder: Path) -> None:
    with open_seen(seen_folder, FixedClock(NOW)) as other:
        other.remember("Said and taken back", store="episodic")
        other.undo()
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("left", "left")
        await settle(pilot)
        assert "Nothing differs" in listed(pilot)
        await pilot.press("R")
        await settle(pilot)
        assert len(pilot.app.screen_stack) == 1
        assert "reads the same" in toasts(pilot)


async def test_a_reader_is_refused_cleanly(seen_folder: Path, seen_clock: FixedClock) -> None:
    with open_seen(seen_folder, seen_clock, role="reader") as reader:
        async with looking(reader) as pilot:
            await open_past(pilot)
            await pilot.press("t")
            await go(pilot, "2026-01-20")
            commits = len(reader.history_line().commits)
            await pilot.press("r")
            await settle(pilot)
            assert len(reader.history_line().commits) == commits
            assert pilot.app._notifications
            assert "Identity" in listed(pilot)
            assert "as it was" in detail(pilot)

"""The Past pane on a real workspace: travelling, looking at memory as it was, and comparing."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.past_hands import detail, go, listed, open_past, pane, ribbon, top
from tests.tui.seen_screen import app_of, press, screen_text, toasts
from tests.tui.seen_workspace import (
    ALONE,
    ARCHIVED,
    BELIEVED,
    FERRY,
    LEARNED_FROM,
    NOW,
    looking,
    open_seen,
)
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.tui.panes.audit import AuditPane
from workbench.tui.panes.core import CorePane
from workbench.tui.views.status import bottom_line
from workbench.tui.widgets.scrubber import Scrubber


async def test_it_opens_at_now_and_says_so(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        assert pane(pilot).is_now
        assert top(pilot).rstrip().endswith("now")
        assert "← goes back in time" in ribbon(pilot)
        assert [each for each in ("people", "agents", "reflection") if each in ribbon(pilot)] == [
            "people", "agents", "reflection",
        ]  # fmt: skip
        assert "Dec" in ribbon(pilot)
        assert "A gale is announced for Thursday" in listed(pilot)
        assert "→ now" in listed(pilot, head=True)


async def test_a_step_back_names_the_moment_everywhere(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press(*["left"] * 5)
        await settle(pilot)
        moment = pane(pilot).moment
        assert moment is not None
        assert f"◷ {moment.day} " in top(pilot)
        assert "ago ▲" in ribbon(pilot)
        assert f"of {len(seen.history_line().commits)}" in ribbon(pilot)
        await pilot.press("1")
        await settle(pilot)
        assert top(pilot).rstrip().endswith("now")
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert pane(pilot).moment == moment
        assert "◷" in top(pilot)
        await pilot.press("n")
        await settle(pilot)
        assert pane(pilot).is_now
        assert "◷" not in top(pilot)


async def test_core_memory_as_it_was(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert "Always a date on a timetable" in listed(pilot)
        await go(pilot, "2026-01-20")
        assert "Always a date on a timetable" not in listed(pilot)
        assert "as it was 19 Jan 2026" in listed(pilot, head=True)
        pane(pilot).list.go_to("core:identity:name")
        await settle(pilot)
        assert "Inês Duarte" in detail(pilot)
        assert "◷ as it was" in detail(pilot)


async def test_the_graph_as_it_was_is_drawn(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t", "t")
        await go(pilot, "2026-01-05")
        pane(pilot).list.go_to(FERRY)
        await settle(pilot)
        text = detail(pilot, 60)
        assert "┏" in text or "╭" in text
        assert "sails by the clock alone" in text
        assert "by the tide tables" not in text
        await go(pilot, "now")
        assert "by the tide tables" in detail(pilot, 60)


async def test_scores_and_files_as_they_were(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t", "t", "t")
        await go(pilot, "2025-12-20")
        assert pane(pilot).list.go_to(ARCHIVED)
        await settle(pilot)
        assert "archived" not in next(line for line in listed(pilot).splitlines() if "seal" in line)
        assert LEARNED_FROM not in pane(pilot).list.rows._keys  # type: ignore[attr-defined]  # of KeyedRows
        await pilot.press("t")
        await settle(pilot)
        assert pane(pilot).list.go_to("file:SOUL.md")
        await settle(pilot)
        assert "You are calm and exact" in detail(pilot)
        assert "◷ as it was 20 Dec 2025" in detail(pilot)


async def test_what_differs_from_now_and_from_a_mark(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await go(pilot, "2026-01-11")
        assert "→ now" in listed(pilot, head=True)
        assert pane(pilot).list.go_to(BELIEVED)
        await settle(pilot)
        assert "Not there yet on " in detail(pilot)
        assert "there now" in detail(pilot)
        assert "came" in listed(pilot)
        await pilot.press("equals_sign")
        await go(pilot, "2026-01-13")
        assert "◇" in ribbon(pilot)
        assert "+" in listed(pilot)
        assert pane(pilot).list.go_to(BELIEVED)
        assert not pane(pilot).list.go_to("core:persona:always-a-date-on-a-timetable")
        here = pane(pilot).at
        await pilot.press("x")
        await settle(pilot)
        assert pane(pilot).mark == here
        assert pane(pilot).list.go_to(BELIEVED)
        await pilot.press("x", "equals_sign", "equals_sign")
        await settle(pilot)
        assert pane(pilot).mark is None


async def test_at_the_marked_moment_itself_it_says_what_that_change_did(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await go(pilot, "2026-01-12 10:15")
        # Two files were edited in that minute, the one about the ferry first.
        await pilot.press("left", "equals_sign")
        await settle(pilot)
        assert pane(pilot).list.go_to(BELIEVED)
        assert not pane(pilot).list.go_to(LEARNED_FROM)


async def test_day_by_day_first_and_last(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("less_than_sign")
        await settle(pilot)
        moment = pane(pilot).moment
        assert moment is not None
        assert (moment.month, moment.day) == (1, 31)
        await pilot.press("shift+right")
        assert pane(pilot).is_now
        pane(pilot).query_one(Scrubber).focus()
        await pilot.press("home")
        await settle(pilot)
        assert pane(pilot).at == 0
        assert "This is the first moment" not in listed(pilot)
        await pilot.press("end")
        await settle(pilot)
        assert pane(pilot).is_now
        await pilot.press("down")
        await settle(pilot)
        assert pane(pilot).list.has_focus


async def test_the_mouse_seeks_drags_and_turns(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.mouse_down("#past-scrubber", offset=(16, 1))
        await settle(pilot)
        assert pane(pilot).at < 5
        before = pane(pilot).at
        await pilot.hover("#past-scrubber", offset=(60, 1))
        await settle(pilot)
        assert pane(pilot).at > before
        await pilot.mouse_up("#past-scrubber", offset=(60, 1))
        dragged = pane(pilot).at
        await pilot.hover("#past-scrubber", offset=(90, 1))
        await settle(pilot)
        assert pane(pilot).at == dragged
        window = pane(pilot).window
        await pilot.press("plus")
        await settle(pilot)
        assert window is not None
        assert pane(pilot).window != window
        assert "‹" in ribbon(pilot) or "›" in ribbon(pilot)
        await pilot.press("minus")
        assert pane(pilot).window == window
        await pilot.click("#past-views", offset=(18, 0))
        await settle(pilot)
        assert "Identity" not in listed(pilot)
        assert "project" in listed(pilot)


async def test_the_ways_from_here(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t")
        await go(pilot, "2026-01-20")
        pane(pilot).list.go_to("core:identity:name")
        await settle(pilot)
        await pilot.press("P")
        await settle(pilot)
        core = pilot.app.query_one(CorePane)
        assert core.display
        assert core.list.cursor_key == "core:identity:name"
        await pilot.press("8")
        await settle(pilot)
        assert pane(pilot).list.cursor_key == "core:identity:name"
        assert not pane(pilot).is_now
        await pilot.press("h")
        await settle(pilot)
        audit = pilot.app.query_one(AuditPane)
        assert audit.display
        assert audit.filter_bar.text == "file:MEMORY.md"
        await pilot.press("8")
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        assert audit.display
        assert audit.filter_bar.text.startswith("commit:")


async def test_a_link_leads_to_a_memory_before_a_change(seen: Workspace) -> None:
    learned = next(
        entry.commit
        for entry in seen.audit_log(file="memory/graph/entities/project--ferry.md").entries
        if entry.timestamp.date().isoformat() == "2026-01-12"
    )
    async with looking(seen) as pilot:
        await open_past(pilot)
        pane(pilot).go_to(f"{BELIEVED}@{learned}^")
        await settle(pilot)
        assert pane(pilot).list.cursor_key == FERRY
        assert "sails by the clock alone" in detail(pilot, 60)
        pane(pilot).go_to("0123456789ab")
        await settle(pilot)
        assert any("no change 0123456789ab" in str(toast.message) for toast in pilot.app._notifications)


async def test_a_memory_that_was_not_there_yet_is_said_so_and_found_when_it_comes(seen: Workspace) -> None:
    learned = next(
        entry.commit
        for entry in seen.audit_log(file="memory/episodes/2026-01-12.md").entries
        if entry.action == "CREATE"
    )
    async with looking(seen) as pilot:
        await open_past(pilot)
        pane(pilot).go_to(f"{LEARNED_FROM}@{learned}^")
        await settle(pilot)
        toasts = [str(toast.message) for toast in pilot.app._notifications]
        assert any(f"{LEARNED_FROM} was not there" in text for text in toasts)
        await pilot.press("right")
        await settle(pilot)
        assert pane(pilot).list.cursor_key == LEARNED_FROM
        assert len(pilot.app._notifications) == len(toasts)


async def test_a_filter_holds_at_every_moment(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t", "t", "slash", *"ferry")
        await settle(pilot)
        assert "1 of" in str(pane(pilot).filter_bar.query_one("#filter-count").render())
        assert "Ferry" in listed(pilot)
        await pilot.press("enter", "left")
        await settle(pilot)
        assert "Radar" not in listed(pilot)
        await pilot.press("slash", *"zzz")
        await settle(pilot)
        assert "Nothing matches" in listed(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert "Radar" in listed(pilot)


async def test_memory_that_changes_moves_nobody_in_the_past(
    seen: Workspace, seen_folder: Path, seen_clock: FixedClock
) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await go(pilot, "2026-01-20")
        commit, count = pane(pilot).commit, len(seen.history_line().commits)
        with open_seen(seen_folder, seen_clock) as other:
            other.remember("The gale has passed", store="episodic")
        pilot.app.query_one(type(pane(pilot))).reload()
        await settle(pilot)
        assert pane(pilot).commit == commit
        assert f"of {count + 1}" in ribbon(pilot)
        await pilot.press("n")
        await settle(pilot)
        assert "The gale has passed" in listed(pilot)


async def test_scrubbing_reads_only_where_one_rests(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        asked: list[str] = []
        compare = pane(pilot).bench.compare
        pane(pilot).bench.compare = lambda older, newer=None: asked.append(older) or compare(older, newer)  # type: ignore[func-returns-value, method-assign]  # a spy
        start = pane(pilot).at
        for step in range(30):
            pane(pilot).travel(start - 1 - step)
        await settle(pilot)
        assert pane(pilot).at == start - 30
        assert len(asked) <= 2
        assert asked[-1] == pane(pilot).commit


async def test_a_clock_that_went_back_is_told_in_the_order_of_history(
    seen: Workspace, seen_folder: Path
) -> None:
    with open_seen(seen_folder, FixedClock(NOW - timedelta(days=20))) as early:
        early.remember("Written by a clock that is wrong", store="episodic")
    async with looking(seen) as pilot:
        await open_past(pilot)
        assert "clock went back" in ribbon(pilot)
        assert "Written by a clock" in ribbon(pilot)
        assert pane(pilot).is_now
        await pilot.press("left")
        await settle(pilot)
        assert "clock went back" not in ribbon(pilot)


async def test_no_history_teaches(running: Running) -> None:
    async with running(FakeBench.filled()) as pilot:
        await pilot.press("8")
        await settle(pilot)
        assert "There is no past yet" in listed(pilot)
        await pilot.press(
            "left", "right", "n", "t", "equals_sign", "x", "r", "R", "g", "c", "plus", "less_than_sign"
        )
        await settle(pilot)
        assert "There is no past yet" in listed(pilot)


async def test_one_commit_teaches(tmp_path: Path, seen_clock: FixedClock, seen_folder: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("## Identity\n- Name: Zé\n", encoding="utf-8")
    Workspace.init(folder, clock=seen_clock)
    with open_seen(folder, seen_clock) as workspace:
        async with looking(workspace) as pilot:
            await open_past(pilot)
            assert "This is the first moment" in listed(pilot)
            await pilot.press("left", "less_than_sign")
            await settle(pilot)
            assert pane(pilot).is_now
            await pilot.press("t")
            await settle(pilot)
            assert "Zé" in listed(pilot)


async def test_a_damaged_history_says_so_in_its_place_and_the_rest_can_be_seen(
    seen: Workspace, seen_folder: Path
) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        shutil.rmtree(seen_folder / ".audit" / "objects")
        (seen_folder / ".audit" / "objects").mkdir()
        pane(pilot).travel(3)
        await settle(pilot)
        text = listed(pilot) + str([toast.message for toast in pilot.app._notifications])
        assert "history" in text.casefold()
        await pilot.press("1")
        await settle(pilot)
        assert pilot.app.query_one(CorePane).display


async def test_the_line_of_keys_fits_every_width(seen: Workspace) -> None:
    async with looking(seen, (80, 24)) as pilot:
        await open_past(pilot)
        await pilot.press("left")
        await settle(pilot)
        keys = pilot.app.shown_keys()  # type: ignore[attr-defined]  # of the bench
        line, _ = bottom_line(pilot.app.status, keys, 80)  # type: ignore[attr-defined]  # of the bench
        text = "".join(span.text for span in line)
        for word in ("earlier", "later", "restore", "view", "help"):
            assert word in text


async def test_one_at_a_time_below_and_beside(seen: Workspace) -> None:
    async with looking(seen, (80, 24)) as pilot:
        await open_past(pilot)
        await pilot.press("left", "left", "t")
        await settle(pilot)
        assert pane(pilot).list.size.height >= 12
        await pilot.press("enter")
        await settle(pilot)
        assert "◷ as it was" in detail(pilot)
        assert "▲" in ribbon(pilot)
        await pilot.press("escape")
        for size in ((100, 34), (120, 40), (200, 50), (60, 16)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert "▲" in ribbon(pilot)
            assert pane(pilot).list.size.height > 3


async def test_an_entity_alone_is_shown_without_a_drawing(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await open_past(pilot)
        await pilot.press("t", "t")
        await settle(pilot)
        pane(pilot).list.go_to(ALONE)
        await settle(pilot)
        assert "too far out for the ferry" in detail(pilot)


async def test_a_history_that_cannot_be_read_is_a_notice_and_never_an_empty_one(
    seen: Workspace, seen_folder: Path
) -> None:
    for stored in (seen_folder / ".audit" / "objects").rglob("*"):
        if stored.is_file():
            stored.chmod(0o644)
            stored.write_bytes(b"no object")
    async with looking(seen, (120, 40)) as pilot:
        status = app_of(pilot).status
        assert status is not None
        assert status.role == "person"
        assert any("history is damaged" in notice for notice in status.notices)
        assert "reading…" not in screen_text(pilot)
        await press(pilot, "3")
        assert "history is damaged" in screen_text(pilot)
        assert "Nothing has been changed yet" not in screen_text(pilot)
        app_of(pilot).clear_notifications()
        await press(pilot, "6", "B")
        assert "does not know this memory yet" not in toasts(pilot)
        assert "history is damaged" in toasts(pilot)

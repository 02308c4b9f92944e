"""The Audit pane: what waits first, who did what, how it differs, and taking it back."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import NOW, FakeBench
from tests.tui.stillness import settle
from workbench.display.ink import line_width, plain_text
from workbench.engine import Workspace
from workbench.engine.clock import FixedClock
from workbench.engine.errors import Stale
from workbench.tui.app import BenchApp
from workbench.tui.bench import AuditEntry
from workbench.tui.panes.audit import AuditPane
from workbench.tui.views.audit import AuditRows, action_key
from workbench.tui.views.status import bottom_line
from workbench.tui.workspace_bench import WorkspaceBench


def pane(pilot: Pilot[None]) -> AuditPane:
    return pilot.app.query_one(AuditPane)


def listed(pilot: Pilot[None]) -> str:
    return "\n".join(pane(pilot).list.render_line(y).text for y in range(30))


def read(pilot: Pilot[None]) -> str:
    return "\n".join(pane(pilot).detail.render_line(y).text for y in range(36))


async def test_alerts_stand_first_and_are_acknowledged(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        assert listed(pilot).lstrip().startswith("Needs your word")
        assert "Was this meant?" in read(pilot)
        assert "− Never send mail without asking" in read(pilot)
        await pilot.press("a")
        await settle(pilot)
        await settle(pilot)
        assert bench.calls == [("acknowledge", ("a-7",))]
        assert "Needs your word" not in listed(pilot)
        await pilot.press("a")
        await settle(pilot)
        assert len(bench.calls) == 1


async def test_an_alert_about_history_says_what_examines_it_and_takes_nothing_back(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    with Workspace.open(tmp_path, role="person", clock=clock) as workspace:
        workspace.remember("The gale hit at noon", store="episodic")
        workspace.remember("The ferry was late", store="episodic")
    newest = subprocess.run(
        ["git", f"--git-dir={tmp_path / '.audit'}", "rev-parse", "HEAD~1"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    (tmp_path / ".audit/refs/heads/main").write_text(newest)
    with Workspace.open(tmp_path, role="person", clock=clock) as workspace:
        workspace.audit_log()
        async with BenchApp(WorkspaceBench(workspace)).run_test(size=(150, 40)) as pilot:
            await settle(pilot)
            await pilot.press("3")
            await settle(pilot)
            assert listed(pilot).lstrip().startswith("Needs your word")
            told = " ".join(read(pilot).split())
            assert "History was rewritten by someone else" in told
            assert "workbench audit verify" in told
            before = workspace.head()
            await pilot.press("R")
            await settle(pilot)
            assert workspace.head() == before
            await pilot.press("a")
            await settle(pilot)
            assert workspace.alerts_waiting() == ()


async def test_a_history_that_is_gone_is_told(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    with Workspace.open(tmp_path, role="person", clock=clock) as workspace:
        workspace.remember("The gale hit at noon", store="episodic")
        shutil.rmtree(tmp_path / ".audit")
        async with BenchApp(WorkspaceBench(workspace)).run_test(size=(150, 40)) as pilot:
            await settle(pilot)
            await pilot.press("3")
            await settle(pilot)
            assert "The history is gone" in listed(pilot)


async def test_filter_by_actor_action_file_and_time(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        for typed, expected in (
            ("actor:reflection", 1),
            ("action:edit file:memory.md", 2),
            ("since:2026-02-02", 4),
            ("until:2025-12", 1),
            ("-actor:bot tide", 0),
        ):
            pane(pilot).filter_bar.set_text(typed)
            await settle(pilot)
            assert (
                sum(bool(pane(pilot).list.rows.key(at)) for at in range(len(pane(pilot).list.rows)))
                == expected
            ), typed


async def test_a_change_is_read_reverted_and_traced(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        await pilot.press("down", "down", "down")
        await settle(pilot)
        text = read(pilot)
        assert "bot:trigger-remember" in text
        assert "+ - Tide gauge reads 4 cm low" in text
        await pilot.press("R")
        await settle(pilot)
        commit = next(
            entry.commit for entry in bench.entries if entry.summary.startswith("tide gauge offset")
        )
        assert bench.calls == [("revert", commit)]
        await pilot.press("h")
        await settle(pilot)
        assert pane(pilot).filter_bar.text == "file:MEMORY.md"
        await pilot.press("o")
        await settle(pilot)
        assert pilot.app.query_one("#core").display
        await pilot.press("h")
        await settle(pilot)
        assert pane(pilot).display


async def test_the_status_line_leads_to_the_alert(bench: FakeBench, running: Running) -> None:
    async with running(bench, (100, 30)) as pilot:
        await pilot.click("#bottom", offset=(4, 0))
        await settle(pilot)
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "alert:a-7"
        await pilot.click("#top", offset=(15, 0))
        await settle(pilot)
        assert pilot.app.query_one("#core").display


async def test_an_empty_log_teaches(running: Running) -> None:
    async with running(FakeBench.empty()) as pilot:
        await pilot.press("3")
        await settle(pilot)
        assert "Nothing has been changed yet" in listed(pilot)
        assert "workbench init" in listed(pilot)


def entries_of(actor: str, commits: int, group: str, *, ago: int = 1) -> list[AuditEntry]:
    """Return the entries of an action in so many commits on two files each, newest first."""
    return [
        AuditEntry(
            NOW - timedelta(days=ago, minutes=commits - number),
            "EDIT",
            f"memory/graph/entities/person--{number}{at}.md",
            actor,
            "approved",
            f"step {number}",
            f"{group[:-1]}{number}",
            group,
            commits,
        )
        for number in reversed(range(commits))
        for at in (1, 0)
    ]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (150, 40)])
async def test_a_reflection_is_one_row_and_is_taken_back_whole(
    bench: FakeBench, running: Running, width: int, height: int
) -> None:
    bench.entries += entries_of("reflection:r-003", 5, "abcdef0", ago=400)
    async with running(bench, (width, height)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        pane(pilot).filter_bar.set_text("actor:reflection:r-003")
        await settle(pilot)
        rows = pane(pilot).list.rows
        assert [rows.key(at) for at in range(len(rows)) if rows.key(at)] == ["abcdef0"]
        assert "2024" in listed(pilot)
        assert "step 0" in listed(pilot)
        assert "5 commits" in listed(pilot)
        if width == 80:
            # There is room for one of the two.
            await pilot.press("enter")
            await settle(pilot)
        shown = read(pilot)
        if width == 80:
            await pilot.press("escape")
            await settle(pilot)
        assert "Reflection r-003, in 5 commits" in shown
        assert all(f"abcdef{number}" in shown for number in range(5))
        assert isinstance(pilot.app, BenchApp)
        line, _ = bottom_line(pilot.app.status, pilot.app.shown_keys(), width)
        assert line_width(line) == width
        assert "revert" in plain_text(line)
        await pilot.press("R")
        await settle(pilot)
        asked = " ".join(str(each.render()) for each in pilot.app.screen.query("Static"))
        assert "Take back all that reflection r-003 changed?" in asked
        assert "5 commits on 10 files" in asked
        assert "u takes it back" in asked
        assert all(each.region.bottom <= height for each in pilot.app.screen.query("Static"))
        await pilot.press("escape")
        await settle(pilot)
        assert bench.calls == []
        await pilot.press("R", "t")
        await settle(pilot)
        assert bench.calls == [("revert_reflection", "r-003")]


async def test_what_something_later_rests_on_is_refused_before_it_is_promised(
    bench: FakeBench, running: Running
) -> None:
    bench.entries = entries_of("reflection:r-003", 5, "abcdef0") + entries_of("import:notes", 3, "1234560")
    bench.open_alerts = []
    bench.dependent = Stale("A later action rests on it: logged “Tide” (by you, 2026-02-01 12:00, 7654321).")
    async with running(bench, (100, 30)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        for key in ("home", "end"):
            await pilot.press(key, "R", "t")
            await settle(pilot)
            assert len(pilot.app.screen_stack) == 1
            assert [each.message for each in pilot.app._notifications] == [bench.dependent.message]
            pilot.app.clear_notifications()
        assert bench.calls == []


async def test_an_import_in_many_commits_is_taken_back_whole(bench: FakeBench, running: Running) -> None:
    bench.entries = entries_of("import:notes", 3, "1234560")
    async with running(bench, (100, 30)) as pilot:
        await pilot.press("3", "down", "R", "t")
        await settle(pilot)
        assert bench.calls == [("revert_action", "1234560")]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=40))
def test_the_rows_part_the_log_without_remainder(acts: Sequence[tuple[int, int]]) -> None:
    made = [
        AuditEntry(
            NOW - timedelta(hours=5 * at),
            "EDIT",
            f"{file}.md",
            "bot:main",
            "auto",
            "x",
            f"c{at}",
            f"g{group}",
            2,
        )
        for at, (group, file) in enumerate(acts)
    ]
    rows = AuditRows(NOW.date())
    # They come in batches.
    for start in range(0, len(made), 7):
        rows.extend((entry, entry.timestamp.date()) for entry in made[start : start + 7])
    actions = [action for at in range(len(rows)) if (action := rows.action(rows.key(at))) is not None]
    assert sorted((entry for action in actions for entry in action.entries), key=made.index) == made
    assert all(
        {action_key(entry) for entry in action.entries} == {action_key(action.first)} for action in actions
    )
    assert len(actions) == rows.shown == len({action_key(entry) for entry in made})
    newest = [action.entries[0].timestamp for action in actions]
    assert newest == sorted(newest, reverse=True)


@pytest.fixture
def reflected(tmp_path: Path) -> Path:
    """A workspace in which a reflection was applied in four commits, and a person went on."""
    root = tmp_path / "home"
    clock = FixedClock(datetime(2026, 2, 2, 14, 0, tzinfo=UTC))
    Workspace.init(root, clock=clock)
    with Workspace.open(root, role="person", clock=clock) as workspace:
        workspace.remember("Robin sold the boat", store="episodic")
    with Workspace.open(root, role="person", actor="reflection:r-003", clock=clock) as workspace:
        for number in range(4):
            clock.advance(minutes=1)
            workspace.core_add("Critical Facts", f"Learned number {number}")
    with Workspace.open(root, role="person", clock=clock) as workspace:
        clock.advance(minutes=1)
        workspace.remember("Robin bought a canoe", store="episodic")
    return root


async def test_an_older_reflection_is_taken_back_as_from_the_shell(reflected: Path, running: Running) -> None:
    clock = FixedClock(datetime(2026, 2, 2, 15, 0, tzinfo=UTC))
    with Workspace.open(reflected, role="person", clock=clock) as workspace:
        core = reflected / "MEMORY.md"
        before = core.read_text(encoding="utf-8")
        assert before.count("Learned number") == 4
        async with running(WorkspaceBench(workspace), (80, 24)) as pilot:
            await pilot.press("3")
            await settle(pilot)
            pane(pilot).filter_bar.set_text("actor:reflection:r-003")
            await settle(pilot)
            rows = pane(pilot).list.rows
            assert sum(bool(rows.key(at)) for at in range(len(rows))) == 1
            await pilot.press("R", "t")
            await settle(pilot)
            await settle(pilot)
            assert "Learned number" not in core.read_text(encoding="utf-8")
            await pilot.press("u")
            await settle(pilot)
            await settle(pilot)
            assert core.read_text(encoding="utf-8") == before


def test_what_was_changed_since_outlives_the_reflection(reflected: Path) -> None:
    clock = FixedClock(datetime(2026, 2, 2, 15, 0, tzinfo=UTC))
    with Workspace.open(reflected, role="person", clock=clock) as workspace:
        (block,) = (each for each in workspace.core().blocks if each.name == "Critical Facts")
        third = next(item for item in block.items if "number 2" in item.text)
        workspace.core_replace(third.id, "Somebody knows better")
        done = WorkspaceBench(workspace).revert_reflection("r-003")
        assert done.summary == "Took back reflection r-003."
        core = (reflected / "MEMORY.md").read_text(encoding="utf-8")
        assert "Somebody knows better" in core
        assert "Learned number" not in core

"""The Audit pane: what waits first, who did what, how it differs, and taking it back."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.tui.panes.audit import AuditPane


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


async def test_filter_by_actor_action_file_and_time(bench: FakeBench, running: Running) -> None:
    async with running(bench, (150, 40)) as pilot:
        await pilot.press("3")
        await settle(pilot)
        for typed, expected in (
            ("actor:reflection", 2),
            ("action:edit file:memory.md", 2),
            ("since:2026-02-02", 5),
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
        await pilot.press("down", "down", "down", "down")
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

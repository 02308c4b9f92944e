"""The Inbox pane: deciding item by item, by section and in ranges, with nothing lost, reordered or forged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.fake_review import PROPOSAL
from tests.tui.stillness import settle
from workbench.engine.errors import DocumentError, Locked
from workbench.tui.decisions import Edit, Step
from workbench.tui.ink import plain_text
from workbench.tui.panes.inbox import InboxPane
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.widgets.item_editor import DraftArea
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.parts_editor import PartsEditor
from workbench.tui.widgets.status_line import StatusLine


def pane(pilot: Pilot[None]) -> InboxPane:
    return pilot.app.query_one(InboxPane)


def head(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in pane(pilot).query_one("#inbox-head", Lines).lines(90))


def detail(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in pane(pilot).detail._lines)


def listed(pilot: Pilot[None]) -> str:
    rows = pane(pilot).list
    return "\n".join(rows.render_line(y).text for y in range(rows.size.height))


def toasts(pilot: Pilot[None]) -> list[str]:
    return [notification.message for notification in pilot.app._notifications]


def decisions(bench: FakeBench) -> list[tuple[str, str]]:
    return [pair for step in bench.steps for pair in step.decisions.items()]


def decision(bench: FakeBench, item_id: str) -> str:
    item = bench.pending().item(item_id)
    assert item is not None
    return item.decision


async def go(pilot: Pilot[None], key: str) -> None:
    assert pane(pilot).list.go_to(key), key
    await settle(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


# --- looking ------------------------------------------------------------------------------------------------


async def test_what_waits_is_listed_by_section_with_progress_and_age(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (120, 60)) as pilot:
        await press(pilot, "5")
        text = listed(pilot)
        assert "Contradictions detected" in text
        assert (
            text.index("Contradictions detected")
            < text.index("Core memory changes")
            < text.index("Questions")
        )
        assert "3 of 4 undecided" in text
        assert "[ ] ≠ contradiction" in text
        assert "[x] ↻ supersession  The nightly import runs at 03:00" in text
        assert "[-] + fact" in text
        assert "[>] ▣ vault pin" in text
        assert "written 30 hours ago — ageing" in head(pilot)
        assert "3 of 18 decided · 1 approved · 1 rejected · 1 deferred" in head(pilot)


async def test_one_begins_at_what_is_undecided_and_every_pane_tells_of_it(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        bottom = plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        assert "◆ 15" in bottom
        await pilot.click("#bottom", offset=(bottom.index("◆"), 0))
        await settle(pilot)
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "r-012.1"


async def test_a_proposal_nobody_touched_begins_with_its_overview(bench: FakeBench, running: Running) -> None:
    bench.proposal = PROPOSAL.replace("- [x]", "- [ ]").replace("- [-]", "- [ ]").replace("- [>]", "- [ ]")
    async with running(bench) as pilot:
        await press(pilot, "5")
        text = " ".join(detail(pilot).split())
        assert "Fourteen days of fieldwork were read." in text
        assert "2 items whose quotes were not found" in text
        assert "1 item that was rejected before" in text
        assert "rules stood in: the server did not answer within 30 s" in text


async def test_it_opens_at_the_item_that_was_named(bench: FakeBench, running: Running) -> None:
    async with running(bench, target="r-012.14") as pilot:
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "r-012.14"


async def test_an_item_shows_its_change_reason_and_evidence_and_what_is_related(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.2")
        text = detail(pilot)
        assert "- Densities are reported per transect" in text.replace("−", "-")
        assert "+ Densities are reported per square metre" in text
        assert "A decision replaces how densities were reported until then." in text
        assert "“per transect”" in text
        assert "episode:2026-02-02:13:55" in text
        assert "until       2026-02-02" in text
        assert "Related" in text
        assert "looking…" not in text


async def test_core_changes_show_the_budget_with_everything_approved(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        assert "as approved" in detail(pilot)
        await press(pilot, "a")
        await go(pilot, "r-012.5")
        now, then = (line for line in detail(pilot).splitlines() if "/ 3,000" in line)
        assert "320 /" in now
        assert "340 /" in then


async def test_a_stale_item_shows_both_versions_and_a_lost_quote_says_so(
    bench: FakeBench, running: Running
) -> None:
    bench.stale = {"r-012.2": "Densities are reported per hectare"}
    bench.unfound = frozenset({"r-012.2"})
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        assert "stale" in listed(pilot)
        await go(pilot, "r-012.2")
        text = detail(pilot)
        assert "Stale: what it changes has changed since." in text
        assert "per hectare" in text
        assert "per transect" in text
        assert "per square metre" in text
        assert "no longer says so" in text


async def test_what_was_rejected_before_is_told(bench: FakeBench, running: Running) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        assert "was rejected" in listed(pilot)
        await go(pilot, "r-012.9")
        assert "r-009.4, rejected on 12 January" in " ".join(detail(pilot).split())


async def test_an_approved_item_that_needs_a_rejected_one_says_what_it_waits_for(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (160, 50)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.7")
        await press(pilot, "r", "a")
        await go(pilot, "r-012.8")
        assert "Waits: it needs r-012.7, which is rejected" in detail(pilot)
        assert "waits" in listed(pilot)


async def test_the_source_is_one_key_away_and_the_way_back_too(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.2")
        await press(pilot, "o")
        app = pilot.app
        assert app.pane.list.cursor_key == "episode:2025-12-19:17:25"  # type: ignore[attr-defined]  # BenchApp
        await press(pilot, "left_square_bracket")
        assert pane(pilot).display
        assert pane(pilot).list.cursor_key == "r-012.2"
        await pilot.press("enter", "tab", "tab", "tab")
        assert pane(pilot).detail.focused_link == "episode:2026-02-02:13:55"
        await press(pilot, "o")
        assert app.pane.list.cursor_key == "episode:2026-02-02:13:55"  # type: ignore[attr-defined]  # BenchApp


async def test_the_target_and_the_file_are_links(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.5")
        await press(pilot, "enter", "tab", "enter")
        assert pilot.app.pane.title == "Core"  # type: ignore[attr-defined]  # BenchApp


async def test_history_and_ids(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await press(pilot, "y")
        assert any("Copied r-012.4" in toast for toast in toasts(pilot))
        await press(pilot, "h")
        assert pilot.app.pane.filter_bar.text == "file:MEMORY.md"  # type: ignore[attr-defined]  # BenchApp
        await press(pilot, "5")
        await go(pilot, "r-012.7")
        await press(pilot, "h")
        assert "pending-reflection.md" in pilot.app.pane.filter_bar.text  # type: ignore[attr-defined]  # BenchApp


async def test_a_filter_narrows_what_is_shown_and_what_a_heading_decides(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "slash", *"kind:fact tide", "enter")
        assert [item.id for item in pane(pilot).rows.items] == ["r-012.8"]
        await go(pilot, "section:🧠 New knowledge extracted")
        await press(pilot, "a")
        assert decisions(bench) == [("r-012.8", "approved")]
        await press(pilot, "escape")
        assert len(pane(pilot).rows.items) == 18


# --- deciding -----------------------------------------------------------------------------------------------


async def test_each_key_decides_and_goes_on(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await press(pilot, "a", "r", "d")
        assert decisions(bench) == [("r-012.4", "approved"), ("r-012.5", "rejected"), ("r-012.6", "deferred")]
        assert pane(pilot).list.cursor_key == "r-012.7"
        assert "6 of 18 decided" in head(pilot)
        assert "[-] ⇑ promotion" in listed(pilot)


async def test_the_keys_below_can_be_clicked(bench: FakeBench, running: Running) -> None:
    async with running(bench, (160, 40)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        line = plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        await pilot.click("#bottom", offset=(line.index("reject"), 0))
        await settle(pilot)
        assert decisions(bench) == [("r-012.4", "rejected")]


async def test_another_decision_stays_where_it_is_and_backspace_takes_it_back(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.3")
        await press(pilot, "r")
        assert pane(pilot).list.cursor_key == "r-012.3"
        assert decision(bench, "r-012.3") == "rejected"
        await press(pilot, "r")
        assert len(bench.steps) == 1
        assert "Nothing here is left to be rejected." in toasts(pilot)
        await press(pilot, "backspace")
        assert decision(bench, "r-012.3") == "undecided"
        assert "2 of 18 decided" in head(pilot)


async def test_keys_pressed_fast_are_all_written_in_their_order_and_show_before(
    bench: FakeBench, running: Running
) -> None:
    bench.desk.clear()
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.10")
        await pilot.press(*"ardardar")
        assert "11 of 18 decided" in head(pilot)
        assert bench.steps == []
        bench.desk.set()
        await settle(pilot)
        ids = ("r-012.10", "r-012.11", "r-012.12", "r-012.13", "r-012.14", "r-012.15", "r-012.17")
        words = ("approved", "rejected", "deferred") * 3
        assert decisions(bench) == [
            *zip(ids, words, strict=False),
            # The question is not among them: the second r of the row rejects it.
            ("r-012.18", "rejected"),
        ]
        assert "11 of 18 decided" in head(pilot)


async def test_marks_and_ranges_decide_in_one_step_and_headings_between_decide_nothing_more(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.10")
        await pilot.press("v", "down", "down", "r")
        await settle(pilot)
        assert [step.decisions for step in bench.steps] == [{"r-012.10": "rejected", "r-012.11": "rejected"}]
        assert not pane(pilot).list.marks.keys


async def test_a_heading_decides_all_that_is_undecided_below_it(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "section:🧠 New knowledge extracted")
        assert "approve all 3 that are undecided" in detail(pilot)
        await press(pilot, "a")
        assert bench.steps == [Step(dict.fromkeys(("r-012.7", "r-012.8", "r-012.10"), "approved"))]
        assert decision(bench, "r-012.9") == "rejected"


async def test_the_overview_asks_before_it_decides_everything(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "overview:")
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "a", "enter")
        assert not bench.steps
        await press(pilot, "a", "p")
        assert len(bench.steps) == 1
        assert "Left for you: 1 contradiction" in toasts(pilot)[-1]
        assert bench.undecided() == 2


async def test_undo_and_redo_come_after_what_is_still_being_written(
    bench: FakeBench, running: Running
) -> None:
    bench.desk.clear()
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await pilot.press("a", "a", "u")
        bench.desk.set()
        await settle(pilot)
        assert decision(bench, "r-012.4") == "approved"
        assert decision(bench, "r-012.5") == "undecided"
        assert "[ ] ⇑ promotion" in listed(pilot)
        await press(pilot, "U")
        assert decision(bench, "r-012.5") == "approved"


async def test_undo_goes_back_to_what_waits_again(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await press(pilot, "a")
        assert pane(pilot).list.cursor_key == "r-012.5"
        await press(pilot, "u")
        assert pane(pilot).list.cursor_key == "r-012.4"
        await press(pilot, "r")
        assert decision(bench, "r-012.4") == "rejected"


async def test_a_refused_decision_is_told_and_shown_as_it_is(bench: FakeBench, running: Running) -> None:
    bench.refused = Locked("Another process is writing.", remedy="Try again.")
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await press(pilot, "a")
        assert "Another process is writing. Try again." in toasts(pilot)
        assert "3 of 18 decided" in head(pilot)
        bench.refused = None
        await go(pilot, "r-012.4")
        await press(pilot, "a")
        assert "4 of 18 decided" in head(pilot)


async def test_leaving_waits_until_everything_is_written(bench: FakeBench, running: Running) -> None:
    bench.desk.clear()
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        await pilot.press("a", "r", "d")
        assert not bench.steps
        asyncio.get_running_loop().call_soon(bench.desk.set)
        await pilot.press("ctrl+q")
        await settle(pilot)
    assert len(bench.steps) == 3


async def test_what_is_typed_while_the_bench_is_being_left_decides_nothing(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    take = App.on_event

    async def watched(app: App[None], event: events.Event) -> None:
        if isinstance(event, events.Key):
            taken.append(event.key)
        await take(app, event)

    async with running(bench) as pilot:
        await press(pilot, "5")
        monkeypatch.setattr(App, "on_event", watched)
        for key in ("ctrl+q", "r", "i"):
            await pilot.app.on_event(events.Key(key, None))
    assert taken == ["ctrl+q"]
    assert not bench.steps


async def test_a_reader_is_told_who_decides(bench: FakeBench, running: Running) -> None:
    bench.role = "reader"
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.4")
        for key in ("a", "r", "d", "e", "A", "E"):
            await press(pilot, key)
            assert "Only a person decides, and this bench is open as reader." in toasts(pilot)[-1]
            pilot.app.clear_notifications()
        assert not bench.steps
        assert "3 of 18 decided" in head(pilot)


async def test_what_changes_outside_appears_with_the_cursor_where_it_was(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.10")
        start = PROPOSAL.index("- [ ] `r-012.7`")
        end = PROPOSAL.index("- [ ] `r-012.8`")
        bench._rewrite((PROPOSAL[:start] + PROPOSAL[end:]).replace("- [ ] `r-012.2`", "- [x] `r-012.2`"))
        await settle(pilot)
        await settle(pilot)
        assert pane(pilot).list.cursor_key == "r-012.10"
        assert "4 of 17 decided" in head(pilot)


# --- contradictions, questions, rewording -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "resolution"),
    [("less_than_sign", "this"), ("greater_than_sign", "that"), ("equals_sign", "both")],
)
async def test_a_contradiction_is_settled_with_one_key(
    bench: FakeBench, running: Running, key: str, resolution: str
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", key)
        assert bench.steps == [Step({"r-012.1": "approved"}, Edit("r-012.1", fields={"resolve": resolution}))]
        await go(pilot, "r-012.1")
        assert detail(pilot).count("✓ taken") == (2 if resolution == "both" else 1)


async def test_a_contradiction_is_not_approved_without_a_choice(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "a")
        assert not bench.steps
        assert "Say which holds" in toasts(pilot)[-1]
        await press(pilot, "d")
        assert decisions(bench) == [("r-012.1", "deferred")]


async def test_both_statements_can_be_reworded(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "e", *" in 2025", "tab", *" in 2026", "enter")
        assert bench.steps == [
            Step(
                {},
                Edit(
                    "r-012.1",
                    None,
                    {
                        "this": "The tide gauge was calibrated by the supplier in 2025",
                        "that": "The tide gauge was calibrated by Tomás in 2026",
                    },
                ),
            )
        ]
        assert "by Tomás in 2026" in " ".join(detail(pilot).split())
        assert pane(pilot).list.has_focus


async def test_a_question_is_answered_in_place(bench: FakeBench, running: Running) -> None:
    async with running(bench, (180, 40)) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.18")
        await press(pilot, "a", "enter")
        assert "An answer needs some text." in " ".join(
            plain_text(line) for line in pane(pilot).query_one("#parts-problem", Lines).lines(200)
        )
        await press(pilot, *"Yes", "enter")
        assert bench.steps == [Step({"r-012.18": "approved"}, Edit("r-012.18", None, {"answer": "Yes"}))]
        await go(pilot, "r-012.18")
        assert "— Yes" in listed(pilot)


async def test_a_draft_is_kept_and_asked_about(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.10")
        await press(pilot, "e", "!", "escape")
        assert not bench.steps
        assert pane(pilot).drafts() == 1
        await press(pilot, "e")
        assert pane(pilot).query_one("#part-0", DraftArea).text.endswith("council!")
        await press(pilot, "escape", "ctrl+q")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "escape", "e", "enter")
        assert pane(pilot).drafts() == 0
        assert bench.steps == [
            Step({}, Edit("r-012.10", "Prefers short tables over charts in reports to the council!", {}))
        ]


async def test_rewording_core_memory_moves_its_budget(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.5")
        await press(pilot, "e")
        bar = pane(pilot).query_one(PartsEditor).query_one("#parts-bar", StatusLine)
        before = plain_text(bar.line)
        await press(pilot, *"wordsword")
        assert plain_text(bar.line) != before
        assert "Core memory" in before


async def test_the_whole_file_opens_in_an_editor(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(_app: object, text: str, *, suffix: str) -> str:
        assert suffix == ".md"
        return text.replace("- [ ]", "- [x]")

    monkeypatch.setattr("workbench.tui.panes.inbox.edit_in_editor", write)
    async with running(bench) as pilot:
        await press(pilot, "5", "E")
        assert bench.undecided() == 0
        assert "18 of 18 decided" in head(pilot)
        assert "Saved the proposal." in toasts(pilot)


# --- applying -----------------------------------------------------------------------------------------------


def shown(pilot: Pilot[None]) -> str:
    from workbench.tui.widgets.detail import Detail

    lines: Sequence[object] = pilot.app.screen.query_one(Detail)._lines
    return "\n".join(plain_text(line) for line in lines)  # type: ignore[arg-type]  # lines of the detail


async def test_applying_shows_what_will_be_written_then_the_commit_and_can_be_undone(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.7")
        await press(pilot, "r", "a")
        await press(pilot, "A")
        text = shown(pilot)
        assert "1 applied" in text
        assert "2 rejected" in text
        assert "13 undecided" in text
        assert "it needs r-012.7, which is rejected" in text
        assert "memory/graph/entities/r-012.3.md" in text
        await press(pilot, "A", "enter")
        assert bench.undecided() == 13
        assert bench.pending().item("r-012.3") is not None
        await press(pilot, "w")
        assert "✓ Written" in shown(pilot)
        assert "9f3c2ab17d" in shown(pilot)
        assert bench.pending().item("r-012.3") is None
        await press(pilot, "u")
        assert len(pilot.app.screen_stack) == 1
        assert bench.pending().item("r-012.3") is not None
        assert pane(pilot).rows.item("r-012.3") is not None


async def test_nothing_decided_is_nothing_to_write(bench: FakeBench, running: Running) -> None:
    bench.proposal = PROPOSAL.replace("- [x]", "- [ ]").replace("- [-]", "- [ ]").replace("- [>]", "- [ ]")
    async with running(bench) as pilot:
        await press(pilot, "5", "A")
        assert "Nothing is decided yet" in shown(pilot)
        await press(pilot, "w", "escape")
        assert bench.pending().item("r-012.3") is not None
        assert len(pilot.app.screen_stack) == 1


async def test_what_keeps_it_from_being_written_is_told(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "A")
        bench.refused = Locked("Another process is writing.", remedy="Try again.")
        await press(pilot, "w")
        assert "Another process is writing. Try again." in " ".join(shown(pilot).split())


async def test_after_the_last_decision_one_is_told_how_to_go_on(bench: FakeBench, running: Running) -> None:
    bench.proposal = PROPOSAL.replace("- [ ]", "- [x]").replace("- [x] `r-012.10`", "- [ ] `r-012.10`")
    async with running(bench) as pilot:
        await press(pilot, "5")
        assert pane(pilot).list.cursor_key == "r-012.10"
        await press(pilot, "r")
        assert "Everything is decided. A shows what will be written." in toasts(pilot)


# --- reflecting ---------------------------------------------------------------------------------------------


async def over(pilot: Pilot[None]) -> None:
    """Wait until the cycle is over."""
    while pane(pilot).reflection.running:
        await pilot.pause(0.005)
    await settle(pilot)


async def test_an_empty_inbox_teaches_and_runs_a_cycle_that_lands_in_the_list(
    bench: FakeBench, running: Running
) -> None:
    bench.proposal = ""
    bench.cycle.clear()
    async with running(bench) as pilot:
        await press(pilot, "5")
        text = listed(pilot)
        assert "Nothing waits for your decision." in text
        assert "23 of 50 new memories since the last one" in text
        await press(pilot, "R")
        assert "● survey" in head(pilot)
        assert "○ consolidate" in head(pilot)
        assert "0 of 8,000 tokens" in head(pilot)
        assert "A reflection is running." in listed(pilot)
        assert "reflecting 1 of 5" in plain_text(pilot.app.query_one("#bottom", StatusLine).line)
        bench.cycle.set()
        await over(pilot)
        assert "r-012 proposes 18 changes." in toasts(pilot)[-1]
        assert "Contradictions detected" in listed(pilot)


async def test_a_cycle_is_called_off(bench: FakeBench, running: Running) -> None:
    bench.proposal = ""
    bench.cycle.clear()
    async with running(bench) as pilot:
        await press(pilot, "5", "R")
        await press(pilot, "c")
        assert "stopping…" in head(pilot)
        bench.cycle.set()
        await over(pilot)
        assert "called off; nothing was written" in toasts(pilot)[-1]
        assert "Nothing waits for your decision." in listed(pilot)


async def test_a_cycle_beside_a_waiting_proposal_asks_first(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await press(pilot, "5", "R")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "R", "escape")
        assert not pane(pilot).reflection.running
        await press(pilot, "R", "b")
        await over(pilot)
        assert "r-012 proposes 18 changes." in toasts(pilot)[-1]


# --- damage -------------------------------------------------------------------------------------------------


async def test_parts_of_the_file_that_say_nothing_are_listed(bench: FakeBench, running: Running) -> None:
    start = PROPOSAL.index("- [ ] `r-012.2`")
    end = PROPOSAL.index("\n", start)
    bench.proposal = f"{PROPOSAL[:start]}- [?] `r-012.2` nothing{PROPOSAL[end:]}"
    async with running(bench) as pilot:
        await press(pilot, "5")
        assert "! 1 part of the file cannot be read" in listed(pilot)
        await go(pilot, "overview:")
        assert "does not say what it does" in " ".join(detail(pilot).split())
        assert "opens the file in your editor" in detail(pilot)


async def test_a_file_that_cannot_be_read_says_why(bench: FakeBench, running: Running) -> None:
    bench.unreadable = DocumentError(
        "The file holds no text.", where="pending-reflection.md", remedy="Restore it."
    )
    async with running(bench) as pilot:
        await press(pilot, "5")
        assert "The proposal cannot be read." in listed(pilot)
        assert "The file holds no text. Restore it." in listed(pilot)


async def test_a_thousand_items_are_decided_without_losing_one(bench: FakeBench, running: Running) -> None:
    lines = [
        f"- [ ] `r-012.{at}` fact for [[person--mira]]: Knows thing number {at} (confidence high)\n"
        for at in range(1, 1001)
    ]
    bench.proposal = (
        "# Reflection\n\n<!-- reflection: r-012 -->\n\n## 🧠 New knowledge extracted\n\n" + "".join(lines)
    )
    async with running(bench) as pilot:
        await press(pilot, "5")
        await go(pilot, "r-012.1")
        await press(pilot, *"ar" * 5)
        assert "10 of 1000 decided · 5 approved · 5 rejected" in head(pilot)
        await go(pilot, "section:🧠 New knowledge extracted")
        await press(pilot, "d")
        assert bench.undecided() == 0


async def test_an_error_of_ours_is_not_swallowed(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_step: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr(bench, "decide", fail)
    with pytest.raises(ZeroDivisionError):
        async with running(bench) as pilot:
            await press(pilot, "5", "d")

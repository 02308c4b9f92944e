"""The Inbox pane: deciding item by item, by section and in ranges, with nothing lost or reordered."""

from __future__ import annotations

import asyncio

import pytest
from textual import events
from textual.app import App

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.fake_review import PROPOSAL
from tests.tui.inbox_hands import decision, decisions, detail, go, head, listed, pane, press, toasts
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine.errors import Locked
from workbench.tui.decisions import Step
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.widgets.status_line import StatusLine


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

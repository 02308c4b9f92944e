"""The Search pane: results as one types, the match in its file, why it is there, and why another is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from textual.dom import DOMNode
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench
from tests.tui.fake_recall import found, hit
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine.errors import StorageError
from workbench.engine.requests import SearchRequest
from workbench.engine.results.recall import Found
from workbench.tui.panes import search
from workbench.tui.panes.search import MOST_RESULTS, SearchPane
from workbench.tui.screens.why_not import WhyNotScreen
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.filter_bar import FilterInput
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.virtual_list import VirtualList

GAUGE = "episode:2026-02-02:11:20"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search at once."""
    monkeypatch.setattr(search, "CALM", 0.01)
    monkeypatch.setattr(search, "LONG", 0.01)


def pane(pilot: Pilot[None]) -> SearchPane:
    return pilot.app.query_one(SearchPane)


def over(pilot: Pilot[None]) -> DOMNode:
    """Return what is on top: a screen over the pane, or the pane."""
    return pilot.app.screen if len(pilot.app.screen_stack) > 1 else pane(pilot)


def listed(pilot: Pilot[None], lines: int = 24) -> str:
    rows = over(pilot).query_one(VirtualList)
    return "\n".join(rows.render_line(y).text for y in range(lines))


def read(pilot: Pilot[None], lines: int = 40) -> str:
    detail = over(pilot).query_one(Detail)
    return "\n".join(detail.render_line(y).text for y in range(lines))


def read_on(pilot: Pilot[None]) -> str:
    """Return the detail as running text, wherever its lines break."""
    return " ".join(read(pilot).split())


def answer(pilot: Pilot[None], width: int = 100) -> str:
    lines = pilot.app.query_one("#search-answer", Lines).lines(width)
    return "\n".join(plain_text(line) for line in lines)


async def ask(pilot: Pilot[None], text: str, *, enter: bool = True) -> None:
    """Go to the pane, type a question, and go on to the results."""
    await pilot.press("4")
    await settle(pilot)
    await pilot.press(*("space" if letter == " " else letter for letter in text))
    await settle(pilot)
    if enter:
        await pilot.press("enter")
        await settle(pilot)


async def test_a_line_left_at_once_does_not_take_the_keys_back(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("4")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        asked = pane(pilot)
        assert asked.list.has_focus
        pilot.app.set_focus(None)
        asked.focus_list()  # as it comes into sight
        asked.list.focus()  # and the line is left before the pane is laid out
        await settle(pilot)
        assert asked.list.has_focus


async def test_an_empty_line_offers_questions_that_this_memory_answers(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await pilot.press("4")
        await settle(pilot)
        assert isinstance(pilot.app.screen.focused, FilterInput)
        assert "what did we decide about report" in listed(pilot)
        assert "store:episodic" in read(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert pane(pilot).filter_bar.text == "what happened with tide gauge"
        assert bench.searches[-1].query == "what happened with tide gauge"
        assert pane(pilot).list.has_focus


async def test_results_come_as_one_types_with_day_score_and_the_match(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "tide gauge", enter=False)
        assert isinstance(pilot.app.screen.focused, FilterInput)
        text = listed(pilot)
        assert "◷ The new tide gauge reads" in text
        assert "  0.95 " in text
        assert "words 1st, meaning 3rd" in text
        assert "  Today " in text
        row = pane(pilot).list.render_line(0)
        assert [s.text for s in row._segments if s.style and s.style.underline] == ["tide", "gauge"]
        assert "general question" in answer(pilot)
        assert "built-in vectors · 7 ms" in answer(pilot)
        await pilot.press(*"zzz")
        await settle(pilot)
        assert bench.searches[-1].query == "tide gaugezzz"


async def test_conditions_are_taken_out_of_the_words(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "tide store:epis after:2026-01 before:feb status:any")
        assert bench.searches[-1] == SearchRequest(
            "tide",
            MOST_RESULTS,
            None,
            "episodic",
            "2026-01-01",
            "2026-02-28",
            include_dormant=True,
            explain=True,
        )
        assert "only episodic · from 1 Jan 2026 · until 28 Feb 2026 · dormant as well" in answer(pilot, 160)


class Slow(FakeBench):
    """A bench whose first searches wait for a gate, so that their answers come late."""

    gate: threading.Event
    late: set[str]

    def search(self, request: SearchRequest) -> Found:
        if request.query in self.late:
            self.gate.wait(60)
        return super().search(request)


@pytest.fixture
def slow() -> Iterator[Slow]:
    bench = Slow.filled()
    assert isinstance(bench, Slow)
    bench.gate, bench.late = threading.Event(), {"tide"}
    yield bench
    bench.gate.set()


async def test_an_older_answer_never_replaces_a_newer_one(slow: Slow, running: Running) -> None:
    async with running(slow) as pilot:
        await pilot.press("4")
        await settle(pilot)
        await pilot.press(*"tide")
        while not any(each.query == "tide" for each in slow.searches) and not pane(pilot)._searching:
            await pilot.pause()
        await pilot.press(*"zzz")
        slow.gate.set()
        await settle(pilot)
        assert "Nothing found" in listed(pilot)
        assert "nothing found" in answer(pilot)


async def test_where_only_some_memories_are_searched_that_is_said(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "zzz store:vault")
        assert "that meets the conditions" in " ".join(listed(pilot).split())


async def until(pilot: Pilot[None], came: Callable[[], bool]) -> None:
    """Wait until something is the case; the test's own limit ends it."""
    while not came():
        await pilot.pause(0.01)


async def test_typing_goes_on_while_a_search_takes_its_time(slow: Slow, running: Running) -> None:
    slow.late = {"tide", "tide gauge"}
    async with running(slow) as pilot:
        await pilot.press("4")
        await settle(pilot)
        await pilot.press(*"tide")
        await until(pilot, lambda: "searching…" in answer(pilot))
        await pilot.press("space", *"gauge")
        assert pane(pilot).filter_bar.text == "tide gauge"
        slow.gate.set()
        await settle(pilot)
        assert "The new tide gauge" in listed(pilot)


async def test_the_first_search_says_that_it_is_under_way(slow: Slow, running: Running) -> None:
    async with running(slow) as pilot:
        await pilot.press("4")
        await settle(pilot)
        pane(pilot).ask("tide")
        await until(pilot, lambda: "searching…" in answer(pilot))
        slow.gate.set()
        await settle(pilot)
        assert "searching…" not in answer(pilot)


async def test_the_detail_shows_the_lines_around_with_those_handed_over_marked(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "subtract")
        text = read(pilot)
        assert "memory/episodes/2026-02-02.md#L11-L13" in text
        assert "▌ 13  The new tide gauge" in text
        assert "  15  ## 09:05 | task" in text
        assert "words 1st, meaning 3rd · age and use ×0.97" in read_on(pilot)
        assert "Score" in text
        assert "bot:auto-detect" in text


async def test_what_is_no_memory_file_is_shown_as_it_was_found(bench: FakeBench, running: Running) -> None:
    bench.answer = found(
        hit(id="file:notes/a.md#L1", path="notes/a.md", store="extra", snippet="A tide\nin a note")
    )
    async with running(bench) as pilot:
        await ask(pilot, "tide")
        assert "in a note" in read(pilot)
        await pilot.press("p", "f", "o", "h", "enter", "enter")
        await settle(pilot)
        assert not bench.calls
        assert pane(pilot).display
        assert not pilot.app._notifications


async def test_enter_reads_it_in_its_file_and_again_goes_to_the_memory_and_back(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench, (80, 24)) as pilot:
        await ask(pilot, "subtract")
        await pilot.press("enter")
        await settle(pilot)
        assert pane(pilot).detail.has_focus
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.query_one("#timeline").display
        assert pilot.app.query_one("#timeline-list", VirtualList).cursor_key == GAUGE
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert pane(pilot).display
        assert pane(pilot).filter_bar.text == "subtract"
        assert pane(pilot).list.cursor_key.startswith(GAUGE)


async def test_pin_forget_and_copy(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    async with running(bench) as pilot:
        monkeypatch.setattr(pilot.app, "copy_to_clipboard", copied.append)
        await ask(pilot, "tide gauge")
        await pilot.press("y", "p")
        await settle(pilot)
        assert copied == ["memory/episodes/2026-02-02.md#L11-L13"]
        assert bench.calls[-1] == ("pin", (GAUGE,))
        assert "◆" in listed(pilot, 2)
        await pilot.press("p")
        await settle(pilot)
        assert bench.calls[-1] == ("unpin", (GAUGE,))
        await pilot.press("space", "space", "f")
        await settle(pilot)
        (call, ids) = bench.calls[2]
        assert call == "forget"
        assert isinstance(ids, tuple)
        assert len(ids) == 2
        assert "The new tide gauge" not in listed(pilot)


async def test_keys_write_while_one_asks(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "ufpxw?1", enter=False)
        assert pane(pilot).filter_bar.text == "ufpxw?1"
        assert not bench.calls
        assert "pin" not in {label for _, label in pilot.app.shown_keys()}  # type: ignore[attr-defined]  # BenchApp


async def test_the_explanation_follows_the_cursor_and_esc_leaves_it(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "tide backup")
        await pilot.press("x")
        await settle(pilot)
        assert "Why this is the 1st result" in read(pilot)
        assert "every word of the question" in read_on(pilot)
        assert "× 0.97" in read(pilot)
        await pilot.press("down")
        await settle(pilot)
        assert "Why this is the 2nd result" in read(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert "▌" in read(pilot)
        assert pane(pilot).filter_bar.text == "tide backup"


async def test_explaining_on_a_small_terminal_and_coming_back(bench: FakeBench, running: Running) -> None:
    async with running(bench, (80, 24)) as pilot:
        await ask(pilot, "tide")
        await pilot.press("x")
        await settle(pilot)
        assert pane(pilot).detail.has_focus
        await pilot.press("escape")
        await settle(pilot)
        assert pane(pilot).list.has_focus
        assert "▌" in listed(pilot, 2)


async def test_what_was_left_out_and_why(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        bench.happened[2] = replace(
            bench.happened[2], status="dormant", text="Tide table for the park office"
        )
        await ask(pilot, "tide")
        await pilot.press("x")
        await settle(pilot)
        assert "Left out  1" in read(pilot)
        assert "Faded: its score is 0.18" in read(pilot)


async def test_why_not_is_asked_about_a_memory_found_by_its_words(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "tide gauge")
        await pilot.press("w")
        await settle(pilot)
        await pilot.press(*"weekly")
        await settle(pilot)
        assert "Set up the weekly backup" in listed(pilot)
        assert "“weekly”" in listed(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "the 212th nearest" in read(pilot)
        assert "→ Ask with a word of it" in read(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.screen.query_one(VirtualList).display
        await pilot.press(*["backspace"] * 6, *"no-such", "enter")
        await settle(pilot)
        assert "There is no memory “no-such”" in read(pilot)
        await pilot.press("escape", "escape")
        await settle(pilot)
        assert not isinstance(pilot.app.screen, WhyNotScreen)
        assert pane(pilot).list.has_focus


async def test_questions_asked_before_are_offered_and_esc_begins_again(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "tide gauge")
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(pilot.app.screen.focused, FilterInput)
        assert "Asked before" in listed(pilot)
        await pilot.press(*"permit")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert pane(pilot).list.has_focus
        await pilot.press("1")
        await settle(pilot)
        assert pilot.app.query_one("#core").display
        await pilot.press("4", "enter")
        await settle(pilot)
        assert pane(pilot).filter_bar.text == "permit"


async def test_a_question_is_asked_again_when_memory_changes(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await ask(pilot, "tide")
        await pilot.press("down")
        at = pane(pilot).list.cursor_key
        bench.happened = [each for each in bench.happened if each.id != GAUGE]
        bench._changed("elsewhere", None)
        await settle(pilot)
        assert "The new tide gauge" not in listed(pilot)
        assert pane(pilot).list.cursor_key == at


async def test_a_search_that_fails_says_so(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(request: SearchRequest) -> Found:
        raise StorageError(f"The index cannot be read for {request.query}.", remedy="Rebuild it.")

    async with running(bench) as pilot:
        monkeypatch.setattr(bench, "search", fail)
        await ask(pilot, "tide", enter=False)
        assert answer(pilot) == "! The index cannot be read for tide. Rebuild it."


async def test_an_index_that_is_behind_is_told_where_nothing_is_found(
    bench: FakeBench, running: Running
) -> None:
    bench.answer = found(stale="The index is not up to date: 31 files are not read yet.")
    async with running(bench) as pilot:
        await ask(pilot, "tide", enter=False)
        assert "Nothing found so far" in listed(pilot)
        assert "! The index is not up to date: 31 files" in answer(pilot)


async def test_nothing_at_all_teaches(running: Running) -> None:
    async with running(FakeBench.empty()) as pilot:
        await pilot.press("4")
        await settle(pilot)
        assert "There is nothing to find yet" in listed(pilot)
        await pilot.press(*"store:core")
        await settle(pilot)
        assert "What is it about?" in listed(pilot)

"""The Core pane: budgets that move while one types, edits that are refused with a reason, and undo."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import Running
from tests.tui.fake_bench import FakeBench, tokens_of
from tests.tui.stillness import settle
from workbench.display.budget import CAP, OVER, budget_bar, budget_line
from workbench.display.ink import plain_text
from workbench.tui.panes.core import CorePane
from workbench.tui.views.core import total_line
from workbench.tui.widgets.filter_bar import FilterInput
from workbench.tui.widgets.item_editor import DraftArea, ItemEditor
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.status_line import StatusLine


def pane(pilot: Pilot[None]) -> CorePane:
    return pilot.app.query_one(CorePane)


def editor_text(pilot: Pilot[None]) -> str:
    editor = pane(pilot).query_one(ItemEditor)
    bars = [plain_text(bar.line) for bar in editor.query(StatusLine)]
    problem = " ".join(plain_text(line) for line in editor.query_one("#editor-problem", Lines).lines(200))
    return "\n".join([*bars, problem])


def toasts(pilot: Pilot[None]) -> list[str]:
    return [notification.message for notification in pilot.app._notifications]


async def test_blocks_and_items_are_listed_with_their_tokens(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        screen = "\n".join(pane(pilot).list.render_line(y).text for y in range(25))
        for name, items in bench.blocks.items():
            assert name in screen
            assert all(item.text[:20] in screen for item in items)
        assert "◆ Name: Mira Halvorsen" in screen
        assert f"{bench.core().tokens:,}" in plain_text(pilot.app.query_one("#core-total", StatusLine).line)


async def test_the_bars_move_as_one_types(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("down", "e")
        await settle(pilot)
        before = editor_text(pilot)
        await pilot.press(*"abcdefghijklmnop")
        await settle(pilot)
        assert editor_text(pilot) != before
        block = bench.core().blocks[0]
        text = pane(pilot).query_one(DraftArea).text
        expected = block.tokens - block.items[1].tokens + tokens_of(text)
        assert f"{expected} / " in editor_text(pilot)
        heading = pane(pilot).list.render_line(0).text
        assert f"{expected} / " in heading
        assert not bench.calls


async def test_enter_saves_and_u_takes_it_back(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("e", "!", "enter")
        await settle(pilot)
        assert bench.calls == [("set", "Name: Mira Halvorsen!")]
        assert pane(pilot).list.has_focus
        assert pane(pilot).list.cursor_key.endswith("mira-halvorsen")
        await pilot.press("u")
        await settle(pilot)
        assert bench.blocks["Identity"][0].text == "Name: Mira Halvorsen"
        assert "Mira Halvorsen" in pane(pilot).list.render_line(1).text
        assert any("Undone" in message for message in toasts(pilot))
        await pilot.press("U")
        await settle(pilot)
        assert bench.blocks["Identity"][0].text.endswith("!")


async def test_an_edit_over_the_cap_is_refused_in_words_and_nothing_is_lost(
    bench: FakeBench, running: Running
) -> None:
    bench.cap = bench.core().tokens + 5
    async with running(bench) as pilot:
        await pilot.press("e", *("word " * 20))
        await settle(pilot)
        assert OVER in editor_text(pilot)
        assert CAP in editor_text(pilot)
        assert "over" in editor_text(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert not bench.calls
        assert "Core memory would take" in editor_text(pilot)
        assert "Make room first" in editor_text(pilot)
        assert pane(pilot).query_one(DraftArea).has_focus
        await pilot.press("escape")
        await settle(pilot)
        assert "✎" in pane(pilot).list.render_line(1).text
        await pilot.press("e")
        await settle(pilot)
        assert "word word" in pane(pilot).query_one(DraftArea).text


async def test_new_items_many_lines_and_empty_ones(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("n", "enter")
        await settle(pilot)
        assert "needs some text" in editor_text(pilot)
        await pilot.press("a", "ctrl+j", "b", "enter")
        await settle(pilot)
        assert bench.calls == [("add", "a\nb")]
        assert pane(pilot).list.cursor_key == "core:identity:a-b"


async def test_marked_items_are_pinned_and_removed_together(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("down", "space", "space", "p")
        await settle(pilot)
        name, ids = bench.calls[-1]
        assert name == "pin"
        assert isinstance(ids, tuple)
        assert len(ids) == 2
        await pilot.press("v", "down", "f")
        await settle(pilot)
        assert bench.calls[-1][0] == "remove"
        assert len(bench.blocks["Identity"]) == 3


async def test_the_filter_narrows_and_escape_widens(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        await pilot.press("slash", *"tid")
        await settle(pilot)
        assert pane(pilot).list.cursor_key.startswith("core:")
        assert len(pane(pilot).list.rows) < 12
        await pilot.press("down", "enter")
        assert pane(pilot).list.has_focus
        await pilot.press("escape")
        await settle(pilot)
        assert len(pane(pilot).list.rows) > 15


async def test_a_filter_takes_keys_only_while_it_is_shown(bench: FakeBench, running: Running) -> None:
    async with running(bench) as pilot:
        field = pilot.app.query_one(FilterInput)
        assert not field.focusable
        await pilot.press("slash")
        await settle(pilot)
        assert field.has_focus
        await pilot.press("escape")
        await settle(pilot)
        assert not field.focusable


async def test_an_editor_gets_the_whole_block(
    bench: FakeBench, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(_app: object, text: str, *, suffix: str) -> str:
        assert suffix == ".md"
        return text.replace("Lisbon", "Porto")

    monkeypatch.setattr("workbench.tui.panes.core.edit_in_editor", write)
    async with running(bench) as pilot:
        await pilot.press("E")
        await settle(pilot)
        assert bench.calls[-1][0] == "source"
        assert any(item.text == "Timezone: Europe/Porto" for item in bench.blocks["Identity"])


async def test_a_reader_is_told_what_to_do_instead(bench: FakeBench, running: Running) -> None:
    bench.role = "reader"
    async with running(bench) as pilot:
        await pilot.press("p")
        await settle(pilot)
        assert not bench.calls
        assert "A reader changes nothing. Open the workspace as a person." in toasts(pilot)[-1]


async def test_changes_from_elsewhere_appear_by_themselves_with_the_cursor_where_it_was(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await pilot.press("down", "down")
        key = pane(pilot).list.cursor_key
        bench.add_core("Identity", "Email: mira@example.org")
        await settle(pilot)
        await settle(pilot)
        screen = "\n".join(pane(pilot).list.render_line(y).text for y in range(25))
        assert "mira@example.org" in screen
        assert pane(pilot).list.cursor_key == key


async def test_quitting_asks_only_about_drafts_and_not_with_its_own_key(
    bench: FakeBench, running: Running
) -> None:
    async with running(bench) as pilot:
        await pilot.press("e", "x", "escape")
        await settle(pilot)
        await pilot.press("ctrl+q", "ctrl+q", "enter")
        await settle(pilot)
        assert pilot.app.is_running
        assert len(pilot.app.screen_stack) == 1
        await pilot.press("ctrl+q", "d")
        await pilot.pause()
        assert pilot.app._exit


async def test_an_empty_core_teaches(running: Running) -> None:
    async with running(FakeBench.empty()) as pilot:
        screen = "\n".join(pane(pilot).list.render_line(y).text for y in range(20))
        assert "no core memory yet" in screen
        assert "workbench init" in screen


def test_a_bar_says_over_in_form_and_in_words() -> None:
    fine, over = plain_text(budget_line("A", 400, 500, 80)), plain_text(budget_line("A", 600, 500, 80))
    assert "100 left" in fine
    assert OVER not in fine
    assert "100 over" in over
    assert OVER in over
    for used in (0, 1, 499, 500, 501, 50_000):
        assert len(plain_text(budget_bar(used, 500, 30))) == 30


def test_total_follows_what_is_typed(bench: FakeBench) -> None:
    added = bench.preview_core("Persona", None, "x" * 400)
    assert added.tokens == bench.core().tokens + tokens_of("x" * 400)
    assert f"{added.tokens:,} / " in plain_text(total_line(added, 90))

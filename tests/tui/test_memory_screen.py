"""The full detail of one memory over a real workspace: what it shows, where it leads, and what can be done in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.seen_screen import app_of, file_text, newest, press, screen_text, show, status, toasts
from tests.tui.seen_workspace import (
    BELIEVED,
    FERRY,
    LEARNED_FROM,
    MEI,
    SUPERSEDED,
    TIDES,
    WITHOUT_FILE,
    YUSUF,
    looking,
    open_seen,
)
from workbench.display.ink import line_width, plain_text
from workbench.engine import FixedClock, Workspace
from workbench.tui.screens.edit import EditScreen
from workbench.tui.screens.memory import MemoryScreen
from workbench.tui.views.one_memory import Shown, memory_lines
from workbench.tui.widgets.detail import Detail
from workbench.tui.workspace_bench import WorkspaceBench

FERRY_FILE = "memory/graph/entities/project--ferry.md"
SIZES = [(80, 24), (100, 32), (120, 40), (200, 60)]


def shown(workspace: Workspace, memory_id: str) -> Shown:
    bench = WorkspaceBench(workspace)
    memory = bench.memory(memory_id)
    if not memory_id.startswith("entity:"):
        return Shown(memory)
    whole = memory_id.partition("#")[0]
    return Shown(memory, bench.graph(whole), None if whole == memory_id else bench.memory(whole))


def text_of(workspace: Workspace, memory_id: str, width: int = 88) -> str:
    return "\n".join(map(plain_text, memory_lines(shown(workspace, memory_id), width)))


def links_of(workspace: Workspace, memory_id: str) -> set[str]:
    return {span.link for line in memory_lines(shown(workspace, memory_id), 88) for span in line if span.link}


def test_an_entity_is_shown_with_all_there_is(seen: Workspace) -> None:
    text = text_of(seen, FERRY)
    for part in (
        "Ferry",
        "The boat between Barreiro and Lisbon",
        "The ferry sails by the tide tables",
        "since 12 Jan 2026 · from 12 Jan 2026, 10:05",
        "depends-on → Timetable",
        "develops   ← يوسف",
        "Who pays for the second radar?",
        "The second boat came",
        "Superseded",
        "base 1 × decay 1 (days 0, λ 0.03) × use 2.58 (accesses 5) × type 1.2",
        "What links here",
    ):
        assert part in text, part


def test_a_fact_stands_first_and_the_entity_follows(seen: Workspace) -> None:
    text = text_of(seen, BELIEVED)
    assert text.startswith("◇ The ferry sails by the tide tables of the harbour")
    assert "Known of Ferry" in text
    assert "in place of The ferry sails by the clock alone" in text
    assert "active, as Ferry is" in text
    assert text.index("Comes from") < text.index("Relations")
    assert {LEARNED_FROM, SUPERSEDED, FERRY} <= links_of(seen, BELIEVED)


def test_what_holds_no_longer_says_so_and_leads_to_what_does(seen: Workspace) -> None:
    text = text_of(seen, SUPERSEDED)
    assert "No longer held of Ferry" in text
    assert "replaced by The ferry sails by the tide tables" in text
    assert BELIEVED in links_of(seen, SUPERSEDED)


def test_a_relation_is_read_as_words(seen: Workspace) -> None:
    assert text_of(seen, f"{FERRY}#^rtim").startswith("◇ depends-on: Timetable")


def test_what_never_fades_says_so(seen: Workspace) -> None:
    assert "pinned: it never fades" in text_of(seen, "vault:why-there-is-a-ferry.md")
    assert "◆ pinned" in text_of(seen, TIDES)


@pytest.mark.parametrize("width", [20, 33, 60, 76, 200])
@pytest.mark.parametrize(
    "memory_id", [FERRY, BELIEVED, MEI, YUSUF, LEARNED_FROM, "procedure:how-to-cancel-a-sailing"]
)
def test_nothing_is_wider_than_the_screen(seen: Workspace, memory_id: str, width: int) -> None:
    lines = memory_lines(shown(seen, memory_id), width)
    assert max(map(line_width, lines)) <= width


@pytest.mark.parametrize("size", SIZES)
async def test_its_way_out_can_be_seen_at_every_size(seen: Workspace, size: tuple[int, int]) -> None:
    async with looking(seen, size) as pilot:
        await show(pilot, FERRY)
        assert "esc close" in screen_text(pilot)
        assert "Ferry" in screen_text(pilot)


async def test_links_are_followed_inside_and_the_way_leads_back(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, LEARNED_FROM)
        screen = pilot.app.screen
        assert isinstance(screen, MemoryScreen)
        await press(pilot, "tab", "tab", "enter")
        assert screen.memory_id == BELIEVED
        assert "esc back" in screen_text(pilot)
        await press(pilot, "tab", "enter")
        assert screen.memory_id == FERRY
        await press(pilot, "left_square_bracket")
        assert screen.memory_id == BELIEVED
        await press(pilot, "right_square_bracket")
        assert screen.memory_id == FERRY
        await press(pilot, "escape", "escape")
        assert screen.memory_id == LEARNED_FROM
        assert screen.query_one(Detail).link == 1
        await press(pilot, "escape")
        assert len(pilot.app.screen_stack) == 1


async def test_a_relation_leads_to_its_other_end(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, FERRY)
        screen = pilot.app.screen
        assert isinstance(screen, MemoryScreen)
        detail = screen.query_one(Detail)
        while "tide-tables" not in detail.focused_link:
            await pilot.press("tab")
        await press(pilot, "enter")
        assert screen.memory_id == TIDES


async def test_a_change_leads_to_the_audit_log_and_back_into_the_memory(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, BELIEVED)
        await press(pilot, "h")
        assert app_of(pilot).pane.id == "audit"
        await press(pilot, "left_square_bracket")
        assert isinstance(pilot.app.screen, MemoryScreen)
        assert pilot.app.screen.memory_id == BELIEVED
        assert app_of(pilot).pane.id == "core"


@pytest.mark.parametrize(("key", "pane"), [("D", "decay"), ("B", "past"), ("g", "graph"), ("h", "audit")])
async def test_it_can_be_seen_elsewhere(seen: Workspace, key: str, pane: str) -> None:
    async with looking(seen) as pilot:
        await show(pilot, FERRY)
        await press(pilot, key)
        assert len(pilot.app.screen_stack) == 1
        assert app_of(pilot).pane.id == pane


async def test_a_fact_is_reworded_in_its_line_alone(seen: Workspace) -> None:
    before = file_text(seen, FERRY_FILE)
    async with looking(seen) as pilot:
        await show(pilot, BELIEVED)
        await press(pilot, "e", *" of Lisbon", "enter")
        assert "Saved." in toasts(pilot)
        assert file_text(seen, FERRY_FILE) == before.replace("of the harbour", "of the harbour of Lisbon")
        assert "of the harbour of Lisbon" in screen_text(pilot)
        await press(pilot, "u")
        assert file_text(seen, FERRY_FILE) == before
        assert "tide tables of the harbour of Lisbon" not in screen_text(pilot)
        await press(pilot, "U")
        assert "tide tables of the harbour of Lisbon" in screen_text(pilot)


async def test_a_whole_entity_is_edited_as_its_file(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, MEI)
        await press(pilot, "e", "ctrl+end", "enter", *"## Open Questions", "enter", *"- Why?", "ctrl+s")
        assert "- Why?" in file_text(seen, "memory/graph/entities/person--陈美.md")
        assert "? Why?" in screen_text(pilot)


async def test_a_text_that_was_changed_meanwhile_is_not_overwritten(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, BELIEVED)
        await press(pilot, "e", *" today")
        seen.edit(BELIEVED, "The ferry sails by the moon")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, EditScreen)
        assert "It was changed meanwhile" in screen_text(pilot)
        assert "▏ The ferry sails by the moon" in screen_text(pilot)
        assert "by the moon" in file_text(seen, FERRY_FILE)
        await press(pilot, "enter")
        assert "of the harbour today" in file_text(seen, FERRY_FILE)


async def test_an_empty_text_is_not_taken(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, BELIEVED)
        head = seen.head()
        await press(pilot, "e", "ctrl+u", "enter")
        assert "A memory needs some text." in screen_text(pilot)
        assert seen.head() == head


async def test_it_is_pinned_forgotten_and_shown_anew(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, LEARNED_FROM)
        await press(pilot, "p")
        assert "◆ pinned" in screen_text(pilot)
        assert status(seen, LEARNED_FROM) == "pinned"
        await press(pilot, "p", "f")
        assert "archived" in screen_text(pilot)
        assert "[ARCHIVE]" in newest(seen)
        await press(pilot, "u")
        assert "fading" in screen_text(pilot)


async def test_help_explains_the_keys_that_work_in_it(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, LEARNED_FROM)
        await press(pilot, "question_mark", *"protect from")
        assert "Protect from decay" in " ".join(screen_text(pilot).split())
        await press(pilot, "enter")
        assert status(seen, LEARNED_FROM) == "pinned"
        assert isinstance(pilot.app.screen, MemoryScreen)


async def test_what_others_change_meanwhile_is_shown(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, BELIEVED)
        seen.edit(BELIEVED, "The ferry sails by the stars")
        app_of(pilot).post_message(app_of(pilot).MemoryChanged())
        await press(pilot, "home")
        assert "by the stars" in screen_text(pilot)


async def test_an_entity_without_a_file_is_explained(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await show(pilot, WITHOUT_FILE)
        assert "only relations name it" in " ".join(screen_text(pilot).split())
        await press(pilot, "e", "p", "f", "m")
        assert isinstance(pilot.app.screen, MemoryScreen)


HOSTILE = (
    "[bold]not markup[/nope] [@click=app.quit]x[/]",
    "\x1b[31mred\x1b]0;title\x07 and \x9b2J",
    "\u202eright to left\u202c and \u2066isolated",
    "x" * 10_000,
    "字" * 5_000,
)


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_texts_are_text(seen_folder: Path, seen_clock: FixedClock, text: str) -> None:
    place = seen_folder / "memory/graph/entities/place--berlenga.md"
    place.write_text(place.read_text().replace("Berlenga is too far out for the ferry", text))
    with open_seen(seen_folder, seen_clock) as workspace:
        async with looking(workspace, (80, 24)) as pilot:
            await show(pilot, "entity:place--berlenga#^ffar")
            assert isinstance(pilot.app.screen, MemoryScreen)
            assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"} & set(screen_text(pilot))
            await press(pilot, "e")
            assert isinstance(pilot.app.screen, EditScreen)
            assert not {"\x1b", "\x07", "\x9b"} & set(screen_text(pilot))
            await press(pilot, "escape", "tab", "y", "escape")


@pytest.mark.parametrize("key", ["p", "f", "u"])
async def test_a_reader_is_refused(seen_folder: Path, seen_clock: FixedClock, key: str) -> None:
    with open_seen(seen_folder, seen_clock, role="reader") as workspace:
        head, before = workspace.head(), file_text(workspace, FERRY_FILE)
        async with looking(workspace) as pilot:
            await show(pilot, BELIEVED)
            await press(pilot, key)
            assert "reader" in toasts(pilot)
            assert (workspace.head(), file_text(workspace, FERRY_FILE)) == (head, before)

"""What can be done to a memory from the panes: each key is one change of the files, in history, and can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.seen_screen import app_of, file_text, newest, press, screen_text, status, toasts
from tests.tui.seen_workspace import ARCHIVED, FERRY, INES, LEARNED_FROM, looking, open_seen
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.tui import memory_actions
from workbench.tui.bench import Memory
from workbench.tui.memory_actions import history_link, means_something
from workbench.tui.panes.on_memories import OnMemories
from workbench.tui.screens.edit import EditScreen
from workbench.tui.screens.memory import MemoryScreen
from workbench.tui.trail import Place

FERRY_FILE = "memory/graph/entities/project--ferry.md"
EPISODES = "memory/episodes/2026-01-12.md"


def memory(memory_id: str, *provenance: str) -> Memory:
    return Memory(memory_id, "semantic", "memory/x.md", 1, 1, "x", provenance=provenance)


@pytest.mark.parametrize(
    ("action", "here", "meant"),
    [
        ("merge", FERRY, True),
        ("merge", f"{FERRY}#^fdep", False),
        ("merge", LEARNED_FROM, False),
        ("pin", f"{FERRY}#^fdep", True),
        ("pin", "vault:x.md", False),
        ("forget", "file:memory/2026-01-30.md#L1-L3", False),
        ("edit_here", "file:memory/2026-01-30.md#L1-L3", True),
        ("see_in_decay", "vault:x.md", True),
        ("see_before", "commit:0123", False),
        ("open_source", FERRY, False),
        ("show_history", "", False),
    ],
)
def test_only_what_means_something_is_offered(action: str, here: str, meant: bool) -> None:
    assert means_something(action, (here,), here, None) is meant


def test_a_source_is_offered_once_it_is_known_and_a_memory() -> None:
    assert means_something("open_source", (FERRY,), FERRY, memory(FERRY, LEARNED_FROM))
    assert not means_something("open_source", (FERRY,), FERRY, memory(FERRY, "conversation"))


def test_several_are_acted_on_only_where_all_can_be() -> None:
    assert means_something("pin", (FERRY, LEARNED_FROM), FERRY, None)
    assert not means_something("pin", (FERRY, "vault:x.md"), FERRY, None)


def test_history_is_that_of_the_file() -> None:
    assert history_link(LEARNED_FROM, None) == f"history:{EPISODES}"
    assert history_link(FERRY, memory(FERRY)) == "history:memory/x.md"


async def test_marked_episodes_are_pinned_in_one_commit_and_let_go_again(seen: Workspace) -> None:
    async with looking(seen, target=LEARNED_FROM) as pilot:
        await press(pilot, "space", "down", "space", "p")
        assert "pinned 2 memories" in newest(seen)
        assert "Pinned 2 memories." in toasts(pilot)
        await press(pilot, "u")
        assert status(seen, LEARNED_FROM) == "fading"
        await press(pilot, "p", "p")
        assert "unpinned" in newest(seen)


async def test_what_is_forgotten_is_archived_and_brought_back_by_the_same_key(seen: Workspace) -> None:
    async with looking(seen, target=ARCHIVED) as pilot:
        await press(pilot, "f")
        assert "restored" in newest(seen).lower()
        assert "Brought back one memory." in toasts(pilot)
        await press(pilot, "f")
        assert "[ARCHIVE]" in newest(seen)
        await press(pilot, "u")
        assert status(seen, ARCHIVED) == "dormant"


async def test_a_correction_is_written_in_place_and_stands_beside_the_episode(seen: Workspace) -> None:
    before = file_text(seen, EPISODES)
    async with looking(seen, target=LEARNED_FROM) as pilot:
        await press(pilot, "e")
        assert isinstance(pilot.app.screen, EditScreen)
        assert "A correction of episode:2026-01-12:10:05" in screen_text(pilot)
        await press(pilot, *" or the wind", "enter")
        assert len(pilot.app.screen_stack) == 1
        assert "The correction stands beside" in toasts(pilot)
        assert file_text(seen, EPISODES).startswith(before.rstrip())
        corrections = [
            path for path in (seen.root / "memory/episodes").iterdir() if "or the wind" in path.read_text()
        ]
        assert len(corrections) == 1
        await press(pilot, "u")
        assert not any(
            "or the wind" in path.read_text() for path in (seen.root / "memory/episodes").iterdir()
        )


async def test_a_text_comes_back_from_the_users_own_editor(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def write(_app: object, text: str, *, suffix: str) -> str:
        given.append(text + suffix)
        return "Tell the quay by radio, twice\n"

    monkeypatch.setattr(memory_actions, "edit_in_editor", write)
    async with looking(seen, target=LEARNED_FROM) as pilot:
        app_of(pilot).memory_actions.edit_in_editor(f"{FERRY}#^frun")
        await settle(pilot)
        assert given == ["The ferry leaves Barreiro every twenty minutes.md"]
        assert "- Tell the quay by radio, twice (since 2025-12-04" in file_text(seen, FERRY_FILE)
        head = seen.head()
        app_of(pilot).memory_actions.edit_in_editor(f"{FERRY}#^frun")
        await settle(pilot)
        assert seen.head() == head


async def test_an_unsaved_text_is_kept_as_a_draft_and_counted_when_leaving(seen: Workspace) -> None:
    async with looking(seen, target=LEARNED_FROM) as pilot:
        await press(pilot, "e", *" and", "escape")
        assert len(pilot.app.screen_stack) == 1
        assert app_of(pilot).memory_actions.drafts == 1
        await press(pilot, "ctrl+q")
        assert "Leave an unsaved draft?" in screen_text(pilot)
        await press(pilot, "escape", "e")
        assert "not by the clock and" in screen_text(pilot)
        await press(pilot, "backspace", "backspace", "backspace", "backspace", "escape")
        assert app_of(pilot).memory_actions.drafts == 0


async def test_an_item_of_core_memory_is_pinned_in_its_file(seen: Workspace) -> None:
    async with looking(seen) as pilot:
        await press(pilot, "p")
        assert "- Name: Inês Duarte <!-- pinned -->" in file_text(seen, "MEMORY.md")
        await press(pilot, "u")
        assert "- Name: Inês Duarte\n" in file_text(seen, "MEMORY.md")


async def test_enter_goes_into_the_detail_and_on_to_the_whole_memory(seen: Workspace) -> None:
    async with looking(seen, target=LEARNED_FROM) as pilot:
        await press(pilot, "enter")
        assert len(pilot.app.screen_stack) == 1
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, MemoryScreen)
        await press(pilot, "escape", "escape")
        assert app_of(pilot).pane.list.has_focus


async def test_history_and_the_past_are_one_key_away(seen: Workspace) -> None:
    async with looking(seen, target=LEARNED_FROM) as pilot:
        await press(pilot, "h")
        assert app_of(pilot).pane.place() == Place(
            "audit", app_of(pilot).pane.list.cursor_key, f"file:{EPISODES}"
        )
        await press(pilot, "left_square_bracket", "D")
        assert app_of(pilot).pane.id == "decay"
        await press(pilot, "left_square_bracket", "B")
        assert app_of(pilot).pane.id == "past"
        await press(pilot, "left_square_bracket")
        assert app_of(pilot).pane.place().key == LEARNED_FROM


async def test_two_entities_become_one_and_are_parted_by_undo(seen: Workspace) -> None:
    path = "memory/graph/entities/person--ines-duarte.md"
    before = file_text(seen, path)
    async with looking(seen, target=INES) as pilot:
        app_of(pilot).memory_actions.merge(INES, "Inês Duarte")
        await press(pilot, *"ines")
        assert "Merge Inês Duarte with which one?" in screen_text(pilot)
        await press(pilot, "enter")
        await press(pilot, "w")
        assert "has the keys of the boat shed" in file_text(seen, path)
        assert "Merged them." in toasts(pilot)
        await press(pilot, "u")
        assert file_text(seen, path) == before


async def test_a_merge_that_is_proposed_waits_in_the_inbox(seen: Workspace) -> None:
    async with looking(seen, target=INES) as pilot:
        app_of(pilot).memory_actions.merge(INES, "Inês Duarte")
        await press(pilot, *"ines", "enter", "p")
        assert seen.review_waiting() == 1
        assert "[MERGE]" not in newest(seen)
        assert "◆ 1" in screen_text(pilot).splitlines()[-1]


async def test_pinning_needs_no_more_reading_than_the_pane_has_done(seen: Workspace) -> None:
    async with looking(seen, target=LEARNED_FROM) as pilot:
        pane = app_of(pilot).pane
        assert isinstance(pane, OnMemories)
        assert pane.status_of(LEARNED_FROM) == "fading"
        assert pane.status_of(ARCHIVED) == "archived"


@pytest.mark.parametrize("key", ["p", "f", "u"])
async def test_a_reader_is_refused_and_nothing_changes(
    seen_folder: Path, seen_clock: FixedClock, key: str
) -> None:
    with open_seen(seen_folder, seen_clock, role="reader") as workspace:
        head = workspace.head()
        async with looking(workspace, target=LEARNED_FROM) as pilot:
            await press(pilot, key)
            assert "reader" in toasts(pilot).lower() or "may not" in toasts(pilot).lower()
            assert workspace.head() == head
            assert "reader" in screen_text(pilot).splitlines()[0]


async def test_a_readers_text_is_refused_and_kept(seen_folder: Path, seen_clock: FixedClock) -> None:
    with open_seen(seen_folder, seen_clock, role="reader") as workspace:
        head = workspace.head()
        async with looking(workspace, target=LEARNED_FROM) as pilot:
            await press(pilot, "e", *" no", "enter")
            assert isinstance(pilot.app.screen, EditScreen)
            assert pilot.app.screen.draft.text.endswith(" no")
            assert workspace.head() == head

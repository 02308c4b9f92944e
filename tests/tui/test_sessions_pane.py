"""The Sessions pane over a real workspace: the list, what was said, memories and their lines, and what can be done."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.seen_workspace import NOW, looking
from tests.tui.sessions_hands import (
    DECIDED,
    FOREIGN_ID,
    MAIN,
    head,
    listed,
    open_sessions,
    pane,
    press,
    said,
    tell,
    transcript,
)
from tests.tui.stillness import settle
from workbench.display.lit_words import LIT
from workbench.engine import FixedClock, Workspace
from workbench.engine.results.sessions import Compacted, CompactionProgress
from workbench.tui.app import BenchApp
from workbench.tui.screens.memory import MemoryScreen


class SlowCompaction:
    """Stands in for `Workspace.session_compact`; goes on only when it is told to."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def __get__(self, workspace: Workspace, _owner: type) -> Callable[..., Compacted]:
        def compact(key: str, *, progress: Callable[[CompactionProgress], None], **more: Any) -> Compacted:
            progress(CompactionProgress("gathering", 3, 9))
            assert self.go_on.wait(60)
            return _bound(workspace)(key, progress=progress, **more)

        return compact


class ShortCompaction:
    """Stands in for `Workspace.session_compact`; keeps 100 tokens of what was said."""

    def __get__(self, workspace: Workspace, _owner: type) -> Callable[..., Compacted]:
        return partial(_bound(workspace), keep_tokens=100)


_COMPACT = vars(Workspace)["session_compact"]


def _bound(workspace: Workspace) -> Callable[..., Compacted]:
    compact: Callable[..., Compacted] = _COMPACT.__get__(workspace, type(workspace))
    return compact


def lit(pilot: Pilot[None]) -> set[str]:
    """Return what is lit in the transcript in sight."""
    shown = pane(pilot).conversation
    rows = (shown._pages.row(round(shown.scroll_y) + y) for y in range(shown.size.height))
    return {span.text for row in rows for span in row if span.role == LIT}


async def until(pilot: Pilot[None], came: Callable[[], bool]) -> None:
    """Wait until something is the case."""
    for _ in range(600):
        if came():
            return
        await pilot.pause(0.05)
    raise AssertionError(head(pilot) + said(pilot))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user’s folder with nothing in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def spoken(seen: Workspace, seen_clock: FixedClock, home: Path) -> Workspace:
    """The workspace with two sessions of its own and one of another program."""
    tell(seen, seen_clock, home, NOW)
    return seen


async def test_an_empty_pane_teaches(seen: Workspace, home: Path) -> None:
    assert not any(home.iterdir())
    async with looking(seen, (80, 24)) as pilot:
        await open_sessions(pilot)
        assert "No session was kept yet." in listed(pilot)
        assert "workbench sessions append" in listed(pilot)


async def test_sessions_of_all_places_are_listed_with_how_full_they_are(spoken: Workspace) -> None:
    async with looking(spoken, (80, 24)) as pilot:
        await open_sessions(pilot)
        text = listed(pilot)
        assert "This workspace · 2 sessions" in text
        assert "One session, only read · files · ~/.clawdbot" in text
        main = next(line for line in text.splitlines() if "● main" in line)
        assert "89%" in main  # as the head has it: 178,000 of 200,000
        assert "flush due" in main
        crew = next(line for line in text.splitlines() if "Crew" in line)
        assert "?" in crew
        assert "shared" in crew
        assert "whatsapp:dm:+351" in text


async def test_when_a_session_ends_is_told_whole(spoken: Workspace) -> None:
    async with looking(spoken, (120, 40)) as pilot:
        await open_sessions(pilot)
        # At a third of the width less, how large the transcript is makes room.
        told = [line for line in head(pilot).splitlines() if "· ends " in line]
        assert told
        assert not any("…" in line for line in told)


async def test_a_filter_narrows_the_list(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        await press(pilot, "slash", *"is", "colon", *"due")
        assert "main" in listed(pilot)
        assert "Crew" not in listed(pilot)
        await press(pilot, "escape", "slash", *"nothing")
        assert "Nothing matches." in listed(pilot)


async def test_the_newest_is_in_sight_and_everything_can_be_read(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        assert "Are you there?" in said(pilot)
        assert "L18 is no JSON" in said(pilot)
        assert "178,000 of 200,000" in head(pilot)
        assert "flush at 176,000" in head(pilot)
        assert "compaction at 180,000" in head(pilot)
        await press(pilot, "enter", "home")
        text = said(pilot)
        assert DECIDED in text
        assert "· free for the crew" in text
        assert '→ read {"path": "tickets.md"}' in text
        assert "← price 0 price 1" in text
        assert "40 lines" in text
        assert "price 30" not in text


async def test_a_result_unfolds_and_folds_again(spoken: Workspace) -> None:
    async with looking(spoken, (120, 60)) as pilot:
        shown = (await open_sessions(pilot)).conversation
        await press(pilot, "enter")
        shown.go_to(5)
        await settle(pilot)
        assert shown.number == 5
        assert shown.folds
        await press(pilot, "enter")
        assert "price 33" in said(pilot)
        await press(pilot, "enter")
        assert "price 33" not in said(pilot)
        assert shown.number == 5


async def test_the_cursor_walks_from_line_to_line(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        shown = (await open_sessions(pilot)).conversation
        await press(pilot, "enter", "home")
        assert shown.number == 1
        await press(pilot, "j", "j")
        assert shown.number == 3
        await press(pilot, "k")
        assert shown.number == 2
        await press(pilot, "end")
        assert shown.number == shown.total
        assert "Are you there?" in said(pilot)


async def test_a_line_leads_to_its_memory_and_the_memory_back(spoken: Workspace) -> None:
    flushed = spoken.session_flush(MAIN, now=True)
    memory = next(one for one in flushed.saved if "free for the crew" in one.text)
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        await press(pilot, "enter", "home", "j")
        assert pane(pilot).conversation.number == 2
        assert said(pilot).count("free for the crew") >= 2
        await press(pilot, "m")
        app = pilot.app
        assert isinstance(app, BenchApp)
        assert app.pane.id == "timeline"
        assert app.pane.list.cursor_key == memory.id
        shown = app.pane.detail
        assert "“We decided that tickets" in "\n".join(
            shown.render_line(y).text for y in range(shown.size.height)
        )
        await press(pilot, "o")
        assert app.pane.id == "sessions"
        assert pane(pilot).conversation.number == 2
        assert pane(pilot).conversation.has_focus
        await press(pilot, "left_square_bracket")
        assert app.pane.id == "timeline"


async def test_opening_the_bench_at_a_cited_line_shows_it(spoken: Workspace) -> None:
    citation = spoken.session(MAIN, line=6, limit=1).lines[0].citation
    async with looking(spoken, (80, 24), target=citation) as pilot:
        shown = pane(pilot)
        assert shown.conversation.number == 6
        assert "Question 0" in said(pilot)
        assert shown.citation == citation


async def test_a_cited_line_of_no_session_is_shown_by_itself(spoken: Workspace) -> None:
    async with looking(spoken, target="file:sessions/gone.jsonl#L3") as pilot:
        assert isinstance(pilot.app.screen, MemoryScreen)
        await press(pilot, "escape")
        assert len(pilot.app.screen_stack) == 1
        await press(pilot, "escape", "j", "k")
        assert "Are you there?" in said(pilot)


async def test_words_are_looked_for_around_the_end(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        shown = (await open_sessions(pilot)).conversation
        await press(pilot, "enter", "slash", *"SAILING", "enter")
        first = shown.number
        assert "sailing 0" in said(pilot)
        assert lit(pilot) == {"sailing"}
        await press(pilot, "n")
        assert shown.number == first + 2
        await press(pilot, "N", "N")
        assert "sailing 5" in said(pilot)
        await press(pilot, "slash")
        assert pilot.app.screen.query_one(Input).selected_text == "SAILING"
        await press(pilot, *"zeppelin", "enter")
        assert "sailing 5" in said(pilot)
        assert lit(pilot) == set()


async def test_words_in_what_is_folded_unfold_it_and_come_into_sight(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        await press(pilot, "enter", "slash", *"price", "space", *"37", "enter")
        assert "price 37" in said(pilot)
        assert lit(pilot) == {"price 37"}


async def test_a_compaction_tells_how_far_it_is_and_can_be_called_off(
    spoken: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workspace, "session_compact", slow := SlowCompaction())
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        await press(pilot, "c", "o")
        await until(pilot, lambda: "gathering 3 of 9" in head(pilot))
        assert "Compacting “main”" in head(pilot)
        assert "C cancel" in head(pilot)
        await press(pilot, "C")
        assert "stopping…" in head(pilot)
        slow.go_on.set()
        await until(pilot, lambda: "Compacting" not in head(pilot))
        assert "compaction" not in {line.kind for line in spoken.session(MAIN, limit=100).lines}
        monkeypatch.setattr(Workspace, "session_compact", ShortCompaction())
        await press(pilot, "c", "o")
        await until(
            pilot, lambda: "compaction" in {line.kind for line in spoken.session(MAIN, limit=100).lines}
        )
        await until(pilot, lambda: "Compacted" in said(pilot))


async def test_markup_in_what_was_said_is_text(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        assert "[b]sailing 5[/b]" in said(pilot)


async def test_flushing_asks_first_and_saves(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        before = spoken.head()
        await press(pilot, "w", "escape")
        assert spoken.head() == before
        await press(pilot, "w", "f")
        assert spoken.head() != before
        assert any("free for the crew" in entry.text for entry in spoken.timeline().entries)


async def test_what_is_done_to_a_foreign_session_is_done_to_a_copy(spoken: Workspace, home: Path) -> None:
    folder = home / ".clawdbot"
    before = _digest(folder)
    async with looking(spoken) as pilot:
        shown = await open_sessions(pilot)
        await press(pilot, "end")
        listed_here = shown.session_here()
        assert listed_here is not None
        assert listed_here.place == str(folder)
        assert "Only read" in head(pilot)
        await press(pilot, "R")
        assert len(pilot.app.screen_stack) == 1
        await press(pilot, "w")
        assert len(pilot.app.screen_stack) == 2
        await press(pilot, "f")
        assert any(row.key.endswith("whatsapp:dm:+351") for row in spoken.sessions().sessions)
    assert _digest(folder) == before


async def test_starting_over_keeps_the_old_transcript(spoken: Workspace) -> None:
    old = transcript(spoken)
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        await press(pilot, "R", "s")
        assert spoken.session(MAIN, limit=1).session.session_id != old.stem
        assert old.exists()
        assert "Nothing was said here." in said(pilot)


async def test_mending_empties_what_cannot_be_read(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await open_sessions(pilot)
        assert "is no JSON" in said(pilot)
        await press(pilot, "x", "m")
        assert "is no JSON" not in said(pilot)
        assert "Are you there?" in said(pilot)


async def test_another_place_can_be_looked_at(spoken: Workspace, tmp_path: Path) -> None:
    one = tmp_path / f"{FOREIGN_ID[:-1]}6.jsonl"
    one.write_bytes(transcript(spoken).read_bytes())
    async with looking(spoken) as pilot:
        shown = await open_sessions(pilot)
        shown.look_at(str(one))
        await settle(pilot)
        assert FOREIGN_ID[:16] in listed(pilot)


async def test_sessions_are_found_from_anywhere(spoken: Workspace) -> None:
    async with looking(spoken) as pilot:
        await press(pilot, "ctrl+p")
        await pilot.press(*"crew", "space", *"session")
        await settle(pilot)
        await press(pilot, "enter")
        app = pilot.app
        assert isinstance(app, BenchApp)
        assert app.pane.id == "sessions"
        assert app.pane.list.cursor_key == "agent:main:telegram:group:77"
        assert not isinstance(app.screen, MemoryScreen)


async def test_a_transcript_of_300_000_lines_opens_and_scrolls_without_being_read_whole(
    spoken: Workspace,
) -> None:
    place = transcript(spoken)
    with place.open("a", encoding="utf-8") as file:
        for number in range(300_000):
            message = {"role": "user", "content": f"Line {number}"}
            file.write(json.dumps({"type": "message", "id": f"x{number}", "message": message}) + "\n")
    async with looking(spoken) as pilot:
        shown = (await open_sessions(pilot)).conversation
        assert "Line 299999" in said(pilot)
        await press(pilot, "enter", "home")
        assert DECIDED in said(pilot)
        shown.go_to(150_000)
        await settle(pilot)
        assert shown.number == 150_000
        assert "L150000" in said(pilot)
        await press(pilot, "pagedown", "pagedown", "k")
        assert "…" not in said(pilot)
        assert shown._pages.kept <= 24


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(str(path).encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()

"""Bringing memory in: where from, what would come and what not, one undo, and nothing of it unasked."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.frame.hands import TWO_SIZES, drawn, frame_of, opened, press, press_at_work, said
from tests.tui.sheets.hands import card_of, rows_of, write
from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.engine.results.transfer import Imported, ImportProgress


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "kept-notes"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nSpring tides come at [/b] new moon.\n", encoding="utf-8")
    (folder / "boat.txt").write_text("The boat was painted in May.\n", encoding="utf-8")
    (folder / "scan.pdf").write_bytes(b"\0\1")
    return folder


async def choose(pilot: Pilot[None], path: Path) -> None:
    await press(pilot, "m", "i")
    await press(pilot, "G", "enter")
    await write(pilot, str(path))


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_what_would_come_is_shown_and_comes_in_with_one_undo(
    seen: Workspace, notes: Path, size: tuple[int, int]
) -> None:
    before = seen.head()
    async with opened(seen, size) as pilot:
        await choose(pilot, notes)
        assert rows_of(frame_of(pilot).place)[1].endswith("2 new")
        shown = card_of(pilot)
        assert "2 notes kept in memory/imports/kept-notes/" in shown
        assert "[/b] new moon" in shown
        assert "LEFT OUT" in shown
        assert "scan.pdf" in shown
        assert seen.head() == before
        await press(pilot, "enter")
        await settle(pilot)
        assert said(pilot).startswith("Imported 2 memories from kept-notes, 1 left out. u takes all")
        assert "The last of them" in card_of(pilot)
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ")
        assert not (seen.root / "memory/imports/kept-notes/tides.md").exists()
        assert rows_of(frame_of(pilot).place)[1].endswith("2 new")


async def test_as_proposals_they_wait_in_the_inbox(seen: Workspace, notes: Path) -> None:
    waiting = seen.inbox_waiting()
    async with opened(seen) as pilot:
        await choose(pilot, notes)
        await press(pilot, "j", "j")
        assert "each waits in the Inbox" in " ".join(card_of(pilot).split())
        await press(pilot, "enter")
        await settle(pilot)
        assert said(pilot).startswith("Imported 2 proposals")
    assert seen.inbox_waiting() == waiting + 2


async def test_what_is_there_already_does_not_come_twice(seen: Workspace, notes: Path) -> None:
    seen.import_from(str(notes))
    async with opened(seen) as pilot:
        await choose(pilot, notes)
        assert "Nothing of it is new." in card_of(pilot)
        await press(pilot, "enter")
        assert said(pilot) == f"Nothing of {notes} is new."


async def test_a_path_that_is_not_there_is_told_in_words_of_the_bench(
    seen: Workspace, tmp_path: Path
) -> None:
    async with opened(seen) as pilot:
        await choose(pilot, tmp_path / "nowhere")
        assert "cannot be brought in" in " ".join(card_of(pilot).split())
        await press(pilot, "enter")
        assert "workbench " not in said(pilot)


async def test_esc_stops_it_and_enter_goes_on(
    seen: Workspace, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_in = seen.import_from

    def slow(source: str, **options: Any) -> Imported:
        options["progress"](ImportProgress(1, 4, 0, 0))
        while not options["cancelled"]():
            threading.Event().wait(0.001)
        return bring_in(source, **options)

    async with opened(seen) as pilot:
        await choose(pilot, notes)
        with monkeypatch.context() as patch:
            patch.setattr(Workspace, "import_from", property(lambda _: slow))
            await press_at_work(pilot, "enter")
            while "import 25%" not in said(pilot):
                await press_at_work(pilot)
            await press(pilot, "escape")
            await settle(pilot)
        assert said(pilot) == "Nothing of kept-notes came in."
        await press(pilot, "enter")
        await settle(pilot)
        assert said(pilot).startswith("Imported 2 memories")


async def test_esc_goes_back_to_the_sources_and_then_to_where_one_was(seen: Workspace, notes: Path) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "4")
        await choose(pilot, notes)
        await press(pilot, "escape")
        assert "Write a path…" in rows_of(frame_of(pilot).place)
        await press(pilot, "escape")
        assert drawn(pilot, "crumbs").strip().startswith("Timeline")


async def test_other_programs_are_named_and_not_read(
    seen: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = tmp_path / "home/.claude"
    claude.mkdir(parents=True)
    (claude / "CLAUDE.md").write_text("# Rules\n\n- Never sail in fog\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with opened(seen) as pilot:
        await press(pilot, "m", "i")
        place = frame_of(pilot).place
        assert any(row.startswith("~/.claude") and row.endswith("Claude Code") for row in rows_of(place))
        assert "Never sail in fog" not in card_of(pilot)
        await press(pilot, "enter")
        assert "Never sail in fog" in card_of(pilot)

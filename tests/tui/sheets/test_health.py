"""Index and health: what works in part, what mends it with one key, and what was said."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.frame.hands import TWO_SIZES, drawn, frame_of, opened, press, said
from tests.tui.sheets.hands import card_of, rows_of
from tests.tui.stillness import settle
from workbench.display.words import SHELL
from workbench.engine import Workspace


@pytest.fixture
def partly(seen: Workspace) -> Workspace:
    file = seen.root / "memory/graph/entities/project--ferry.md"
    file.write_bytes(file.read_bytes() + b"\nwritten by \xff somebody\n")
    seen.refresh()
    return seen


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_a_broken_part_is_counted_and_opens_at_its_line(
    partly: Workspace, size: tuple[int, int]
) -> None:
    async with opened(partly, size) as pilot:
        # Notices are counted once everything else is shown.
        async with asyncio.timeout(60):
            while not said(pilot).endswith("1 notice"):
                await press(pilot)
        await press(pilot, "m", "d")
        rows = rows_of(frame_of(pilot).place)
        assert rows[0].startswith("WORKS IN PART")
        assert any("Not all of this file is UTF-8 text." in row for row in rows)
        place = frame_of(pilot).place
        place.reveal(next(each for each in map(place.list.rows.key, range(len(rows))) if "UTF-8" in each))
        await press(pilot)
        assert "opens the file at the line" in card_of(pilot)
        await press(pilot, "enter")
        evidence = frame_of(pilot).place.evidence.evidence
        assert evidence is not None
        assert evidence.title.startswith("memory/graph/entities/project--ferry.md · line")


async def test_the_index_is_brought_up_to_date_with_enter(seen: Workspace) -> None:
    seen.remember("The gangway was painted green", store="episodic")
    async with opened(seen) as pilot:
        await press(pilot, "m", "d")
        place = frame_of(pilot).place
        assert place.reveal("do:index")
        await press(pilot)
        await press(pilot, "enter")
        await settle(pilot)
        assert said(pilot).startswith("The index is up to date: ")
        assert not seen.index_status().dirty
        assert "Bring it up to date" not in rows_of(place)


async def test_a_folder_without_history_is_given_one(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# MEMORY.md\n\n## Identity\n- Name: Ada\n", encoding="utf-8")
    with Workspace.open(folder, role="person") as workspace:
        async with opened(workspace) as pilot:
            await press(pilot, "m", "d")
            place = frame_of(pilot).place
            assert place.reveal("do:init")
            await press(pilot)
            await press(pilot, "enter")
            assert said(pilot) == "Began a history of this folder."
            assert "Begin a history" not in rows_of(place)
        assert workspace.head() is not None


async def test_what_was_said_is_listed_and_nothing_names_the_shell(partly: Workspace) -> None:
    async with opened(partly) as pilot:
        await press(pilot, "f5", "m", "d")
        place = frame_of(pilot).place
        rows = rows_of(place, 200)
        at = next(at for at, row in enumerate(rows) if row.startswith("SAID IN THIS SESSION"))
        assert "no key here" in rows[at + 1]
        for row in range(len(rows)):
            if key := place.list.rows.key(row):
                place.list.go_to(key)
                await press(pilot)
                assert not SHELL.search(card_of(pilot)), key
        assert not [row for row in rows if SHELL.search(row)]


async def test_esc_leads_back_to_where_one_was(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "4", "m", "d", "escape")
        assert drawn(pilot, "crumbs").strip().startswith("Timeline")


async def go_to_history(pilot: Pilot[None]) -> None:
    """Go to what is said of the history in Health."""
    await press(pilot, "m", "d")
    rows = frame_of(pilot).place.list
    keys = [rows.rows.key(at) for at in range(len(rows.rows))]
    assert rows.go_to(next((key for key in keys if key.startswith("history:")), "none"))
    await press(pilot)


async def test_a_history_that_is_gone_is_begun_anew_once_that_was_asked(seen: Workspace) -> None:
    seen.remember("The bell was polished", store="episodic")
    shutil.rmtree(seen.root / ".audit")
    async with opened(seen) as pilot:
        await go_to_history(pilot)
        assert "begins a history" in card_of(pilot)
        await press(pilot, "enter")
        assert "Begin a new history?" in drawn(pilot, "keys")
        await press(pilot, "escape")
        assert seen.head() is None


async def test_a_damaged_history_is_set_aside_once_that_was_asked(seen: Workspace) -> None:
    seen.remember("The bell was polished", store="episodic")
    for file in (seen.root / ".audit").rglob("refs/heads/*"):
        file.write_text("nothing of git\n", encoding="utf-8")
    async with opened(seen) as pilot:
        await go_to_history(pilot)
        assert "sets the history aside" in card_of(pilot)
        await press(pilot, "enter")
        assert "Set the history aside?" in drawn(pilot, "keys")
        await press(pilot, "enter")
        assert said(pilot).startswith("The old history is in ")

"""A new memory: where it goes is said before, changed by key, and is where it went; at two sizes and in one go."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.frame.hands import TWO_SIZES, burst, frame_of, opened, press, said
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui.parts.editor import Editor
from workbench.tui.parts.line import DrawnLines


def shown(pilot: Pilot[None]) -> str:
    editor = frame_of(pilot).query_one(Editor)
    lines = [line for each in editor.query(DrawnLines) for line in each.lines(60)]
    return " ".join(" ".join(plain_text(line) for line in lines).split())


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_in_the_timeline_it_goes_to_the_day_under_the_cursor(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "G")
        key = frame_of(pilot).place.list.cursor_key
        entries = seen.timeline(limit=1000).entries
        day = next(each.day for each in entries if each.id == key)
        await press(pilot, "n")
        await burst(pilot, "the crane was mended")
        assert frame_of(pilot).query_one(Editor).areas[1].text.startswith("Timeline, ")
        await burst(pilot, "\n")
        new = {each.id: each for each in seen.timeline(limit=1000).entries}
        added = [each for each in new.values() if each.text == "the crane was mended"]
        assert [each.day for each in added] == [day]
        assert "Noted “" in said(pilot)
        assert said(pilot).endswith("u takes that back.")


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_in_core_it_joins_the_block_and_is_counted(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await burst(pilot, "3nOnly ever speaks of knots")
        assert "Identity +" in shown(pilot)
        await burst(pilot, "\nj")
        identity = next(block for block in seen.core().blocks if block.name == "Identity")
        assert identity.items[-1].text == "Only ever speaks of knots"


async def test_where_it_belongs_is_said_and_changed_by_key(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await burst(pilot, "nSend the tide tables every Friday\t")
        area = frame_of(pilot).query_one(Editor).areas[1]
        assert frame_of(pilot).focused is area
        assert area.text == "Timeline, today" or area.text.startswith("Timeline, ")
        await press(pilot, "x")
        assert said(pilot) == "↑ ↓ choose where it goes; tab goes to the next text."
        while area.text != "where it belongs":
            await press(pilot, "down")
        assert "GOES TO " in shown(pilot)
        while area.text != "Core, Persona":
            await press(pilot, "down")
        assert "Persona +" in shown(pilot)
        await press(pilot, "ctrl+s")
        persona = next(block for block in seen.core().blocks if block.name == "Persona")
        assert persona.items[-1].text == "Send the tide tables every Friday"


async def test_tags_are_taken_and_a_draft_is_kept(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await burst(pilot, "nThe net was torn\t\tnets, repairs\x1b")
        assert said(pilot).startswith("Kept a draft of the new memory")
        await press(pilot, "n")
        assert "A draft of 2 Feb was here" in shown(pilot)
        assert "TAGS nets, repairs" in shown(pilot)
        await press(pilot, "ctrl+s")
        added = next(each for each in seen.timeline(limit=1000).entries if each.text == "The net was torn")
        assert added.tags == ("nets", "repairs")


async def test_a_draft_goes_where_the_cursor_is_by_then(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await burst(pilot, "nMends nets\x1b3n")
        editor = frame_of(pilot).query_one(Editor)
        assert editor.areas[0].text == "Mends nets"
        assert editor.areas[1].text == "Core, Identity"


async def test_a_secret_is_said_to_be_held_back(seen: Workspace) -> None:
    async with opened(seen, (80, 24)) as pilot:
        await burst(pilot, "nThe token is ghp_" + "a1B2" * 9)
        assert "held back" in shown(pilot)
        before = len(seen.secrets_held().held)
        await press(pilot, "ctrl+s")
        assert said(pilot).startswith("Held back: ")
        assert len(seen.secrets_held().held) == before + 1

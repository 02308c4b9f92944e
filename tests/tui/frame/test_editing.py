"""Editing in the card: saved, kept as a draft, thrown away, refused, with what could go; at two sizes and in one go."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from textual import events

from tests.tui.frame.hands import TWO_SIZES, burst, drawn, frame_of, leave, opened, press, said
from tests.tui.seen_workspace import open_seen
from workbench.display.ink import plain_text
from workbench.engine import FixedClock, Workspace
from workbench.tui.frame.screen import Frame
from workbench.tui.parts.editor import Editor
from workbench.tui.parts.line import DrawnLines
from workbench.tui.verbs.rewording import room_needed

ITEM = "Runs the ferry at Barreiro"


def editor_of(frame: Frame) -> Editor:
    return frame.query_one(Editor)


def shown(frame: Frame) -> str:
    editor = editor_of(frame)
    widgets = [each for each in editor.children if isinstance(each, DrawnLines)]
    lines = [plain_text(line) for each in widgets for line in each.lines(each.size.width or 80)]
    return " ".join(" ".join(lines).split())


def fits_now(editor: Editor) -> bool:
    assert editor.outlook is not None
    return editor.outlook.fits and not editor.outlook.warning


def items(workspace: Workspace) -> list[str]:
    return [item.text for block in workspace.core().blocks for item in block.items]


async def to_item(_pilot: object, frame: Frame, text: str = ITEM) -> None:
    key = next(
        item.id for block in frame._workspace.core().blocks for item in block.items if item.text == text
    )
    assert frame.place.list.go_to(key)


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_an_item_is_reworded_in_one_burst_of_keys(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "3")
        await to_item(pilot, frame_of(pilot))
        await burst(pilot, "e at dawn\nj")
        assert said(pilot) == f"Reworded “{ITEM}”. u takes that back."
        assert ITEM + " at dawn" in items(seen)
        frame = frame_of(pilot)
        assert frame.focused is frame.place.list
        assert not frame.query(Editor)
        await press(pilot, "u")
        assert ITEM in items(seen)


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_esc_keeps_a_draft_that_another_day_goes_on_with(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame)
        await burst(pilot, "e by night\x1b")
        assert said(pilot).startswith("Kept a draft of “Runs the ferry")
        assert said(pilot).endswith("”; e goes on with it, ^x throws it away.")
        assert ITEM in items(seen)
        assert frame.focused is frame.place.list
        leave(pilot)
    async with opened(seen, size) as pilot:
        await press(pilot, "e")
        editor = editor_of(frame_of(pilot))
        assert editor.areas[0].text == ITEM + " by night"
        assert "A draft of 2 Feb was here; ^x throws it away." in shown(frame_of(pilot))
        await press(pilot, "enter")
        assert ITEM + " by night" in items(seen)
        await press(pilot, "ctrl+x")
        assert said(pilot) == "There is no draft of this."


async def test_a_draft_is_thrown_away_after_one_question(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame)
        await press(pilot, "e", "x", "ctrl+x")
        assert "Throw the draft of “Runs the ferry at Barreiro” away?" in drawn(pilot, "keys")
        await press(pilot, "escape")
        assert editor_of(frame).areas[0].text == ITEM + "x"
        await press(pilot, "ctrl+x")
        await press(pilot, "enter")
        assert not frame.query(Editor)
        assert said(pilot) == f"Threw the draft of “{ITEM}” away."
        await press(pilot, "e")
        assert editor_of(frame).areas[0].text == ITEM


async def test_what_does_not_fit_says_so_and_makes_room_by_ticks(seen: Workspace) -> None:
    for number in range(12):
        seen.core_add("Persona", f"Habit {number}: " + "kept since long ago, and told again and again " * 22)
    before = len(items(seen))
    async with opened(seen, (160, 40)) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame)
        await press(pilot, "e")
        words = " the tide tables say when" * 400
        pilot.app.post_message(events.Paste(words))
        await press(pilot)
        assert "does not fit" in shown(frame)
        assert "WHAT COULD GO" in shown(frame)
        await press(pilot, "enter")
        assert "more than its cap" in said(pilot)
        assert "What could go: “Habit " in said(pilot)
        assert "core:" not in said(pilot)
        assert editor_of(frame).is_mounted
        await press(pilot, "ctrl+a", "backspace")
        fits = " on some days" * 110
        pilot.app.post_message(events.Paste(ITEM + fits))
        await press(pilot)
        editor = editor_of(frame)
        assert not fits_now(editor)
        await press(pilot, "tab")
        assert frame.focused is editor.room
        assert drawn(pilot, "keys").split()[:4] == ["enter", "tick", "^s", "save"]
        await press(pilot, "p")
        assert said(pilot) == "space ticks what could go; tab goes back to the text."
        while not fits_now(editor):
            await press(pilot, "space")
        moved = len(editor.moving)
        await press(pilot, "ctrl+s")
        assert f"{'An item' if moved == 1 else f'{moved} items'} moved to the Timeline." in said(pilot)
        assert len(items(seen)) == before - moved


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_what_a_text_takes_is_in_sight_while_it_is_typed(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame)
        await press(pilot, "e")
        pilot.app.post_message(events.Paste(" the tide tables say when" * 100))
        await press(pilot)
        head = frame.query_one(".editor-head", DrawnLines)
        told = "\n".join(plain_text(line) for line in head.lines(head.size.width))
        assert "over its budget, a guide" in told
        assert "/   500" in told
        region = editor_of(frame).region
        assert region.y <= head.region.y < head.region.bottom <= region.bottom
        assert head.size.height == 3
        # The cap is what is enforced; the budget of a block is not.
        await press(pilot, "enter")
        assert "only the cap of 3,000 is enforced" in said(pilot)


@pytest.mark.parametrize(
    ("beyond", "sizes", "told"),
    [
        (0, [10], ""),
        (5, [], ""),
        (5, [10, 4], "5 tokens too many: the first frees that much."),
        (12, [10, 4], "12 tokens too many: the first 2 free that much."),
        (45, [10, 4], "45 tokens too many; all of these free 14: shorten the text as well."),
    ],
)
def test_how_much_would_have_to_go_is_told(beyond: int, sizes: list[int], told: str) -> None:
    assert room_needed(beyond, sizes) == told


async def test_a_text_changed_meanwhile_is_shown_before_it_is_replaced(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    name = "Name: Inês Duarte"
    async with opened(seen) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame, name)
        await press(pilot, "e", "!")
        with open_seen(seen.root, seen_clock, role="person") as other:
            key = next(i.id for b in other.core().blocks for i in b.items if i.text == name)
            other.core_replace(key, "Name: Inês Duarte Silva")
        await press(pilot, "enter")
        assert "It was changed meanwhile" in shown(frame)
        assert "▏ Name: Inês Duarte Silva" in shown(frame)
        await press(pilot, "enter")
        assert name + "!" in items(seen)


async def test_a_text_that_is_gone_meanwhile_can_be_kept_as_a_new_one(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame)
        await press(pilot, "e", "!")
        with open_seen(seen.root, seen_clock, role="person") as other:
            other.core_remove(next(i.id for b in other.core().blocks for i in b.items if i.text == ITEM))
        await press(pilot, "enter")
        assert "was changed or taken out meanwhile" in shown(frame)
        await press(pilot, "enter")
        assert ITEM + "!" in items(seen)


async def test_an_episode_gets_a_correction_beside_it(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        before = seen.timeline().total
        await press(pilot, "e", "!", "enter")
        assert said(pilot).startswith("Corrected “")
        assert seen.timeline().total == before + 1


async def test_hostile_and_huge_text_is_written_as_text(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        frame = frame_of(pilot)
        await to_item(pilot, frame)
        await press(pilot, "e")
        pilot.app.post_message(events.Paste("[red]x[/nothing] \x1b[31m \u202e " + "long " * 40_000))
        await press(pilot)
        area = editor_of(frame).areas[0]
        assert len(area.text) > 200_000
        pilot.app.post_message(events.Paste("x" * 1_000_000))
        await press(pilot)
        assert len(area.text) < 250_000
        assert "1,000,000 characters are more than can be written here" in shown(frame)
        picture = pilot.app.export_screenshot()
        assert "\x1b[31m" not in picture
        assert "\u202e" not in picture
        await press(pilot, "enter")
        assert ITEM in items(seen)


async def test_resizing_leaves_text_and_keys_where_they_are(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3", "e", "a", "b")
        frame = frame_of(pilot)
        area = editor_of(frame).areas[0]
        text = area.text
        for size in ((240, 60), (160, 40), (109, 30), (80, 24), (60, 20), (40, 10), (120, 36)):
            await pilot.resize_terminal(*size)
            await press(pilot)
            assert frame.focused is area
            assert area.text == text
            assert area.region.height > 0


async def test_the_editor_outside_saves_what_it_leaves(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "edit"
    program.write_text("#!/bin/sh\nprintf 'Runs the night ferry' > \"$1\"\n", encoding="utf-8")
    program.chmod(0o755)
    async with opened(seen) as pilot:
        await press(pilot, "3")
        await to_item(pilot, frame_of(pilot))
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.delenv("EDITOR", raising=False)
        await press(pilot, "E")
        assert said(pilot) == "No editor is set; e edits here."
        monkeypatch.setenv("EDITOR", str(program))
        monkeypatch.setattr(pilot.app, "suspend", nullcontext)
        await press(pilot, "E")
        assert said(pilot) == f"Reworded “{ITEM}”. u takes that back."
        assert "Runs the night ferry" in items(seen)


async def test_what_is_pasted_behind_a_text_is_a_word_of_its_own(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        await to_item(pilot, frame_of(pilot))
        await press(pilot, "e")
        pilot.app.post_message(events.Paste("and on Sundays"))
        await press(pilot)
        assert editor_of(frame_of(pilot)).areas[0].text == f"{ITEM} and on Sundays"


async def test_a_draft_that_leaving_kept_is_told_of_at_the_next_start(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        await to_item(pilot, frame_of(pilot))
        await press(pilot, "e", "!", "ctrl+q")
    async with opened(seen) as pilot:
        assert said(pilot) == f"You left a draft of “{ITEM}”; e on it goes on with it."
        await press(pilot, "4")
        # It is about where one was.
        assert said(pilot).startswith("u would take back")

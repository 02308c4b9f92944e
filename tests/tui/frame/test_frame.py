"""The frame on a small real workspace: places, keys, widths, acting and hostile words."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.seen_workspace import BELIEVED, FERRY, open_seen
from tests.tui.stillness import settle
from workbench.display.card import Card, card_lines
from workbench.display.ink import plain_text
from workbench.display.transcript import Evidence, SourceLine, evidence_lines
from workbench.engine import FixedClock, Workspace
from workbench.engine.errors import StorageError
from workbench.tui.frame.app import FrameApp
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.list import ListPart

if TYPE_CHECKING:
    from workbench.display.transcript import Evidence
    from workbench.tui.verbs.act import Subject

SIZES = [(80, 24), (120, 36), (160, 40), (240, 60)]


@asynccontextmanager
async def opened(
    workspace: Workspace, size: tuple[int, int] = (120, 36), *, place: str = "timeline"
) -> AsyncIterator[Pilot[None]]:
    app = FrameApp(workspace)
    app.remembered.place = app.remembered.place or place
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


def frame_app(pilot: Pilot[None]) -> FrameApp:
    app = pilot.app
    assert isinstance(app, FrameApp)
    return app


def drawn(pilot: Pilot[None], name: str) -> str:
    widget = frame_app(pilot).frame.query_one(f"#{name}", DrawnLines)
    return "\n".join(plain_text(line) for line in widget.lines(widget.size.width))


def said(pilot: Pilot[None]) -> str:
    return drawn(pilot, "status").strip()


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_places_are_counted_at_every_width(seen: Workspace, size: tuple[int, int]) -> None:
    total = seen.timeline().total
    async with opened(seen, size) as pilot:
        frame = frame_app(pilot).frame
        assert len(frame.place.list.rows) > total
        shown = drawn(pilot, "rail") if size[0] >= 110 else drawn(pilot, "line-of-places")
        assert "▸" in shown
        assert "Timeline" in shown
        assert (str(total) in shown) == (size[0] >= 110)


async def test_digits_go_to_places_and_brackets_walk_back(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3")
        assert drawn(pilot, "crumbs").strip().startswith("Core")
        await press(pilot, "[")
        assert drawn(pilot, "crumbs").strip().startswith("Timeline")
        await press(pilot, "[")
        assert said(pilot) == "This is where you began."
        await press(pilot, "]")
        assert drawn(pilot, "crumbs").strip().startswith("Core")


async def test_a_step_back_comes_to_the_row_one_left(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "j", "j")
        key = frame_app(pilot).frame.place.list.cursor_key
        await press(pilot, "3", "4", "G", "[", "[")
        assert frame_app(pilot).frame.place.list.cursor_key == key
        await press(pilot, "]", "]")
        assert frame_app(pilot).frame.place.list.cursor_key != key


async def test_what_is_typed_after_the_slash_is_the_question(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "/", "5", "6", "p")
        assert frame_app(pilot).frame.query_one("#ask", Input).value == "56p"
        await press(pilot, "escape", "3")
        assert drawn(pilot, "crumbs").strip().startswith("Core")


async def test_a_pin_is_said_and_undone(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        before = seen.head()
        await press(pilot, "p")
        assert said(pilot).startswith("Pinned “")
        assert said(pilot).endswith("u unpins.")
        assert "p unpin" in drawn(pilot, "keys")
        assert seen.head() != before
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ")


async def test_what_is_not_yours_is_not_undone_but_shown_in_history(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    with open_seen(seen.root, seen_clock, role="main") as agents:
        agents.remember("The harbour office closes at noon", store="episodic")
    async with opened(seen) as pilot:
        before = seen.head()
        assert said(pilot).startswith("Done last, by the agent: noted “The harbour office closes")
        await press(pilot, "u", "enter")
        assert seen.head() == before
        await press(pilot, "u")
        assert said(pilot).startswith(
            "Nothing of yours is left to undo. The newest is what the agent did (noted"
        )
        assert " ".join(said(pilot).split()).endswith("7 shows it, and r there takes it back.")


async def test_what_you_did_here_is_undone_though_others_did_something_since(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    async with opened(seen) as pilot:
        await let_the_agent_follow(pilot, seen, seen_clock)
        await press(pilot, "u")
        asked = drawn(pilot, "keys").strip()
        assert asked.startswith(
            "What the agent did (noted “The harbour office closes at noon”) came after it: undo"
        )
        await press(pilot, "enter")
        assert said(pilot).startswith("Took back: pinned")
        assert any("harbour office" in each.title for each in seen.timeline(limit=5).entries)


async def test_a_theme_is_no_action_that_undo_takes_back(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "p")
        await press(pilot, "ctrl+t", "u")
        assert drawn(pilot, "keys").strip().startswith("What was done last has no undo. Undo what you did")


async def test_any_other_key_withdraws_a_question_and_does_its_work(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    async with opened(seen) as pilot:
        await let_the_agent_follow(pilot, seen, seen_clock)
        before = seen.head()
        await press(pilot, "u", "l", *"half", "enter", "enter")
        assert seen.head() == before
        assert frame_app(pilot).frame.place.filter.text == "half"


async def test_a_click_elsewhere_withdraws_a_question_and_one_on_it_answers(
    seen: Workspace, seen_clock: FixedClock
) -> None:
    async with opened(seen) as pilot:
        await let_the_agent_follow(pilot, seen, seen_clock)
        before = seen.head()
        await press(pilot, "u")
        assert "came after it: undo" in drawn(pilot, "keys")
        await pilot.click(ListPart, offset=(20, 6))
        await press(pilot, "enter")
        assert seen.head() == before
        await press(pilot, "escape", "u")
        keys = drawn(pilot, "keys")
        await pilot.click("#keys", offset=(keys.splitlines()[-1].index("enter") + 1, keys.count("\n")))
        await press(pilot)
        assert said(pilot).startswith("Took back: pinned")


async def test_the_card_is_scrolled_while_a_question_stands(seen: Workspace, seen_clock: FixedClock) -> None:
    async with opened(seen) as pilot:
        await let_the_agent_follow(pilot, seen, seen_clock)
        await press(pilot, "u", "pagedown", "ctrl+u", "x")
        assert "came after it: undo" in drawn(pilot, "keys")
        await press(pilot, "j")
        assert said(pilot) == "Left as it was."
        assert "came after it: undo" not in drawn(pilot, "keys")


async def let_the_agent_follow(pilot: Pilot[None], seen: Workspace, clock: FixedClock) -> None:
    """Pin a memory, and let the agent note something since, so that undo asks."""
    await press(pilot, "p")
    with open_seen(seen.root, clock, role="main") as agents:
        agents.remember("The harbour office closes at noon", store="episodic")
    frame_app(pilot).frame.read_again()
    await press(pilot)


async def test_one_may_leave_without_answering_a_question(seen: Workspace, seen_clock: FixedClock) -> None:
    async with opened(seen) as pilot:
        await let_the_agent_follow(pilot, seen, seen_clock)
        before = seen.head()
        await press(pilot, "u")
        assert "came after it: undo" in drawn(pilot, "keys")
        await pilot.press("ctrl+q")
        assert not pilot.app.is_running
    assert seen.head() == before


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        (("a",), "Nothing waits here; 2 is the Inbox."),
        (("r",), "This is as it is now; there is nothing to bring back."),
        (("ctrl+f",), "There is no text here."),
        (("g", "w"), "g w is not a command."),
        (("K",), "K is no key here; ? lists those there are."),
    ],
)
async def test_no_key_is_silent(seen: Workspace, keys: tuple[str, ...], why: str) -> None:
    async with opened(seen) as pilot:
        await press(pilot, *keys)
        assert said(pilot) == why


async def test_a_prefix_shows_its_sheet_when_one_waits(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        sheet = frame_app(pilot).frame.query_one("#sheet")
        await press(pilot, "G")
        await press(pilot, "g")
        assert sheet.display
        assert "first row" in drawn(pilot, "sheet")
        await press(pilot, "g")
        assert sheet.styles.display == "none"
        place = frame_app(pilot).frame.place
        assert place.list.cursor == 1


async def test_row_and_focus_survive_every_size(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "j", "j")
        place = frame_app(pilot).frame.place
        key = place.list.cursor_key
        for size in ((240, 60), (109, 30), (80, 24), (60, 20), (40, 10), (120, 36)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert place.list.cursor_key == key
            assert frame_app(pilot).focused is place.list


async def test_hostile_words_are_drawn_as_words(seen: Workspace) -> None:
    words = "[red]stop[/nothing] \x1b[31m \u202e right [link"
    seen.remember(words, store="episodic")
    async with opened(seen) as pilot:
        rows = frame_app(pilot).frame.place.list.rows
        lines = [plain_text(rows.line(at, 100)) for at in range(len(rows))]
        line = next(each for each in lines if "stop" in each)
        assert "[red]stop[/nothing]" in line
        assert "\x1b" not in line
        assert "\u202e" not in line
        assert "[red]stop[/nothing]" in pilot.app.export_screenshot().replace("&#160;", " ").replace(
            "&#x27;", "'"
        )


async def test_place_and_row_are_remembered(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "3", "j")
        key = frame_app(pilot).frame.place.list.cursor_key
        frame_app(pilot).leave()
    async with opened(seen) as pilot:
        assert drawn(pilot, "crumbs").strip().startswith("Core")
        assert frame_app(pilot).frame.place.list.cursor_key == key


async def test_evidence_of_what_a_link_opened_stands_at_the_very_line(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        frame = frame_app(pilot).frame
        own = frame.place.card.card
        frame.looking.follow(BELIEVED)
        await settle(pilot)
        assert frame.place.card.card != own
        await press(pilot, "o")
        assert frame.focused is frame.place.evidence
        shown = frame.place.evidence.evidence
        assert shown is not None
        said = seen.why(BELIEVED).said[0]
        assert shown.first <= said.line <= shown.last
        await press(pilot, "escape", "escape")
        assert frame.place.card.card == own


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (160, 40)])
async def test_the_quoted_line_is_marked_and_in_sight_at_every_size(
    seen: Workspace, size: tuple[int, int]
) -> None:
    def in_sight() -> list[str]:
        part = frame.place.evidence
        top = round(part.scroll_y)
        lines = [plain_text(line) for line in part.lines[top : top + part.size.height]]
        return [line for line in lines if line.startswith("▌")]

    async with opened(seen, size) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "3", "end", "o")
        assert any("The ferry never sails above six Beaufort" in line for line in in_sight())
        await pilot.resize_terminal(70, 14)
        await press(pilot)
        assert any("The ferry never sails above six Beaufort" in line for line in in_sight())
        # Of an entry the words are quoted, not the heading above them.
        frame.looking.follow(BELIEVED)
        await press(pilot)
        await press(pilot, "o")
        assert in_sight()
        assert "##" not in in_sight()[0]


def test_lines_that_are_left_out_of_a_file_leave_a_sign() -> None:
    lines = (SourceLine(1, "# Notes"), SourceLine(4, "The boat is blue"))
    drawn = [plain_text(line) for line in evidence_lines(Evidence("notes.md", lines, 4, 4), 60)]
    assert [line.strip() for line in drawn[2:]] == [
        "1  # Notes",
        "⋯  2 lines for programs",
        "▌ 4  The boat is blue",
    ]


async def test_a_card_that_was_hidden_is_drawn_for_the_width_it_comes_back_at(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        place = frame_app(pilot).frame.place
        await pilot.resize_terminal(70, 30)
        await press(pilot, "j")
        assert not place.card.region
        await pilot.resize_terminal(112, 30)
        await press(pilot)
        card, current = place.card.card, place.current
        assert card is not None
        assert current is not None
        assert card.title == current.title
        width = place.card.scrollable_content_region.width - 2
        assert width > 40
        assert place.card.lines == card_lines(card, width)


async def test_what_cannot_be_read_has_a_card_that_says_why(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Card:
        raise StorageError("The file cannot be read.", where="here", remedy="Mend it.")

    async with opened(seen, (160, 40)) as pilot:
        place = frame_app(pilot).frame.place
        monkeypatch.setattr(type(place), "read_card", broken)
        await press(pilot, "j")
        card, current = place.card.card, place.current
        assert card is not None
        assert current is not None
        assert card.title == current.title
        assert "The file cannot be read." in "\n".join(map(plain_text, place.card.lines))


async def test_links_of_a_card_are_walked_and_followed_by_key(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        frame = frame_app(pilot).frame
        frame.looking.follow(FERRY)
        await settle(pilot)
        await press(pilot, "right", "enter")
        assert len(frame.place.visited) == 2 or frame.focused is frame.place.evidence


async def test_where_a_source_is_read_keys_are_about_it_and_change_no_memory(seen: Workspace) -> None:
    async with opened(seen, (120, 36)) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "5")
        assert frame.place.reveal(FERRY)
        await press(pilot, "enter", "down", "o")
        evidence, opened_for = frame.place.evidence, frame.place.current
        assert evidence.has_focus
        assert opened_for is not None
        assert "#^" in opened_for.id
        assert drawn(pilot, "keys").split()[:5] == ["esc", "back", "y", "y", "copy"]
        before = seen.audit_log().entries
        for key in ("p", "f", "e", "r", "n"):
            await press(pilot, key)
            assert said(pilot).startswith("A source is read here, and stays as it is; esc goes back")
        await press(pilot, "enter")
        assert said(pilot) == "No link is chosen here; esc goes back."
        shown = evidence.evidence
        await press(pilot, "o")
        assert said(pilot) == "No other source is named; esc goes back."
        assert (evidence.evidence, seen.audit_log().entries) == (shown, before)
        assert shown is not None
        await press(pilot, "y", "y")
        assert pilot.app.clipboard == shown.marked
        await press(pilot, "y", "c")
        assert pilot.app.clipboard == f"{shown.path}:{shown.first}"
        await press(pilot, "y", "i")
        assert pilot.app.clipboard == opened_for.id
        await press(pilot, "escape")
        assert frame.place.card.has_focus
        assert frame.place.current == opened_for


async def test_a_fact_without_a_conversation_says_so_rather_than_opening_its_own_line(
    seen: Workspace,
) -> None:
    fact = "entity:place--berlenga#^fnew"
    file = seen.root / "memory/graph/entities/place--berlenga.md"
    text = file.read_text(encoding="utf-8")
    added = "- Gulls nest there (since 2026-01-02, from source:user-explicit) ^fnew"
    file.write_text(text.replace("## Facts\n", f"## Facts\n{added}\n"), encoding="utf-8")
    seen.adopt()
    async with opened(seen, (240, 60)) as pilot:
        frame = frame_app(pilot).frame
        frame.looking.follow(fact)
        await settle(pilot)
        told = "Written by you · today, 14:30 · no conversation stands behind it."
        assert " ".join(plain_text(line) for line in frame.place.evidence.lines) == told
        await press(pilot, "o")
        assert said(pilot) == told
        assert not frame.place.evidence.has_focus
        assert "WHY" in "".join(map(plain_text, frame.place.card.lines))


async def test_back_leaves_the_evidence_for_its_card_before_it_leaves_the_place(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "5", "4", "o")
        assert frame.place.evidence.has_focus
        await press(pilot, "left_square_bracket")
        assert frame.place.list.has_focus
        assert frame.place_name == "timeline"
        await press(pilot, "left_square_bracket")
        assert frame.place_name == "graph"


@pytest.mark.parametrize("size", SIZES)
async def test_escape_from_evidence_gives_the_keys_back_to_where_it_was_opened(
    seen: Workspace, size: tuple[int, int]
) -> None:
    async with opened(seen, size) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "4", "o", "escape")
        assert frame.place.list.has_focus
        await press(pilot, "enter")
        await press(pilot, "o", "escape")
        assert frame.place.card.has_focus


@pytest.mark.parametrize("key", ["escape", "j", "5", "e"])
async def test_evidence_that_comes_late_does_not_take_the_keys(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    async with opened(seen) as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "4")
        read, may_read = frame.place.read_evidence, threading.Event()

        def read_later(workspace: Workspace, subject: Subject) -> Evidence | str | None:
            may_read.wait()
            return read(workspace, subject)

        monkeypatch.setattr(frame.place, "read_evidence", read_later)
        await pilot.press("o", key)
        may_read.set()
        await settle(pilot)
        assert not frame.has_class("-evidence")
        assert not frame.place.evidence.has_focus


async def test_a_sheet_lists_what_acts_here(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "4", "m")
        shown = drawn(pilot, "sheet")
        assert "reinforce" in shown
        assert "more in other places" in shown
        assert "merge" not in shown
        await press(pilot, "escape", "g", "d", *"yesterday", "enter")
        assert drawn(pilot, "crumbs").strip().startswith("Timeline ▸")

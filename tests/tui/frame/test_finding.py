"""Finding words in the text that has the keys, and copying: by key, by mouse, and which way it went."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from tests.tui.frame.hands import TWO_SIZES, burst, frame_of, opened, press, said
from workbench.display.ink import plain_text
from workbench.display.matching import LIT
from workbench.engine import Workspace
from workbench.tui.frame import copying
from workbench.tui.frame.copying import clipboard_program
from workbench.tui.parts.page import CardPart
from workbench.tui.verbs.memories import copied_memory

QUOTED = "entity:project--ferry#^fdep"


@pytest.fixture(autouse=True)
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "clipboard_program", lambda _environment: None)


def lit(card: CardPart) -> list[str]:
    return [span.text for line in card.lines for span in line if span.role == LIT]


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_words_are_lit_and_walked_in_one_burst_of_keys(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "enter", "ctrl+f")
        await burst(pilot, "a gale\nNN")
        card = frame_of(pilot).place.card
        assert frame_of(pilot).focused is card
        assert {word.casefold() for word in lit(card)} == {"a gale"}
        matches = sum(any(span.role == LIT for span in line) for line in card.lines)
        if matches == 1:
            assert said(pilot) == "There is no other match."
        else:
            assert said(pilot) == f"“a gale”: {2 % matches + 1} of {matches}; N goes on, P goes back."
        await press(pilot, "escape")
        assert lit(card) == []


async def test_what_is_not_there_is_said_and_esc_lights_nothing(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "enter", "ctrl+f", "q", "q")
        assert said(pilot) == "“qq” is not here."
        await press(pilot, "escape")
        assert lit(frame_of(pilot).place.card) == []
        await press(pilot, "escape", "ctrl+f")
        assert said(pilot) == "There is no text here."
        await press(pilot, "N")
        assert said(pilot) == "There is no other match."


async def test_text_citation_quote_and_id_are_copied(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        subject = frame_of(pilot).place.current
        assert subject is not None
        shown = seen.show(subject.id)
        await burst(pilot, "yy")
        assert pilot.app.clipboard == shown.text
        assert said(pilot).endswith(f"{len(shown.text)} characters, sent to the terminal’s clipboard.")
        await press(pilot, "y", "c")
        lines = (
            f"{shown.start_line}-{shown.end_line}" if shown.end_line > shown.start_line else shown.start_line
        )
        assert pilot.app.clipboard == f"{shown.path}:{lines}"
        await press(pilot, "y", "i")
        assert pilot.app.clipboard == subject.id
        await press(pilot, "y", "l")
        assert said(pilot) == "Mark rows with space first."
        await press(pilot, "space", "space", "y", "l")
        assert len(pilot.app.clipboard.splitlines()) == 2
        assert said(pilot).startswith("Copied 2 texts: ")


def test_a_quote_is_copied_with_who_and_when(seen: Workspace) -> None:
    saying = seen.why(QUOTED).said[0]
    copied = copied_memory(seen, QUOTED)
    assert copied.quote.startswith(f"“{saying.quote}” (")
    assert copied.quote.endswith("10:05)")


async def dragged(pilot: Pilot[None], widget: Widget, start: tuple[int, int], stop: tuple[int, int]) -> None:
    await pilot.mouse_down(widget, offset=start)
    await pilot.hover(widget, offset=stop)
    await pilot.mouse_up(widget, offset=stop)
    await press(pilot)


@pytest.mark.parametrize("size", TWO_SIZES)
@pytest.mark.parametrize("key", ["ctrl+c", "y"])
async def test_what_the_mouse_selects_in_a_card_is_copied(
    seen: Workspace, size: tuple[int, int], key: str
) -> None:
    async with opened(seen, size) as pilot:
        card = frame_of(pilot).place.card
        first, second = plain_text(card.lines[0]), plain_text(card.lines[1])
        edge = 0 if size[0] < 110 else 1
        top = 1 - edge
        await dragged(pilot, card, (edge + 3, top), (edge + 5, top + 1))
        await press(pilot, key)
        assert pilot.app.clipboard == f"{first[2:]}\n{second[:4]}".rstrip() or pilot.app.clipboard.startswith(
            first[2:]
        )
        assert said(pilot).startswith("Copied the selection: ")
        await press(pilot, "y", "i")
        assert said(pilot).startswith("Copied the id of ")


@pytest.mark.parametrize(
    ("environment", "there", "program"),
    [
        ({"WAYLAND_DISPLAY": "w"}, {"wl-copy", "xclip"}, "wl-copy"),
        ({"DISPLAY": ":0"}, {"wl-copy", "xsel"}, "xsel"),
        ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"}, {"xclip"}, None),
        ({}, {"xclip", "wl-copy"}, None),
    ],
)
def test_a_program_is_used_only_where_one_sits_at_the_machine(
    monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str], there: set[str], program: str | None
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name in there else None)
    found = clipboard_program(environment)
    assert (found[0] if found is not None else None) == program

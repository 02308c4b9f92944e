"""Explains every key, from the same commands that the keys come from; type to find one, enter runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Vertical
from textual.widgets import Static

from workbench.display.ink import BLANK, Line, Span, column, gap, ink
from workbench.tui.keymap import SECTIONS, all_commands, shown_key
from workbench.tui.palette import RAISED
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.rows import SectionedRows
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from textual.app import ComposeResult

    from workbench.tui.keymap import Command

_KEY, _TITLE = 12, 18
# Columns of the key, and those from which there is room for what it does, where a row says no more than its name.
_KEY_ALONE, _ROOM_FOR_HELP = 8, 50


class HelpRows(SectionedRows["type[Command] | str"]):
    """Commands under the headings of their sections; those that mean something where help was asked for come first.

    Args:
        words: Shows only commands that hold all of these.
        keys: Keys that a user has remapped, by id of command.
        usable: Ids of the commands that mean something where help was asked for.
    """

    def __init__(self, words: tuple[str, ...], keys: Mapping[str, str], usable: Collection[str]) -> None:
        super().__init__()
        self._keys_by_id, self._usable = keys, usable
        for heading, found in self._sections(words):
            self._add_heading(heading)
            for command in found:
                self._add(command, command.id)

    def _sections(self, words: tuple[str, ...]) -> list[tuple[str, list[type[Command]]]]:
        found = {heading: [c for c in all_commands() if c.section == heading] for heading in SECTIONS}
        held = [(heading, [c for c in each if self._holds(c, words)]) for heading, each in found.items()]
        return sorted(
            ((heading, sorted(each, key=self._is_idle)) for heading, each in held if each),
            key=lambda section: all(map(self._is_idle, section[1])),
        )

    def _is_idle(self, command: type[Command]) -> bool:
        return command.id not in self._usable

    def _holds(self, command: type[Command], words: tuple[str, ...]) -> bool:
        text = f"{command.title()} {command.help()} {self._shown(command)} {command.section}".casefold()
        return all(word in text for word in words)

    def _shown(self, command: type[Command]) -> str:
        keys = self._keys_by_id.get(command.id, command.key).split(",")
        return " ".join(shown_key(key) for key in keys[:2])

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a command, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, str):
            return (Span(row, "strong"),)
        usable = row.id in self._usable
        if width < _ROOM_FOR_HELP:
            # What it does is told below the list.
            return (
                column(self._shown(row), _KEY_ALONE, "strong" if usable else "faint"),
                ink(row.title(), "text" if usable else "faint", max(1, width - _KEY_ALONE)),
            )
        return (
            column(self._shown(row), _KEY, "strong" if usable else "faint"),
            column(row.title(), _TITLE, "text" if usable else "faint"),
            gap(1),
            ink(row.help(), "soft" if usable else "faint", max(1, width - _KEY - _TITLE - 1)),
        )


class HelpScreen(ChoosingScreen):
    """Every command; gives the id of the one to run, or None.

    Args:
        keys: Keys that a user has remapped, by id of command.
        usable: Ids of the commands that mean something where help was asked for.
    """

    BINDINGS: ClassVar = [("escape,question_mark", "close", "Close")]

    def __init__(self, keys: Mapping[str, str], usable: Collection[str]) -> None:
        super().__init__()
        self._key_map, self._usable = keys, usable

    def compose(self) -> ComposeResult:
        with Vertical(classes="card"):
            yield Static("What the keys do", classes="dialog-title", markup=False)
            yield FilterBar("type to find a key or a verb; enter runs it")
            yield VirtualList(id="help-list", ground=RAISED, always_lit=True)
            yield Static("", id="help-text", markup=False)

    def on_mount(self) -> None:
        self._show("")
        self.answered_text = ""
        self.query_one(FilterBar).open()

    def _show(self, text: str) -> None:
        self.query_one(VirtualList).show(
            HelpRows(tuple(text.casefold().split()), self._key_map, self._usable)
        )

    @on(FilterBar.Changed)
    def _filter(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._show(event.text)
        self.answered_text = event.text

    @on(VirtualList.Moved)
    def _moved(self, event: VirtualList.Moved) -> None:
        event.stop()
        command = next((each for each in all_commands() if each.id == event.key), None)
        self.query_one("#help-text", Static).update(command.help() if command else "")

    def choose(self, key: str) -> None:
        """Have the command run, where it means something."""
        if key in self._usable:
            self.dismiss(key)

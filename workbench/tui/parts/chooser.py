"""A list over the place that narrows as one types, and of which one is chosen: help, and finding anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

from workbench.display.ink import (
    column,
    ink,
    spread,
)
from workbench.display.rows import store_sign
from workbench.engine.values import dataclass
from workbench.tui.palette import RAISED
from workbench.tui.parts.line import WrittenLine
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line

_KEY = 7
_MOST = 300


@dataclass(frozen=True)
class Choice:
    """Something that can be chosen.

    Args:
        id: What is done: `run:` and a command, `go:` and a place, or the id of a memory.
        text: What it is found by.
        key: The key that does the same; empty where there is none.
    """

    id: str
    text: str
    section: str
    key: str = ""
    store: str = ""


def narrowed(choices: Sequence[Choice], typed: str) -> list[Choice]:
    """Return the choices in which every word that was typed occurs, at most 300."""
    wanted = typed.casefold().split()
    found: list[Choice] = []
    for choice in choices:
        # A command is found by its name as well, a memory by its words alone.
        name = "" if choice.store else choice.id.partition(":")[2].replace("-", " ")
        text = f"{choice.text} {choice.key} {name}".casefold()
        if all(word in text for word in wanted):
            found.append(choice)
            if len(found) == _MOST:
                break
    return found


def _drawn(choice: Choice, width: int) -> Line:
    if choice.store:
        sign = store_sign(choice.store)
        return (column("", _KEY - 2), sign, ink(choice.text, "text", max(1, width - _KEY)))
    return spread((column(choice.key, _KEY, "strong"), ink(choice.text)), (), width)


class ChooserPart(Vertical):
    """A line and what it leaves of the choices; hidden until it is opened."""

    DEFAULT_CSS = """
    ChooserPart { layer: sheet; dock: top; display: none; width: 1fr; height: 1fr; margin: 0 0 2 0;
                  background: $surface; border: none; }
    ChooserPart > WrittenLine { margin: 0 2; }
    ChooserPart > ListPart { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__(id="chooser")
        self.line = WrittenLine(placeholder="type to narrow")
        self.list = ListPart(empty=lambda _width: [(ink("Nothing here has that name.", "soft"),)], ground=RAISED,
                             always_lit=True)  # fmt: skip
        self._choices: tuple[Choice, ...] = ()

    def compose(self) -> ComposeResult:
        yield self.line
        yield self.list

    def open(self, title: str) -> None:
        """Show it, with an empty line."""
        self.line.placeholder = title
        self.line.value = ""
        self.display = True

    def offer(self, choices: Sequence[Choice]) -> None:
        """Offer other choices; the cursor stays on its own."""
        self._choices = tuple(choices)
        self.narrow()

    def narrow(self) -> None:
        """Show the choices that the line leaves."""
        rows: Rows[str, Choice] = Rows(_drawn)
        for choice in narrowed(self._choices, self.line.value):
            rows.add(choice, choice.id, choice.section)
        self.list.show(rows)
        if not self.list.cursor_key or self.line.value:
            self.list.do("first")

    @property
    def chosen(self) -> Choice | None:
        """Return the choice under the cursor."""
        found: Choice | None = self.list.rows.row(self.list.cursor_key)
        return found


@dataclass(frozen=True)
class Steps:
    """A few values, one of which is taken.

    Args:
        values: In order.
        try_out: Told of each one that is looked at, and of the first where one leaves.
        take: Told of the one that is taken.
    """

    title: str
    values: Sequence[str]
    at: int
    try_out: Callable[[str], object]
    take: Callable[[str], object]

"""What every place is: a list and a card, read from memory, with subjects that keys act on; what some can do beside."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    cast,
    runtime_checkable,
)

from textual.containers import Container

from workbench.display.card import MEASURE, told_line
from workbench.display.ink import (
    gap,
    ink,
    plain_text,
    wrap_line,
)
from workbench.tui.parts.evidence import EvidencePart
from workbench.tui.parts.filter import Filterable, FilterLine, RowFilter
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.page import CardPart
from workbench.tui.parts.rows import Rows
from workbench.tui.places.memory_reading import (
    read_memory_card,
    read_memory_evidence,
    read_memory_writing,
)
from workbench.tui.verbs.graph import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import ComposeResult
    from textual.widget import Widget

    from workbench.display.card import Card
    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.parts.rows import AnyRows
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.adding import Destination
    from workbench.tui.verbs.rewording import Writing


@runtime_checkable
class Part(Protocol):
    """A widget that takes commands while it has the focus."""

    def do(self, command: str) -> bool:
        """Carry out a command; returns whether it means something here."""
        ...


# Cells left of the rows, for cursor and marks; the heading begins where they do.
_GUTTER = 2
# Cells in which rows are drawn to be looked through.
_WIDE = 400


class Place(Container):
    """A list with its card; a place of ours says what it reads and how its rows look.

    Results are typed by the place that reads them; the frame only hands them on.
    """

    EMPTY: ClassVar[str] = "There is nothing here yet."
    KEYS: ClassVar[tuple[str, ...]] = ("edit", "pin", "forget", "details")
    LABELS: ClassVar[Mapping[str, str]] = {}
    """Commands that the key line offers here, beside those of the frame."""
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ()
    """What may stand before a colon in a filter; `filterable` gives the values."""
    FILTERS_MAIN: ClassVar[bool] = False
    """Whether what is shown instead of the list is filtered as well."""
    at_work = ""
    """How far what it reads is, in a word or two, where that takes long."""
    when = "now"
    """Of which moment memory is shown."""

    def __init__(self, name: str) -> None:
        super().__init__(id=f"place-{name}", name=name, classes="place")
        self.results: Any = None
        self.kept: dict[str, str] = {}
        """What the place keeps from one visit of the bench to the next: its order, its view."""
        self.all_rows: AnyRows = Rows[str, str]()
        self.filter = RowFilter(self.FILTER_KEYS, self._filterable)
        self.filter_line = FilterLine()
        self.visited: list[Subject] = []
        self.reworded = ""
        """What was written anew last, by its key, until the next tick."""
        self.list = ListPart(
            empty=lambda width: [
                part
                for line in self.empty()
                for part in wrap_line(told_line(line, self._key_of), min(width, MEASURE)) or [line]
            ]
        )
        self.card = CardPart()
        self.evidence = EvidencePart()
        self.head = DrawnLines(ground="paper")
        self.list_side = Container(classes="place-left")
        """What stands left of the first split, or above it."""

    def compose(self) -> ComposeResult:
        self.head.add_class("place-head")
        self.list.add_class("place-list")
        self.card.add_class("place-card")
        with self.list_side:
            yield self.head
            yield self.filter_line
            yield from self.body()
        yield self.card
        self.evidence.add_class("place-evidence")
        yield self.evidence

    def body(self) -> ComposeResult:
        """Yield what stands below the heading: the list, and whatever else a place has there."""
        yield self.list

    @property
    def frame(self) -> Frame:
        """Return the frame around the place."""
        return cast("Frame", self.screen)

    def _key_of(self, command: str) -> str:
        """Return the key that a person has a command on."""
        return self.frame.keymap.key(command)

    @property
    def main(self) -> Widget:
        """Return the part that has the keys when one comes here: the list, or what is shown instead of it."""
        return self.list

    @property
    def parts(self) -> tuple[Widget, ...]:
        """Return what can have the keys, in the order in which `tab` goes round; what is hidden is passed over."""
        return (self.main, self.card, self.evidence)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the commands that the key line offers now, beside those of the frame."""
        return self.KEYS

    @property
    def cursor_key(self) -> str:
        """Return the id of what is under the cursor of the main part; empty where nothing is."""
        return self.list.cursor_key

    def begin_reading(self) -> Callable[[Workspace], Any]:
        """Return what reads the place from now on, in the stead of whatever still reads it."""
        return self.read

    def read(self, workspace: Workspace) -> Any:
        """Read what the place shows; called on a thread, returns a result of the engine."""
        raise NotImplementedError

    @property
    def labels(self) -> Mapping[str, str]:
        """Return what keys do here in other words than in general, by their commands; the key line offers them."""
        return self.LABELS

    def rows(self, results: Any) -> AnyRows:
        """Return the rows of what was read."""
        raise NotImplementedError

    def heading(self, results: Any, width: int) -> Line:
        """Draw the line above the list."""
        raise NotImplementedError

    def row(self, key: str) -> Any:
        """Return a row that was read, whatever the filter hides; None for a heading, and where there is none."""
        return self.all_rows.row(key)

    def subject(self, key: str) -> Subject | None:
        """Return what keys act on while the cursor is on a row: the row itself, unless a place knows better."""
        found: Subject | None = self.row(key)
        return found

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        """Read the card of a row; called on a thread. Every memory has the same card, wherever it is met."""
        return read_memory_card(workspace, subject)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        """Read where a row comes from; called on a thread.

        Returns:
            None where nobody noted it; a sentence where there is something to say instead.
        """
        return read_memory_evidence(workspace, subject)

    def writing(self, workspace: Workspace, subject: Subject) -> Writing | str:
        """Read what `e` edits in a row; called on a thread. A sentence says why nothing can be edited."""
        return read_memory_writing(workspace, subject)

    @property
    def destination(self) -> Destination | None:
        """Return where a new memory goes that is written here; None for where its text belongs."""
        return None

    @property
    def spot(self) -> str:
        """Return where in the place one is, an entity in the middle, a moment; empty for the list itself.

        It is what `[` comes back to.
        """
        return ""

    def go_to_spot(self, spot: str) -> None:
        """Be somewhere else in the place; what is shown there is read next."""

    def rest_on(self, subject: Subject | None) -> None:
        """Be told what the cursor has come to rest on, or what a link opened: its card is read now."""

    def left(self) -> None:
        """Be told that another place is shown; `[` has kept the spot."""

    def take_digit(self, _digit: str) -> bool:
        """Begin to write a number; returns False where none is wanted, and the digit is the key of a place."""
        return False

    def reveal(self, key: str) -> bool:
        """Put the cursor on a row; returns whether it is there. Places that hide rows show it first."""
        if self.list.go_to(key):
            return True
        if self.all_rows.find(key) is None or not self.filter.text:
            return False
        self.filter_line.line.write("")
        self.filter_line.typed("")
        return self.list.go_to(key)

    def do(self, command: str) -> bool:  # noqa: ARG002 - a place that has commands of its own looks at it
        """Carry out a command that only this place has; returns whether it did."""
        return False

    def show(self, results: Any) -> None:
        """Show what was read; the cursor stays on its row."""
        self.results = results
        self.all_rows = self.rows(results)
        self.head.show(
            lambda width: (
                (gap(_GUTTER), *told_line(self.heading(results, width - _GUTTER - 1), self._key_of)),
            )
        )
        self.show_rows()

    def show_rows(self) -> None:
        """Show the rows that pass the filter."""
        if self.results is None:
            return
        rows = self.filter.apply(self.all_rows)
        if self.frame.look.rows == "comfortable":
            rows = rows.spaced()
        self.list.show(rows)
        self.filter_line.show_count(self.filter.shown, self.filter.total)

    def _filterable(self, rows: AnyRows, index: int) -> Filterable:
        row = rows.row_at(index)
        told = None if row is None else self.filterable(row)
        return told or Filterable(plain_text(rows.line(index, _WIDE)))

    def filterable(self, row: Any) -> Filterable | None:  # noqa: ARG002 - a place that knows better looks at it
        """Return what a filter looks at in a row; None for what is drawn of it."""
        return None

    def empty(self) -> list[Line]:
        """Return what an empty list says."""
        if self.filter.text:
            return [
                (ink("Nothing matches the filter.", "soft"),),
                (ink("⸨filter⸩, then esc drops it.", "faint"),),
            ]
        if self.results is None:
            return [(ink("Reading…", "faint"),)]
        return [(ink(self.EMPTY, "soft"),)]

    @property
    def statement(self) -> Statement | None:
        """Return the fact or relation that the cursor of the card is on, where it is the card of an entity."""
        card = self.card.card
        if card is None or not self.card.has_focus:
            return None
        found = next((each for each in card.walked if each.link == self.card.link), None)
        if found is None:
            return None
        return Statement(
            found.link, "semantic", found.title, found.pinned, False, found.entity, found.name, found.retired,
            found.edge,
        )  # fmt: skip

    @property
    def current(self) -> Subject | None:
        """Return what the card shows: what was opened by a link, or what is under the cursor.

        While a source is read it is what the source was opened for, wherever the cursor of the list is.
        """
        if self.evidence.has_focus and self.evidence.of is not None:
            return self.evidence.of
        if (statement := self.statement) is not None:
            return statement
        if self.visited:
            return self.visited[-1]
        return self.subject(self.cursor_key) if self.cursor_key else None

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Return what a verb acts on: a fact on the card, what a link opened, the marked rows, or this row."""
        if self.evidence.has_focus and self.evidence.of is not None:
            return (self.evidence.of,)
        if (statement := self.statement) is not None:
            return (statement,)
        if self.visited:
            return (self.visited[-1],)
        keys = self.list.chosen_keys if self.main is self.list else (self.cursor_key,)
        found = (self.subject(key) for key in keys if key)
        return tuple(each for each in found if each is not None)

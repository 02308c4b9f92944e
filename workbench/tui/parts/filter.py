"""What a list is filtered by: words and `key:value`, and the line in which one writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from textual.containers import Horizontal

from workbench.display.cells import cell_width
from workbench.display.ink import Span, gap
from workbench.engine.values import dataclass
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.prompt import WrittenLine
from workbench.tui.parts.query import Query, parse_query
from workbench.tui.parts.rows import Rows

if TYPE_CHECKING:
    from datetime import date

    from textual.app import ComposeResult
    from textual.widgets import Input

    from workbench.tui.parts.rows import RowSource

_LABEL = "filter  "


@dataclass(frozen=True, slots=True)
class Filterable:
    """What a filter looks at in a row.

    Args:
        text: Where words are looked for.
        fields: Values by the name of their key.
        day: When it was, for `since:` and `until:`.
    """

    text: str
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    day: date | None = None


Look: TypeAlias = "Callable[[RowSource, int], Filterable]"


class RowFilter:
    """A filter of one list, which looks at each row once for as long as the rows are the same.

    Args:
        keys: Names that may stand before a colon.
        look: Says what a row offers.
    """

    def __init__(self, keys: tuple[str, ...], look: Look) -> None:
        self.keys = keys
        self.text = ""
        self.shown, self.total = 0, 0
        self._look = look
        self._query = Query()
        self._rows: RowSource | None = None
        self._offers: list[Filterable | None] = []

    def set(self, text: str, today: date) -> None:
        """Filter by something else.

        Args:
            today: For days that are told from today.
        """
        self.text = text
        self._query = parse_query(text, self.keys, today)

    def apply(self, rows: RowSource) -> RowSource:
        """Return the rows that pass, under their headings; all of them where nothing is filtered."""
        self.total = self.shown = sum(bool(rows.key(at)) for at in range(len(rows)))
        if not self._query or not isinstance(rows, Rows):
            return rows
        offers = self._offers_of(rows)
        passing = {at for at, offer in enumerate(offers) if offer is not None and self._passes(offer)}
        self.shown = len(passing)
        return rows.keeping(passing)

    def prepare(self, rows: RowSource) -> None:
        """Look at all rows; may be called on a thread, so that the first letter need not wait for it."""
        self._offers_of(rows)

    def _passes(self, offer: Filterable) -> bool:
        query = self._query
        if query.since or query.until:
            return offer.day is not None and query.matches(offer.fields, offer.text, offer.day)
        return query.holds(offer.fields, offer.text)

    def _offers_of(self, rows: RowSource) -> list[Filterable | None]:
        if rows is not self._rows:
            looked = (self._look(rows, at) if rows.key(at) else None for at in range(len(rows)))
            offers = [
                offer
                and Filterable(
                    offer.text.casefold(),
                    {key: tuple(each.casefold() for each in values) for key, values in offer.fields.items()},
                    offer.day,
                )
                for offer in looked
            ]
            # In this order, since both threads may be here.
            self._offers, self._rows = offers, rows
        return self._offers

    def complete(self, text: str, rows: RowSource) -> list[str]:
        """Return what a text may become: the last word as a key, or as a value of one."""
        before, _, word = text.rpartition(" ")
        before = before + " " if before else ""
        key, colon, begun = word.casefold().partition(":")
        if not colon:
            return [f"{before}{each}:" for each in self.keys if each.startswith(key)]
        if key not in self.keys:
            return []
        values = {
            value
            for offer in self._offers_of(rows)
            if offer is not None
            for value in offer.fields.get(key, ())
        }
        return [
            f'{before}{key}:"{each}"' if " " in each else f"{before}{key}:{each}"
            for each in sorted(values)
            if each.startswith(begun.lstrip('"'))
        ]


class FilterLine(Horizontal):
    """The line in which a filter is written, in place of the heading of the list; hidden while it says nothing."""

    DEFAULT_CSS = """
    FilterLine { height: 1; display: none; padding: 0 0 0 2; background: $background; }
    FilterLine > DrawnLines { width: auto; height: 1; }
    FilterLine > WrittenLine { width: 1fr; background: $background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.line = WrittenLine()
        self.typed: Callable[[str], object] = lambda _text: None
        self._label = DrawnLines(ground="paper")
        self._count = DrawnLines(ground="paper")

    def compose(self) -> ComposeResult:
        yield self._label
        yield self.line
        yield self._count

    def on_mount(self) -> None:
        self._label.styles.width = len(_LABEL)
        self._label.show(lambda _width: ((Span(_LABEL, "decide"),),))

    def show_count(self, shown: int, total: int) -> None:
        """Say how many of how many are shown."""
        said = f"{shown:,} of {total:,}"
        self._count.styles.width = cell_width(said) + 3
        self._count.show(lambda _width: ((gap(2), Span(said, "soft" if shown else "danger")),))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.typed(event.value)

"""What a list is filtered by: words and `key:value`, and the line in which one writes it.

The question line is written in the same language: words and `field:value`, and days among them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from textual.containers import Horizontal

from workbench.display.cells import cell_width
from workbench.display.ink import Span, gap
from workbench.engine.language.periods import parse_days
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass
from workbench.tui.parts.line import DrawnLines, WrittenLine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from textual.app import ComposeResult
    from textual.widgets import Input

    from workbench.tui.parts.rows import AnyRows

_LABEL = "filter  "
_PIECE = lazy_pattern(r'(-?)(?:([A-Za-z]+):(?:"([^"]*)"?|(\S*))|(?:"([^"]*)"?|(\S+)))')
FIRST, LAST = ("after", "since"), ("before", "until")
"""What stands before the first and before the last day, wherever days are typed."""


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


Look: TypeAlias = "Callable[[AnyRows, int], Filterable]"


class Offers:
    """What all rows of a list offer to a filter, packed: as objects it would take ten times as much memory.

    Args:
        rows: The rows; headings and spaces offer nothing.
        gives_way: Called at each of them.
    """

    # No text in UTF-8 has this byte, so nothing that is looked for goes over the end of a row.
    _END = b"\xff"

    def __init__(self, rows: AnyRows, look: Look, gives_way: Callable[[], object] = lambda: None) -> None:
        self.rows = array("l")
        self._days = array("l")
        self._starts = array("l")
        self._columns: dict[str, list[tuple[str, ...]]] = {}
        text = bytearray()
        folded: dict[tuple[str, ...], tuple[str, ...]] = {}
        known: dict[str, str] = {}
        for at in range(len(rows)):
            if not rows.key(at):
                continue
            gives_way()
            offer = look(rows, at)
            for name in offer.fields.keys() - self._columns.keys():
                self._columns[name] = [()] * len(self.rows)
            for name, column in self._columns.items():
                values = tuple(offer.fields.get(name, ()))
                if values not in folded:
                    own = (each.casefold() for each in values)
                    folded[values] = tuple(known.setdefault(each, each) for each in own)
                column.append(folded[values])
            self.rows.append(at)
            self._days.append(offer.day.toordinal() if offer.day is not None else 0)
            self._starts.append(len(text))
            text += _encoded(offer.text.casefold()) + self._END
        self._starts.append(len(text))
        self._text = bytes(text)

    def passing(self, query: Query) -> list[int]:
        """Return the indexes of the rows that a query lets pass, in their order."""
        found: Sequence[int] = range(len(self.rows))
        for condition in query.conditions:
            narrow = self._with_value if condition.field else self._with_word
            found = narrow(condition, found)
        if query.since or query.until:
            first = query.since.toordinal() if query.since else 1
            last = query.until.toordinal() if query.until else date.max.toordinal()
            found = [at for at in found if first <= self._days[at] <= last]
        return [self.rows[at] for at in found]

    def _with_value(self, condition: Condition, among: Sequence[int]) -> list[int]:
        column = self._columns.get(condition.field)
        if column is None:
            return list(among) if condition.negated else []
        holds = {
            values: condition.negated
            != any(value.startswith(wanted) for wanted in condition.values for value in values)
            for values in set(column)
        }
        return [at for at in among if holds[column[at]]]

    def _with_word(self, condition: Condition, among: Sequence[int]) -> list[int]:
        word, text, starts = _encoded(condition.values[0]), self._text, self._starts
        if len(among) < len(self.rows):
            return [
                at for at in among if (text.find(word, starts[at], starts[at + 1]) >= 0) != condition.negated
            ]
        found, place = [], text.find(word)
        while place >= 0:
            at = bisect_right(starts, place) - 1
            found.append(at)
            place = text.find(word, starts[at + 1])
        return sorted(set(among).difference(found)) if condition.negated else found

    def values(self, field: str) -> set[str]:
        """Return every value that a field has in any row."""
        return {value for values in set(self._columns.get(field, ())) for value in values}


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class RowFilter:
    """A filter of one list, which looks at each row once for as long as the rows are the same.

    Args:
        keys: Names that may stand before a colon.
    """

    def __init__(self, keys: tuple[str, ...], look: Look) -> None:
        self.keys = keys
        self.text = ""
        self.shown, self.total = 0, 0
        self._look = look
        self._query = Query()
        self._offers: tuple[AnyRows, Offers] | None = None
        # What passed last: of which rows, under which query.
        self._kept: tuple[AnyRows, Query, AnyRows, int] | None = None

    def set(self, text: str, today: date) -> None:
        """Filter by something else.

        Args:
            today: For days that are told from today.
        """
        self.text = text
        self._query = parse_query(text, self.keys, today)

    def apply(self, rows: AnyRows) -> AnyRows:
        """Return the rows that pass, under their headings; all of them where nothing is filtered."""
        query = self._query
        if not query:
            self.total = self.shown = sum(bool(rows.key(at)) for at in range(len(rows)))
            return rows
        kept, offers = self._pass(rows), self._offers_of(rows)
        self.total, self.shown = len(offers.rows), kept[1]
        return kept[0]

    def _pass(self, rows: AnyRows) -> tuple[AnyRows, int]:
        """Return the rows that pass, and how many they are."""
        query, known = self._query, self._kept
        if known is not None and known[0] is rows and known[1] == query:
            return known[2:]
        passing = self._offers_of(rows).passing(query)
        kept = rows.keeping(passing) if query else rows
        self._kept = (rows, query, kept, len(passing))
        return kept, len(passing)

    def looking_through(self, rows: AnyRows, gives_way: Callable[[], object] = lambda: None) -> RowFilter:
        """Return this filter with other rows looked through, for `take_over`; may be called on a thread.

        Args:
            gives_way: Called at each row that was not looked at before.
        """
        other = copy(self)
        if other._offers is None or other._offers[0] is not rows:
            other._offers = (rows, Offers(rows, self._look, gives_way))
        other._pass(rows)
        return other

    def take_over(self, other: RowFilter) -> None:
        """Know what another filter of the list knows of the rows."""
        self._offers, self._kept = other._offers, other._kept

    def forget(self) -> None:
        """Let go of what it knows of the rows, as far as nothing is filtered."""
        if not self.text:
            self._offers = self._kept = None

    def _offers_of(self, rows: AnyRows) -> Offers:
        known = self._offers
        if known is None or known[0] is not rows:
            known = self._offers = (rows, Offers(rows, self._look))
        return known[1]

    def complete(self, text: str, rows: AnyRows) -> list[str]:
        """Return what a text may become: the last word as a key, or as a value of one."""
        before, _, word = text.rpartition(" ")
        before = before + " " if before else ""
        key, colon, begun = word.casefold().partition(":")
        if not colon:
            return [f"{before}{each}:" for each in self.keys if each.startswith(key)]
        if key not in self.keys:
            return []
        return [
            f'{before}{key}:"{each}"' if " " in each else f"{before}{key}:{each}"
            for each in sorted(self._offers_of(rows).values(key))
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


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of what was typed: a word or several in quotes, or a value for a field.

    Args:
        field: In lower case; empty for words.
        value: Without quotes; of words that look like a field, with what stands before the colon.
    """

    typed: str
    field: str
    value: str
    negated: bool


@dataclass(frozen=True)
class Condition:
    """One condition: the field has one of the values (begins with it), or, without a field, the text holds it."""

    field: str
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True)
class Query:
    """What a filter bar says: every condition must hold, and the day lie within.

    Args:
        since: First day, or None.
        until: Last day, or None.
    """

    conditions: tuple[Condition, ...] = ()
    since: date | None = None
    until: date | None = None

    def __bool__(self) -> bool:
        return bool(self.conditions or self.since or self.until)


def pieces(text: str, fields: Collection[str]) -> Iterator[Piece]:
    """Yield the pieces of what was typed; anything makes sense, since people are still typing.

    Args:
        text: For example `type:decision,fact tag:deploy since:2w "blue green" -staging`.
        fields: Names that may stand before a colon; what stands before any other colon is a word.
    """
    for found in _PIECE.finditer(text):
        minus, name, *values = (each or "" for each in found.groups())
        value, field = "".join(values), name.casefold()
        if field in fields:
            yield Piece(found[0], field, value, bool(minus))
        else:
            yield Piece(found[0], "", f"{name}:{value}" if name else value, bool(minus))


def parse_query(text: str, fields: tuple[str, ...], today: date) -> Query:
    """Read what was typed into a filter bar.

    Args:
        text: See `pieces`.
        fields: Names that may stand before a colon beside `FIRST` and `LAST`.
        today: For days that are told from today.
    """
    conditions: list[Condition] = []
    since = until = None
    for piece in pieces(text.casefold(), (*fields, *FIRST, *LAST)):
        value = piece.value
        if piece.field in FIRST + LAST:
            span = parse_days(value, today)
            if span and piece.field in FIRST:
                since = span[0]
            elif span:
                until = span[1]
        elif piece.field:
            if wanted := tuple(each for each in value.split(",") if each):
                conditions.append(Condition(piece.field, wanted, piece.negated))
        elif value:
            conditions.append(Condition("", (value,), piece.negated))
    return Query(tuple(conditions), since, until)

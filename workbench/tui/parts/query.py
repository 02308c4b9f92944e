"""Owns the language of the filter bars and of the question line: words and `field:value`, and days among them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from workbench.engine.language.periods import parse_days
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_PIECE = lazy_pattern(r'(-?)(?:([A-Za-z]+):(?:"([^"]*)"?|(\S*))|(?:"([^"]*)"?|(\S+)))')
FIRST, LAST = ("after", "since"), ("before", "until")
"""What stands before the first and before the last day, wherever days are typed."""


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

    def matches(self, fields: Mapping[str, Sequence[str]], text: str, day: date) -> bool:
        """Tell whether something passes.

        Args:
            fields: Lower-case values by name of field.
            text: Everything that words are looked for in, lower-case.
        """
        if (self.since and day < self.since) or (self.until and day > self.until):
            return False
        return self.holds(fields, text)

    def holds(self, fields: Mapping[str, Sequence[str]], text: str) -> bool:
        """Tell whether every condition holds, whatever the day; see `matches`."""
        for condition in self.conditions:
            if condition.field:
                owned = fields.get(condition.field, ())
                found = any(value.startswith(wanted) for wanted in condition.values for value in owned)
            else:
                found = condition.values[0] in text
            if found == condition.negated:
                return False
        return True

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words to light up in what passed."""
        return tuple(each.values[0] for each in self.conditions if not each.field and not each.negated)


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


def parse_query(text: str, fields: tuple[str, ...], today: date | None) -> Query:
    """Read what was typed into a filter bar.

    Args:
        text: See `pieces`.
        fields: Names that may stand before a colon beside `FIRST` and `LAST`.
        today: For days that are told from today; None where nothing has a day, so that `FIRST` and `LAST` are words.
    """
    conditions: list[Condition] = []
    since = until = None
    for piece in pieces(text.casefold(), fields if today is None else (*fields, *FIRST, *LAST)):
        value = piece.value
        if today is not None and piece.field in FIRST + LAST:
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

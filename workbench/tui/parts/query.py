"""Owns the language of the filter bars and of the question line: words and `field:value`, and days among them."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from workbench.engine.language.calendar import COUNTS, any_of
from workbench.engine.language.periods import period_alone
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_PIECE = lazy_pattern(r'(-?)(?:([A-Za-z]+):(?:"([^"]*)"?|(\S*))|(?:"([^"]*)"?|(\S+)))')
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = lazy_pattern(r"^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$")
_COUNT = rf"\d{{1,4}}|(?:{any_of(name for name in COUNTS if name.isascii())})(?=\s)"
_AGO = lazy_pattern(rf"^({_COUNT})\s*(?:([dwmy])|(day|week|month|year)s?)(?:\s+(?:ago|back))?$")
# What a question says of a month, and a date does not.
_SAID = lazy_pattern(r"^(?:last|previous|past|this|next)\b")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
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


def parse_days(text: str, today: date) -> tuple[date, date] | None:
    """Read a day or a span of days.

    Args:
        text: `2026`, `2026-02`, `2026-02-14`, `feb`, `feb 2026`, `14 feb`, `14 feb 2026`, `today`, `yesterday`, `10d`,
            `3w`, `2m`, `1y` or `three weeks ago` (that long ago until today); and what a question may say, such as
            `last month`, `last-month`, `monday`, 上周.

    Returns:
        First and last day, or None where it is neither.
    """
    text = text.strip().casefold().rstrip(",.")
    if text == "today":
        return today, today
    if text == "yesterday":
        return today - timedelta(1), today - timedelta(1)
    if ago := _AGO.match(text):
        count = int(ago[1]) if ago[1].isdigit() else COUNTS[ago[1]]
        days = count * _DAYS[(ago[2] or ago[3])[0]]
        return (max(date.min + timedelta(days), today) - timedelta(days), today)
    if iso := _ISO.match(text):
        return _span(int(iso[1]), int(iso[2] or 0), int(iso[3] or 0))
    numbers = [int(word) for word in re.findall(r"\d+", text)[:2]]
    months = [1 + _MONTHS.index(word[:3]) for word in re.findall(r"[a-z]+", text) if word[:3] in _MONTHS]
    if len(months) != 1 or _SAID.match(text):
        # Behind a colon, words hang together by a hyphen.
        period = period_alone(text.replace("-", " "), today)
        return (period.first, period.last) if period is not None else None
    year = next((number for number in numbers if number > 31), None)
    day = next((number for number in numbers if number <= 31), 0)
    if year is not None:
        return _span(year, months[0], day)
    this_year = _span(today.year, months[0], day)
    return _span(today.year - 1, months[0], day) if this_year and this_year[0] > today else this_year


def _span(year: int, month: int, day: int) -> tuple[date, date] | None:
    try:
        first = date(year, month or 1, day or 1)
        if day:
            return first, first
        if not month:
            return first, date(year, 12, 31)
        after = date(year + month // 12, month % 12 + 1, 1)
        return first, after - timedelta(1)
    except ValueError:
        return None

"""What a person types to narrow the timeline: `type:decision,fact tag:auth after:2026-01 -staging some words`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.engine.catalog.terms import fold

_FIELDS = ("type", "confidence", "source", "tag")
_FIRST, _LAST, _BOTH = ("after", "since"), ("before", "until"), ("on", "day")
_PIECE = re.compile(r'(-?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))?')
_DAY = re.compile(r"\d{1,4}$|\d{4}-\d{0,2}$|\d{4}-\d{2}-\d{0,2}$")
_LAST_CHARACTER = "\U0010ffff"
# SQLite refuses conditions and patterns without bounds.
_MOST_CONDITIONS = 30
_MOST_VALUES = 10
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class Condition:
    """One of the values has to be there: a field's value that begins so, or, without a field, a piece of text.

    Args:
        field: type, confidence, source, tag or the empty string.
        values: Of which one is enough; folded where they are a field's.
        negated: None of them may be there.
    """

    field: str
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True)
class TimelineFilter:
    """Conditions that all have to hold.

    Args:
        conditions: In the order typed.
        after: First day, `YYYY-MM-DD` or a beginning of it.
        before: Last day, likewise.
    """

    conditions: tuple[Condition, ...] = ()
    after: str | None = None
    before: str | None = None

    def condition(self) -> tuple[str, list[str]]:
        """Return the filter as an SQL condition over `memories m` with its values."""
        clauses: list[str] = []
        values: list[str] = []
        for condition in self.conditions:
            some: list[str] = []
            for value in condition.values:
                if condition.field:
                    some.append("m.facets LIKE ? ESCAPE '\\'")
                    values.append(f"%\n{condition.field}:{_escaped(value)}%")
                    continue
                for spelling in _spellings(value):
                    some.append("m.text LIKE ? ESCAPE '\\' OR m.title LIKE ? ESCAPE '\\'")
                    values.extend([f"%{_escaped(spelling)}%"] * 2)
            clauses.append(("NOT " if condition.negated else "") + f"({' OR '.join(some)})")
        if self.after:
            clauses.append("m.sort_key >= ?")
            values.append(self.after)
        if self.before:
            clauses.append("m.sort_key <= ?")
            values.append(self.before + _LAST_CHARACTER)
        return " AND ".join(clauses) or "1", values


def parse_filter(text: str) -> TimelineFilter:
    """Read what was typed; what is half typed (`type:` alone, `after:x`) narrows nothing yet.

    Words must all occur. `type:`, `tag:`, `confidence:` and `source:` take the beginning of a value or several
    parted by commas; a minus before a condition turns it round; `after:` or `since:`, `before:` or `until:` and
    `on:` take a day or a beginning of it, such as `2026-01`.
    """
    conditions: list[Condition] = []
    after = before = None
    for minus, name, quoted, bare in _PIECE.findall(text.replace("\0", " ")):
        field, value = fold(name), quoted or bare
        if field in _FIELDS:
            if wanted := tuple(fold(each)[:_MOST_CHARACTERS] for each in value.split(",") if each):
                conditions.append(Condition(field, wanted[:_MOST_VALUES], bool(minus)))
        elif field in (*_FIRST, *_LAST, *_BOTH):
            if _DAY.match(value):
                after = value if field not in _LAST else after
                before = value if field not in _FIRST else before
        elif word := (f"{name}:{value}" if name else value):
            conditions.append(Condition("", (word[:_MOST_CHARACTERS],), bool(minus)))
    return TimelineFilter(tuple(conditions[:_MOST_CONDITIONS]), after, before)


def _spellings(word: str) -> tuple[str, ...]:
    """Return the ways to write a word that SQLite, which folds ASCII letters alone, would take for different ones."""
    if word.isascii():
        return (word,)
    return tuple(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize())))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

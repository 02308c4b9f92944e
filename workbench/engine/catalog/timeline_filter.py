"""What a person types to narrow the timeline: `type:decision tag:auth after:2026-01-01 some words`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from workbench.engine.catalog.terms import fold

_FIELDS = {"type": "type", "confidence": "confidence", "source": "source"}


@dataclass(frozen=True)
class TimelineFilter:
    """Conditions that all have to hold.

    Args:
        equals: (column, value) pairs compared without regard to case.
        tags: Tags that must all be there.
        words: Pieces of text that must all occur.
        after: First day, `YYYY-MM-DD` or a beginning of it.
        before: Last day, likewise.
    """

    equals: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    after: str | None = None
    before: str | None = None

    def condition(self) -> tuple[str, list[str]]:
        """Return the filter as an SQL condition over `memories m` with its values."""
        clauses: list[str] = []
        values: list[str] = []
        for column, value in self.equals:
            clauses.append(f"lower(m.{column}) LIKE ? ESCAPE '\\'")
            values.append(_escaped(value.lower()) + "%")
        for tag in self.tags:
            clauses.append("lower(m.tags) LIKE ? ESCAPE '\\'")
            values.append(f'%"{_escaped(tag.lower())}%')
        for word in self.words:
            clauses.append("(m.text LIKE ? ESCAPE '\\' OR m.title LIKE ? ESCAPE '\\')")
            values.extend([f"%{_escaped(word)}%"] * 2)
        if self.after:
            clauses.append("m.sort_key >= ?")
            values.append(self.after)
        if self.before:
            clauses.append("m.sort_key <= ?")
            values.append(self.before + "\U0010ffff")
        return " AND ".join(clauses) or "1", values


def parse_filter(text: str) -> TimelineFilter:
    """Read what was typed; what is half typed (an open quote, `type:` alone) narrows nothing yet."""
    try:
        pieces = shlex.split(text.replace("'", "\\'"))
    except ValueError:
        pieces = text.replace('"', " ").split()
    equals: list[tuple[str, str]] = []
    tags: list[str] = []
    words: list[str] = []
    days: dict[str, str] = {}
    for piece in pieces:
        field, colon, value = piece.partition(":")
        field = fold(field)
        if not colon or field not in (*_FIELDS, "tag", "after", "before", "on", "day"):
            words.append(piece)
        elif not value:
            continue
        elif field in _FIELDS:
            equals.append((_FIELDS[field], value))
        elif field == "tag":
            tags.append(value)
        elif field in ("on", "day"):
            days["after"] = days["before"] = value
        else:
            days[field] = value
    return TimelineFilter(tuple(equals), tuple(tags), tuple(words), days.get("after"), days.get("before"))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

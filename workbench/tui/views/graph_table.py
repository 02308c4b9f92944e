"""Draws the table of entities: its columns, its order, one line for each."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from workbench.display.ink import Line, Span, column, gap, ink, line_width, score_role, spread
from workbench.tui.views.dates import MONTHS, day_and_month
from workbench.tui.views.memory import score_bar
from workbench.tui.widgets.rows import KeyedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.results.graph import EntityRow
    from workbench.tui.views.graph_filter import GraphFilter

SORT_LINK = "sort:"
# The keys that the table can be sorted by, in the order of their turn, with the words over their columns.
SORTS: Final = {
    "relations": "links",
    "score": "score",
    "seen": "seen",
    "facts": "facts",
    "name": "name",
    "type": "type",
}
_SIGNS: Final = {"pinned": "◆", "dormant": "◌", "archived": "◌"}
_TYPE, _BAR, _SCORE, _COUNT, _SEEN, _FULL_DAY = 9, 6, 6, 7, 8, 10
_BAR_FROM, _TYPE_FROM, _SEEN_FROM, _WIDE = 66, 40, 48, 84
# The list keeps a cell for its scroll bar, and one beside it.
_MARGIN = 2
_GUTTER = 2
# Days longer ago than this are told by month and year where there is no room for all of it.
_MOST_OF_A_YEAR = 330


def entity_sign(status: str) -> str:
    """Return the glyph of an entity: what is pinned, and what is out of sight, shows without colour as well."""
    return _SIGNS.get(status, "◇")


def in_order(rows: Iterable[EntityRow], by: str) -> list[EntityRow]:
    """Return entities sorted by a key of `SORTS`; numbers and days greatest first, equals by name."""
    named = sorted(rows, key=lambda row: (row.label.casefold(), row.id))
    if by == "type":
        return sorted(named, key=lambda row: row.type)
    if by == "score":
        return sorted(named, key=lambda row: -row.score)
    if by == "seen":
        return sorted(named, key=lambda row: row.seen, reverse=True)
    if by == "facts":
        return sorted(named, key=lambda row: -row.facts)
    return sorted(named, key=lambda row: -row.degree) if by == "relations" else named


class EntityRows(KeyedRows):
    """Entities as rows.

    Args:
        rows: In the order they are shown.
        today: In the workspace's zone.
    """

    def __init__(self, rows: Sequence[EntityRow], today: date) -> None:
        self.entities = rows
        self._today = today
        super().__init__([row.id for row in rows], ())

    def entity(self, key: str) -> EntityRow | None:
        """Return the entity of that id."""
        at = self.find(key)
        return self.entities[at] if at is not None else None

    def line(self, index: int, width: int) -> Line:
        """Draw an entity."""
        row = self.entities[index]
        left = (
            Span(entity_sign(row.status), "store.semantic"),
            gap(1),
            ink(row.label, score_role(row.score), width),
        )
        return spread(left, _columns(row, self._today, width), width)


def _columns(row: EntityRow, today: date, width: int) -> Line:
    spans: list[Span] = []
    if width >= _TYPE_FROM:
        spans += [column(row.type, _TYPE, "soft"), gap(1)]
    if width >= _BAR_FROM:
        spans += score_bar(row.score, _BAR)
    spans += [
        Span(f"{row.score:.2f}".rjust(_SCORE), "soft"),
        Span(f"{row.degree:,}".rjust(_COUNT), "soft"),
        Span(f"{row.facts:,}".rjust(_COUNT), "soft"),
    ]
    if width >= _WIDE:
        spans += [gap(2), column(row.seen, _FULL_DAY, "faint")]
    elif width >= _SEEN_FROM:
        spans.append(column(seen_words(row.seen, today), _SEEN, "faint", right=True))
    return tuple(spans)


def header_line(sort: str, width: int) -> Line:
    """Draw the words over the columns, each to be clicked; the one the table is sorted by stands out."""

    def word(key: str, cells: int, *, right: bool = True) -> Span:
        text = SORTS[key] + ("▾" if key == sort else "")
        text = text.rjust(cells) if right else text.ljust(cells)
        return Span(text, "strong" if key == sort else "faint", SORT_LINK + key)

    spans: list[Span] = []
    room = width - _MARGIN - _GUTTER
    if room >= _TYPE_FROM:
        spans += [word("type", _TYPE, right=False), gap(1)]
    spans += [
        word("score", _SCORE + (_BAR if room >= _BAR_FROM else 0)),
        word("relations", _COUNT),
        word("facts", _COUNT),
    ]
    if room >= _WIDE:
        spans += [gap(2), word("seen", _FULL_DAY, right=False)]
    elif room >= _SEEN_FROM:
        spans.append(word("seen", _SEEN))
    right = tuple(spans)
    width -= _MARGIN
    left = (gap(_GUTTER), word("name", max(5, width - line_width(right) - 2 * _GUTTER), right=False))
    return (*left, gap(width - line_width(left) - line_width(right)), *right)


def seen_words(day: str, today: date) -> str:
    """Return an ISO day in at most seven cells: “12 Jan”, or “Jan ’25” where that was long ago."""
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return ""
    if abs((today - found).days) > _MOST_OF_A_YEAR:
        return f"{MONTHS[found.month - 1]} ’{found.year % 100:02}"
    return day_and_month(found)


def matching(rows: Iterable[EntityRow], wanted: GraphFilter) -> list[EntityRow]:
    """Return the entities that pass a filter."""
    if not wanted:
        return list(rows)
    return [row for row in rows if wanted.shows_row(row)]

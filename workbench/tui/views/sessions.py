"""Draws sessions: one row each with how full it is, and above a transcript what there is to say of its session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, spread
from workbench.engine.clock import in_zone
from workbench.tui.views.dates import day_and_month, long_day, short_moment
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from workbench.engine.results.sessions import FlushCheck, SessionRow
    from workbench.tui.query import Query

FIELDS = ("kind", "agent", "channel", "is")
FULL, REST, FLUSH_MARK, COMPACT_MARK, UNKNOWN = "━", "─", "╎", "┃", "·"
_KINDS = {
    "main": "●", "direct": "◐", "group": "◍", "channel": "▤", "subagent": "◌", "cron": "◷", "hook": "↯", "acp": "◌",
    "node": "▢", "global": "●",
}  # fmt: skip
_AGENT = "agent:"
_GAUGE, _PERCENT, _WHEN = 10, 4, 6
# Columns of the name, the day and the gauge; those beyond are for the state in words, no fewer and no more than these.
_BESIDE_WORDS = 48
_FEWEST_WORDS, _MOST_WORDS = 9, 34
_BETWEEN = " · "


@dataclass(frozen=True)
class Listed:
    """A session in the list.

    Args:
        row: The session.
        place: Where another program keeps it; None for this workspace’s own.
    """

    row: SessionRow
    place: str | None = None

    @property
    def key(self) -> str:
        """Return the id of its row."""
        return f"{self.row.key} @ {self.place}" if self.place else self.row.key

    @property
    def name(self) -> str:
        """Return what it goes by: its label, else its key without what all keys begin with."""
        key = self.row.key.removeprefix(_AGENT)
        return self.row.label or key.removeprefix("main:")


def own_title(count: int) -> str:
    """Return the heading of this workspace’s own sessions."""
    return f"This workspace · {_counted(count)}"


def place_title(place: str, source: str, count: int) -> str:
    """Return the heading of another program’s sessions."""
    kept = {"files": "files", "database": "database", "both": "files and databases"}.get(source, source)
    return f"{_counted(count).capitalize()}, only read · {kept} · {place}"


def _counted(count: int) -> str:
    return "one session" if count == 1 else f"{count:,} sessions"


class SessionRows(SectionedRows["Listed | str"]):
    """Sessions under the headings of where they are kept.

    Args:
        sections: A heading and its sessions.
        now: In the workspace’s zone.
    """

    def __init__(self, sections: Iterable[tuple[str, Iterable[Listed]]], now: datetime) -> None:
        super().__init__()
        self._now = now
        self._words: dict[int, int] = {}
        for title, listed in sections:
            self._add_heading(title)
            for each in listed:
                self._add(each, each.key)

    def listed(self, key: str) -> Listed | None:
        """Return the session of a row."""
        row = self._row(key)
        return row if isinstance(row, Listed) else None

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a session, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, str):
            return (ink(row, "soft", width),)
        return session_row(row, self._now, width, self._cells_for_words(width))

    def _cells_for_words(self, width: int) -> int:
        """Return how many cells the longest words about a state take, of those that there is room for."""
        room = min(width - _BESIDE_WORDS, _MOST_WORDS)
        if room < _FEWEST_WORDS:
            return 0
        if room not in self._words:
            told = (state_words(each.row, room) for each in self._rows if isinstance(each, Listed))
            self._words[room] = min(room, max(map(cell_width, told), default=0))
        return self._words[room]


def session_row(listed: Listed, now: datetime, width: int, words: int) -> Line:
    """Draw one session: what it is, its name, when it was last used, how full it is, and what is due.

    Args:
        listed: The session.
        now: In the workspace’s zone.
        width: Cells.
        words: Cells for the words about its state.
    """
    row = listed.row
    right: Line = (
        gap(1),
        column(_when(row.updated, now), _WHEN, "faint", right=True),
        gap(2),
        *gauge(row.flush, _GAUGE),
        gap(1),
        column(percent(row.flush), _PERCENT, "soft", right=True),
    )
    if words:
        told = column(state_words(row, words), words, "decide" if row.flush.due else "faint")
        right = (*right, gap(2), told)
    role = "strong" if row.fresh else "soft"
    left = (Span(_KINDS.get(row.kind, "○"), "soft"), gap(1), ink(listed.name, role, width))
    return spread(left, right, width)


def state_words(row: SessionRow, width: int | None = None) -> str:
    """Say what state a session is in, the most important first.

    Args:
        row: The session.
        width: Cells; of several states those are told that there is room for.
    """
    words = []
    if row.flush.due:
        words.append("flush due")
    if not row.fresh:
        words.append("ended")
    if row.flush.compactions:
        words.append(f"compacted {row.flush.compactions}×")
    if row.shared:
        words.append("shared")
    if row.transcript is None:
        words.append("no transcript")
    while width is not None and len(words) > 1 and cell_width(_BETWEEN.join(words)) > width:
        words.pop()
    return _BETWEEN.join(words)


def percent(check: FlushCheck) -> str:
    """Return how much of the context window is used."""
    if check.tokens is None or check.window <= 0:
        return "?"
    return f"{min(999, round(100 * check.tokens / check.window))}%"


def gauge(check: FlushCheck, cells: int) -> Line:
    """Draw a context over its whole window, with a mark for the flush and one for the compaction."""
    if check.tokens is None or check.window <= 0:
        return (Span(UNKNOWN * cells, "rule"),)
    compact = min(cells - 1, max(1, round(cells * check.compaction_at / check.window)))
    flush = min(compact - 1, max(0, round(cells * check.threshold / check.window)))
    filled = min(cells, max(int(check.tokens > 0), round(cells * check.tokens / check.window)))
    role = (
        "danger"
        if check.tokens >= check.compaction_at
        else "decide"
        if check.tokens >= check.threshold
        else "text"
    )
    return tuple(
        Span(FLUSH_MARK, "decide" if filled > at else "soft")
        if at == flush
        else Span(COMPACT_MARK, "danger" if filled > at else "soft")
        if at == compact
        else Span(FULL, role)
        if at < filled
        else Span(REST, "rule")
        for at in range(cells)
    )


def head_lines(
    listed: Listed, check: FlushCheck | None, total: int | None, now: datetime, width: int
) -> list[Line]:
    """Draw what there is to say of a session above its transcript, on four lines, on five where it is only read.

    Args:
        listed: The session.
        check: How full it is, where more is known than the list says.
        total: Lines of its transcript; None until they are counted.
        now: In the workspace’s zone.
        width: Cells.
    """
    row = listed.row
    check = check or row.flush
    about = _BETWEEN.join(
        dict.fromkeys(each for each in (row.kind, row.agent, row.channel, row.model) if each)
    )
    left = (Span(_KINDS.get(row.kind, "○"), "soft"), gap(1), ink(listed.name, "strong", width))
    lines: list[Line] = [spread(left, (ink(about, "faint", width // 2),), width)]
    if check.tokens is None:
        figures = "not counted"
    else:
        about_how_many = "≈ " if check.estimated else ""
        figures = f"{about_how_many}{check.tokens:,} of {check.window:,}"
    room = width - cell_width(figures) - 2
    lines.append((*gauge(check, max(8, room)), gap(2), ink(figures, "soft", width)))
    marks = f"{FLUSH_MARK} flush at {check.threshold:,}  {COMPACT_MARK} compaction at {check.compaction_at:,}"
    due = state_words(row)
    lines.append(
        spread((ink(marks, "faint", width),), (ink(due, "decide" if row.flush.due else "soft", 30),), width)
    )
    counted = "reading…" if total is None else f"{total:,} line{'s' * (total != 1)}"
    said = [counted, _size(row.size_bytes)]
    if row.updated is not None:
        said.append(f"last {_moment(row.updated, now)}")
    if row.expires is not None and row.fresh:
        said.append(f"ends {_moment(row.expires, now)}")
    if cell_width(_BETWEEN.join(said)) > width:
        # When it ends counts more than how large it is.
        said.remove(_size(row.size_bytes))
    lines.append(cut((ink(_BETWEEN.join(said), "faint", width),), width))
    if listed.place:
        told = "Only read: what is done to it is done to a copy."
        lines.append((ink(told, "soft", width),))
    return lines


def session_matches(query: Query, listed: Listed) -> bool:
    """Tell whether a session passes a filter."""
    row = listed.row
    states = ["foreign" if listed.place else "own", "fresh" if row.fresh else "ended"]
    states += ["due"] * row.flush.due + ["shared"] * row.shared + ["compacted"] * bool(row.flush.compactions)
    fields = {
        "kind": (row.kind.casefold(),),
        "agent": (row.agent.casefold(),),
        "channel": (row.channel.casefold(),),
        "is": tuple(states),
    }
    text = f"{row.key} {row.label} {row.session_id} {row.model} {listed.place or ''}".casefold()
    if row.updated is None:
        return not (query.since or query.until) and query.holds(fields, text)
    return query.matches(fields, text, row.updated.date())


def _when(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    local = in_zone(moment, now.tzinfo)
    if local.date() == now.date():
        return f"{local:%H:%M}"
    if local.year == now.year:
        return day_and_month(local.date())
    return long_day(local.date())[-4:]


def _moment(moment: datetime, now: datetime) -> str:
    local = in_zone(moment, now.tzinfo)
    if local.year != now.year:
        return short_moment(local)
    return f"{day_and_month(local.date())}, {local:%H:%M}"


def _size(size: int) -> str:
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            return f"{size / of:.1f} {unit}"
    return f"{size} bytes"

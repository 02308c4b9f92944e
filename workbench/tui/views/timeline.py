"""Draws the timeline: months with the density of their days, the episodes day by day, and one episode read closely."""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, plain
from workbench.display.ink import BLANK, Line, Span, column, gap, ink, score_role, spread, wrap_line
from workbench.tui.views.dates import MONTH_NAMES, MONTHS, day_name, short_day
from workbench.tui.views.memory import known_lines, markdown_lines, section
from workbench.tui.views.scopes import SCOPE_FROM, scope_words
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.tui.bench import Episode, Memory
    from workbench.tui.query import Query

FIELDS = ("type", "tag", "confidence", "source", "status")
CONFIDENCE = {"high": "●", "medium": "◐", "low": "○"}
_LEVELS = "▂▃▄▅▆▇█"
_EMPTY = "▁"
_STRIP_FROM = 58
_TAGS_FROM = 84
_SCORE_FROM = 48


def episode_matches(query: Query, episode: Episode) -> bool:
    """Tell whether an episode passes a filter."""
    if not query:
        return True
    fields = {
        "type": (episode.type.casefold(),),
        "tag": tuple(tag.casefold() for tag in episode.tags),
        "confidence": (episode.confidence.casefold(),),
        "source": (episode.source.casefold(),),
        "status": (episode.status.casefold(),),
    }
    text = f"{episode.text}\n{' '.join(episode.tags)}\n{episode.id}".casefold()
    return query.matches(fields, text, episode.day)


class TimelineRows(SectionedRows["Episode | date"]):
    """Episodes as rows, newest first: for each month a heading, its episodes with their days, and a space.

    Args:
        today: In the workspace's zone.
    """

    def __init__(self, today: date) -> None:
        super().__init__()
        self._today = today
        self._months: dict[date, Counter[int]] = {}
        self.days: dict[date, list[Episode]] = {}

    def extend(self, episodes: Iterable[Episode]) -> None:
        """Add older episodes at the end."""
        for episode in episodes:
            month = episode.day.replace(day=1)
            counts = self._months.get(month)
            if counts is None:
                counts = self._months[month] = Counter()
                self._add_heading(month)
            counts[episode.day.day] += 1
            self.days.setdefault(episode.day, []).append(episode)
            self._add(episode, episode.id)

    @property
    def shown(self) -> int:
        """Return how many episodes there are."""
        return sum(map(len, self.days.values()))

    def episode(self, key: str) -> Episode | None:
        """Return the episode of that id."""
        row = self._row(key)
        return None if isinstance(row, date) else row

    def key_near(self, day: date) -> str:
        """Return the newest episode not later than the end of a day; the oldest one where there is none."""
        key = ""
        for each, episodes in self.days.items():
            key = episodes[0].id
            if each <= day:
                return key
        return key

    def line(self, index: int, width: int) -> Line:
        """Draw a month's heading, an episode, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, date):
            return self._heading(row, width)
        above = self._rows[index - 1]
        continued = above is not None and not isinstance(above, date) and above.day == row.day
        return _episode_line(row, width, "" if continued else short_day(row.day, self._today))

    def _heading(self, month: date, width: int) -> Line:
        counts = self._months[month]
        name = (Span(f"{MONTH_NAMES[month.month - 1]} {month.year}", "strong"),)
        total = Span(f"{counts.total():>5,}", "soft")
        if width < _STRIP_FROM:
            return spread(name, (total,), width)
        days = monthrange(month.year, month.month)[1]
        strip = _bars([counts.get(day, 0) for day in range(1, days + 1)], max(4, *counts.values()))
        return spread(name, (*strip, gap(1), total), width)


def _bars(counts: list[int], most: int, here: int = -1) -> Line:
    """Draw one bar for each count; `most` is the count of a full one, `here` the one to stand out."""
    spans: list[Span] = []
    for at, count in enumerate(counts):
        level = min(len(_LEVELS) - 1, (count - 1) * len(_LEVELS) // max(most, 1))
        glyph, role = (_LEVELS[level], "store.episodic") if count else (_EMPTY, "rule")
        spans.append(Span(glyph, "strong" if at == here else role))
    return tuple(spans)


def _episode_line(episode: Episode, width: int, day: str) -> Line:
    sign = "◆" if episode.pinned else CONFIDENCE.get(episode.confidence, " ")
    left: Line = (
        column(day, 6, "text"),
        gap(1),
        column(episode.time, 5, "soft"),
        gap(1),
        Span(sign, "store.episodic"),
        gap(1),
        column(episode.type, 10, "soft"),
        gap(1),
    )
    right: Line = ()
    if width >= _TAGS_FROM and episode.tags:
        right = (_tags(episode.tags, max(12, width // 6)),)
    if width >= SCOPE_FROM and episode.scope:
        right = (ink(scope_words(episode.scope), "soft", width // 4), *((gap(2), *right) if right else ()))
    if width >= _SCORE_FROM and episode.score is not None:
        right = (*right, gap(2), Span(f"{episode.score:.2f}", "faint"))
    role = "soft" if episode.type == "log" else score_role(episode.score)
    text = ink(gist(episode), role, width)
    return spread((*left, text), right, width)


def _tags(tags: tuple[str, ...], width: int) -> Span:
    """Draw as many whole tags as there is room for, and how many more there are."""
    words = [f"#{plain(tag, width)}" for tag in tags]
    shown = words[:]
    while len(shown) > 1 and cell_width(" ".join(shown)) > width - 3 * (len(shown) < len(words)):
        shown.pop()
    more = f" +{len(words) - len(shown)}" if len(shown) < len(words) else ""
    return Span(plain(" ".join(shown), width - len(more)) + more, "faint")


def gist(episode: Episode) -> str:
    """Return the beginning of a text as one line, without the marks of Markdown and without its own time.

    The parts of a flat log begin with a heading or with the time; what the row says already is left out.
    """
    lines = [line.strip() for line in episode.text[:600].splitlines()]
    lines = [line for line in lines if line]
    time = episode.time
    if time and len(lines) > 1 and lines[0].startswith("#") and time in lines[0]:
        lines = lines[1:]
    words = " ".join(line.lstrip("-*># ") for line in lines).replace("**", "")
    return words.removeprefix(time).lstrip(" :–—-") if time else words


def ribbon_line(days: Mapping[date, int], here: date | None, width: int) -> Line:
    """Draw the whole timeline as one line of bars, oldest at the left, with the day one is at standing out.

    Args:
        days: How many episodes each day has.
        here: The day under the cursor.
        width: Cells.
    """
    if not days:
        return BLANK
    first, last = min(days), max(days)
    begin, end = _month(first), _month(last)
    cells = width - len(begin) - len(end) - 4
    if cells < 10:
        return BLANK
    length = (last - first).days + 1
    cells = _cells(cells, length)
    counts = [0] * cells
    for day, count in days.items():
        begin_cell = (day - first).days * cells // length
        end_cell = ((day - first).days + 1) * cells // length
        for cell in range(begin_cell, max(end_cell, begin_cell + 1)):
            counts[cell] += count
    at = (here - first).days * cells // length if here is not None and first <= here <= last else -1
    return (Span(begin, "faint"), gap(2), *_bars(counts, max(counts), at), gap(2), Span(end, "faint"))


def ribbon_day(days: Mapping[date, int], x: int, width: int) -> date | None:
    """Return the day that a click at a cell of the ribbon means."""
    if not days:
        return None
    first, last = min(days), max(days)
    length = (last - first).days + 1
    cells = _cells(width - len(_month(first)) - len(_month(last)) - 4, length)
    at = x - len(_month(first)) - 2
    return first + timedelta(max(0, (at + 1) * length // cells - 1)) if 0 <= at < cells else None


def _cells(room: int, days: int) -> int:
    """Return how many cells a ribbon takes: two for each day where there is room, else as many as there are."""
    return 2 * days if 2 * days <= room else min(days, room)


def _month(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year}"


def episode_lines(episode: Episode, memory: Memory | None, today: date, width: int) -> list[Line]:
    """Draw one episode in full, with what was learned from it once that is known."""
    when = day_name(episode.day, today) + (f", {episode.time}" if episode.time else "")
    lines: list[Line] = [
        spread((ink(when, "store.episodic+strong"),), (ink(episode.type, "soft", 16),), width)
    ]
    facts = [
        f"confidence {episode.confidence}" if episode.confidence else "",
        f"from {episode.source}" if episode.source else "",
        " ".join(f"#{tag}" for tag in episode.tags),
        "pinned" if episode.pinned else "",
    ]
    if any(facts):
        lines += wrap_line((ink(" · ".join(fact for fact in facts if fact), "faint"),), width)
    lines += [BLANK, *markdown_lines(episode.text, width)]
    if memory is None:
        return lines
    if not memory.links_from and episode.type != "log":
        lines += [*section("What was learned from it"), (Span(plain("Nothing yet.", width), "faint"),)]
    return lines + known_lines(memory, width, learned="What was learned from it")

"""Draws what fades and when: rows with cells or in words, their groups, a score on one day, a half-life in words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.display import words
from workbench.display.changes import at_minute, on_day
from workbench.display.heat import (
    DROP,
    FARTHEST,
    SCALES,
    USUAL_SCALE,
    Scale,
    Window,
    axis_line,
    heat_line,
    window_for,
)
from workbench.display.ink import BLANK, TEXT_FIRST, Span, column, cut, gap, ink, line_width
from workbench.display.rows import store_sign
from workbench.display.text import Page, bar, clip, display_width, safe_line
from workbench.display.words import counted
from workbench.engine.memory.scores import coming_passings, next_passings, score_course
from workbench.engine.results.decay import DecayEntry, ScorePoint
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.display.ink import Line
    from workbench.engine.results.decay import DecayExplained, DecayView, Fall, Falls
    from workbench.engine.results.memories import Score

SORTS: Final = ("soonest", "score", "last use", "name")
GROUPINGS: Final = ("time", "kind", "tag", "entity")
WEEK: Final = 7
_RECALLED: Final = ("active", "fading", "pinned")
_SIGN, _WHEN = 2, 8
# Cells that a text has before the first of time gets one, and the fewest of time that say anything.
_TEXT_AT_LEAST, _FEWEST = 30, 10
_MONTHS_AHEAD = 12


@dataclass(frozen=True)
class Fading:
    """All scores at one moment, and what becomes of them if nobody touches anything.

    Args:
        ahead: Days until each memory drops a level, by id; without those that stay as they are.
        truth: In a trial, the same as it really is; None where nothing is tried.
        statuses: In a trial, the status that each memory really has, by id.
    """

    view: DecayView
    ahead: Mapping[str, int]
    truth: Fading | None
    statuses: Mapping[str, str]

    @property
    def today(self) -> date:
        """Return the day of the scores."""
        return self.view.now.date()

    def drops(self, entry: DecayEntry) -> list[Drop]:
        """Return what a memory drops below, the soonest first; nothing where it stays."""
        found = coming_passings(self.view, entry, FARTHEST) if not stays(entry) else ()
        return [Drop(days, self.today + timedelta(days), each.before, each.after) for days, each in found]

    def next_drop(self, entry: DecayEntry) -> Drop | None:
        """Return the next threshold that a memory drops below; None where it stays as it is."""
        return next(iter(self.drops(entry)), None)

    def days_left(self, entry: DecayEntry) -> int | None:
        """Return in how many days a memory drops a level; None where it stays as it is."""
        return self.ahead.get(entry.id) if not stays(entry) else None

    def status(self, entry: DecayEntry) -> str:
        """Return the status that a memory really has."""
        return self.statuses.get(entry.id, entry.status)

    def changed(self, entry: DecayEntry) -> bool:
        """Return whether a memory would have another status under the half-life that is tried."""
        return self.truth is not None and self.status(entry) != entry.status


class Drop(NamedTuple):
    """A threshold that a memory drops below: in how many days, which day that is, its status before and after."""

    days: int
    on: date
    before: str
    after: str


def fading(view: DecayView, truth: Fading | None = None) -> Fading:
    """Return scores with what becomes of them.

    Args:
        view: The scores.
        truth: Where they are those of a trial, what really holds.
    """
    statuses = {entry.id: entry.status for entry in truth.view.entries} if truth is not None else {}
    return Fading(view, next_passings(view, FARTHEST), truth, statuses)


def stays(entry: DecayEntry) -> bool:
    """Return whether a memory stays whatever happens: pinned, in the vault, or always with the agent."""
    return entry.pinned or entry.type_weight is None or entry.store == "core"


def rate_of(days: float) -> float:
    """Return the rate a day, λ, of a half-life in days; 0 for an infinite one."""
    return 0.0 if math.isinf(days) else float(f"{math.log(2) / days:.4g}")


def days_words(days: float) -> str:
    """Return a half-life in words: “23 days”, “a day”; that nothing fades where it is infinite."""
    if math.isinf(days):
        return "none: nothing fades"
    said = f"{days:,.0f}" if days >= 10 or days == round(days) else f"{days:.1f}"
    return f"{said} {'day' if said == '1' else 'days'}"


@dataclass(frozen=True, slots=True)
class TimeFrame:
    """The time span shown, and the selected day.

    Args:
        scale: How much time a cell stands for.
        day: The selected day, as an offset from today.
    """

    today: date
    scale: Scale = SCALES[USUAL_SCALE]
    day: int = 0

    @property
    def cell(self) -> int:
        """Return the selected cell."""
        return self.scale.cell(self.today, self.day)

    def window(self, width: int) -> Window:
        """Return the cells that there is room for."""
        return window_for(self.today, self.scale, width, self.cell)


@dataclass(frozen=True)
class Group:
    """Memories under a heading.

    Args:
        name: What the group is called.
        aside: What stands at the right of the heading.
    """

    name: str
    entries: tuple[DecayEntry, ...]
    aside: str = ""


def grouped(read: Fading, sort: str, group: str, *, only_changes: bool = False) -> list[Group]:
    """Return memories in groups, in an order.

    Args:
        sort: One of `SORTS`.
        group: One of `GROUPINGS`; by time only where the soonest stand first.
        only_changes: Leave out what a trial would not change.
    """
    entries = [each for each in read.view.entries if not only_changes or read.changed(each)]
    _sort(entries, read, sort)
    if group == "time" and sort != "soonest":
        return [Group("", tuple(entries))]
    found: dict[str, list[DecayEntry]] = defaultdict(list)
    order: dict[str, tuple[float, str]] = {}
    for entry in entries:
        rank, name = _group_of(entry, read, group)
        found[name].append(entry)
        order.setdefault(name, (rank, name))
    names = sorted(
        found, key=lambda name: order[name] if group == "time" else (order[name][0], -len(found[name]))
    )
    before = _counts_of_truth(read) if group == "time" else {}
    return [Group(name, tuple(found[name]), _aside(len(found[name]), before.get(name))) for name in names]


def _aside(count: int, before: int | None) -> str:
    return f"{count:,}" if before is None or before == count else f"{count:,} instead of {before or 'none'}"


def _counts_of_truth(read: Fading) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    if read.truth is not None:
        for entry in read.truth.view.entries:
            counts[_group_of(entry, read.truth, "time")[1]] += 1
        for entry in read.view.entries:
            counts.setdefault(_group_of(entry, read, "time")[1], 0)
    return counts


def _group_of(entry: DecayEntry, read: Fading, group: str) -> tuple[float, str]:
    """Return where a memory's group stands among the others, and what it is called."""
    if group == "kind":
        return 0, words.kind(entry.store)
    if group == "tag":
        return (0, f"#{entry.tags[0]}") if entry.tags else (1, "without a tag")
    if group == "entity":
        named = entry.entities[0].partition(":")[2] if entry.entities else ""
        return (
            (0, named.rpartition("--")[2].replace("-", " ")) if named else (1, "about nobody in particular")
        )
    days = read.days_left(entry)
    if days is None:
        if stays(entry):
            return 10_002, "stays: pinned, core memory, vault"
        return (10_004, "archived") if entry.archived else (10_003, "has faded; use brings it back")
    return _coming(days, read.today)


@lru_cache(maxsize=FARTHEST)
def _coming(days: int, today: date) -> tuple[float, str]:
    """Return where the group of what drops in so many days stands, and what it is called."""
    if days <= WEEK:
        return 0, "fades this week"
    on = today + timedelta(days)
    months = (on.year - today.year) * 12 + on.month - today.month
    if months == 0:
        return 1, f"later in {today:%B}"
    if months > _MONTHS_AHEAD:
        return 10_000, "later than in a year"
    return 1 + months, f"in {on:%B}" + (f" {on.year}" if on.year != today.year else "")


def _sort(entries: list[DecayEntry], read: Fading, sort: str) -> None:
    if sort == "score":
        # Scores end at 1; beyond that the raw relevance tells which will stay there for longer.
        entries.sort(key=lambda each: (-each.score, -(math.inf if each.raw is None else each.raw), each.id))
    elif sort == "last use":
        entries.sort(key=lambda each: (each.last_accessed, each.id), reverse=True)
    elif sort == "name":
        entries.sort(key=lambda each: ((each.title or each.id).casefold(), each.id))
    else:
        left = read.days_left
        entries.sort(
            key=lambda each: (math.inf if (days := left(each)) is None else days, -each.score, each.id)
        )


def course_of(read: Fading, entry: DecayEntry, days: Sequence[int]) -> Sequence[ScorePoint]:
    """Return a memory's scores on days counted from today, if nobody touches it."""
    return score_course(read.view, entry, days)


@dataclass(frozen=True)
class Columns:
    """How a row is parted: text, cells of time, and when it drops; no cells at all where the text needs the room."""

    text: int
    cells: int

    @property
    def cells_begin(self) -> int:
        """Return the column at which the cells begin."""
        return _SIGN + self.text + 1


def columns_for(width: int, longest: int, *, heat: bool) -> Columns:
    """Return how rows of a width are parted.

    Args:
        heat: Whether cells are wanted.
    """
    room = width - _SIGN - 1 - _WHEN - 1
    if not heat or room - _TEXT_AT_LEAST < _FEWEST:
        return Columns(max(4, width - _SIGN - _WHEN - 2), 0)
    text = max(_TEXT_AT_LEAST, min(longest, room - max(_FEWEST, room // 3)))
    return Columns(text, room - text)


def fading_row(
    entry: DecayEntry, read: Fading, frame: TimeFrame, columns: Columns, width: int, *, here: bool
) -> Line:
    """Draw one memory: what it says, its score over time, and when it drops.

    Args:
        here: Whether to highlight the selected cell.
    """
    fall, faded = read.next_drop(entry), entry.status not in _RECALLED
    role = "strong" if read.changed(entry) else "soft" if faded else "text"
    sign = store_sign(entry.store)
    text = column(entry.title or entry.id, columns.text, role)
    if not columns.cells:
        return _in_words(entry, fall, (sign, ink(entry.title or entry.id, role)), width, read.today)
    window = frame.window(columns.cells)
    cells = heat_line(_points(entry, read, window), window, entry.store, frame.cell if here else None)
    when = "◆" if entry.pinned else "" if fall is None else words.coming(fall.on, read.today)
    return cut((sign, text, gap(1), *cells, gap(1), column(when, _WHEN, "soft")), width)


def _points(entry: DecayEntry, read: Fading, window: Window) -> Sequence[ScorePoint]:
    points = course_of(read, entry, window.days)
    if entry.store != "core":
        return points
    # Core memory is always along, whatever the formula makes of it.
    steady = type(points[0])
    return [each if each.value is None else steady(each.days, 1.0, "pinned") for each in points]


def _in_words(entry: DecayEntry, fall: Drop | None, left: Line, width: int, today: date) -> Line:
    """Draw a row without cells; what becomes of it in as many words as there is room for."""
    status = "stays" if stays(entry) else "archived" if entry.archived else entry.status
    told = (
        [status]
        if fall is None
        else [f"{fall.after} {words.on_day(fall.on, today)}", words.coming(fall.on, today)]
    )
    if entry.pinned:
        told = ["◆ pinned", "◆"]
    room = width - min(line_width(left), TEXT_FIRST) - 2
    said = next((each for each in told if len(each) <= room), told[-1])
    text = cut(left, width - len(said) - 2 if said else width)
    return (*text, gap(width - line_width(text) - len(said)), Span(said, "soft"))


def axis(frame: TimeFrame, columns: Columns) -> Line:
    """Draw the dates above the cells; nothing where rows have none."""
    if not columns.cells:
        return BLANK
    return (gap(columns.cells_begin), *axis_line(frame.window(columns.cells), frame.cell))


def score_words(point: ScorePoint) -> str:
    """Say how alive a memory is on a day."""
    if point.status == "unmade":
        return "not made yet"
    if point.value is None:
        return "not recorded; only the last use is kept"
    if point.status == "pinned":
        return "stays"
    return f"{point.value:.2f}, {point.status}"


def longest_text(entries: Iterable[DecayEntry]) -> int:
    """Return how long the texts of nearly all memories are, at most."""
    sizes = sorted(len(each.title or each.id) for each in entries)
    return sizes[min(len(sizes) - 1, len(sizes) * 19 // 20)] if sizes else 0


Course = Callable[[DecayEntry, Sequence[int]], Sequence[ScorePoint]]
Heat = Callable[[DecayEntry], str]

BAR = 8
# Cells of a strip from now to the end of a forecast.
_CELLS = 13
STATUSES = ("active", "fading", "dormant", "archived", "pinned")
# Dropped in this order if the page is too narrow for every column.
DISPENSABLE = ("", "last used", "uses")
# Columns a title is recognised by.
_TITLE = 20


def decay_lines(
    page: Page,
    decay: DecayView,
    *,
    sort: str = "score",
    grouped: str | None = None,
    limit: int | None = None,
    course: Course | None = None,
) -> list[str]:
    """Show the table of scores.

    Args:
        sort: `score` lists the lowest first; anything else keeps the given order.
        grouped: One table per `store`, `tag` or `entity`, or None for a single table.
        limit: Maximum memories per table, and maximum tables; a last line counts the rest.
        course: Returns a memory's scores on given days; with a forecast each row has a strip of them.
    """
    aside = f"λ {decay.lambda_:g} a day, {at_minute(page, decay.now)}"
    lines = [page.heading("Decay", aside)]
    if not decay.entries:
        return [*lines, "Nothing here has a score yet."]
    lines.append(f"{_counted(decay.entries)}.")
    entries = list(decay.entries)
    if sort == "score":
        entries.sort(key=lambda entry: (entry.status == "pinned", entry.score, entry.id))
    last = max((int(day) for day in entries[0].forecast or ()), default=0)
    window = _strip(decay.now.date(), last) if course and last else None
    heat = partial(_heat, page, course, window) if course and window else None
    if grouped is None:
        table, is_drawn = _table_lines(page, entries, limit, heat)
        return [*lines, "", *table, *(_legend(page, window) if is_drawn and window else ())]
    groups: dict[str, list[DecayEntry]] = {}
    for entry in entries:
        for name in _groups_of(entry, grouped):
            groups.setdefault(name, []).append(entry)
    ordered = sorted(groups, key=lambda name: (-len(groups[name]), name))
    has_strips = False
    for name in ordered[:limit]:
        title = safe_line(name) or f"no {grouped}"
        table, is_drawn = _table_lines(page, groups[name], limit, heat)
        lines += ["", page.heading(title, _counted(groups[name])), *table]
        has_strips |= is_drawn
    if further := len(ordered[limit:]) if limit is not None else 0:
        many = f"{len(ordered):,} {'entities' if grouped == 'entity' else f'{grouped}s'}"
        lines += ["", page.paint(f"… and {further:,} more of {many}: --limit {len(ordered)}", "quiet")]
    return [*lines, *(_legend(page, window) if has_strips and window else ())]


def trial_lines(page: Page, standing: DecayView, trial: DecayView, *, limit: int | None = None) -> list[str]:
    """Show what another rate would change: counts of each kind, then the memories.

    Args:
        trial: The same memories under the other rate.
    """
    aside = f"λ {trial.lambda_:g} a day instead of {standing.lambda_:g}, {at_minute(page, trial.now)}"
    lines = [page.heading("Decay", f"{aside} (a trial)")]
    before = {entry.id: entry.status for entry in standing.entries}
    kinds: dict[tuple[str, str], list[DecayEntry]] = {}
    for entry in trial.entries:
        if entry.would_be and entry.id in before:
            # Both statuses are in the line above the table.
            kind = (entry.would_be, before[entry.id])
            kinds.setdefault(kind, []).append(replace(entry, would_be=None, status=""))
    if not kinds:
        return [*lines, f"Nothing would change: {_counted(trial.entries) or 'nothing here has a score yet'}."]
    for (after, now), changed in sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0])):
        changed.sort(key=lambda entry: (entry.score, entry.id))
        told = f"{len(changed):,} would be {_status(page, after)} instead of {_status(page, now)}"
        lines += ["", f"{told}:", *_table_lines(page, changed, limit)[0]]
    return lines


def fall_lines(page: Page, found: Falls, *, tried: bool = False, limit: int | None = None) -> list[str]:
    """List upcoming falls below a threshold: day, statuses and memory.

    Args:
        tried: Whether another rate than the configured one was requested.
        limit: Maximum lines; a last one counts the rest.
    """
    days = "1 day" if found.within == 1 else f"{found.within} days"
    aside = f"λ {found.lambda_:g} a day, {at_minute(page, found.now)}" + (" (a trial)" if tried else "")
    lines = [page.heading(f"What fades within {days}", aside)]
    if not found.falls:
        return [*lines, f"Nothing passes a threshold within {days}."]
    falls = found.falls[:limit]
    for left_out in (frozenset[str](), frozenset({"below"}), frozenset({"below", "in"})):
        rows = [
            {title: cell for title, cell in _fall_cells(page, fall).items() if title not in left_out}
            for fall in falls
        ]
        titles = list(rows[0])
        right = frozenset(titles.index(title) for title in titles if title in {"in", "below"})
        table = page.table([titles, *(list(row.values()) for row in rows)], right=right)
        if _has_room(page, table, [fall.title for fall in falls]):
            break
    lines.append(page.paint(table[0], "quiet"))
    lines += [_titled(page, line, fall.title) for line, fall in zip(table[1:], falls, strict=True)]
    if further := len(found.falls) - len(falls):
        lines.append(page.paint(f"… and {further:,} more: --limit {len(found.falls)}", "quiet"))
    return lines


def explained_lines(page: Page, told: DecayExplained) -> list[str]:
    """Show the formula of one score with its numbers, and the memory's future."""
    lines = [page.heading(safe_line(told.id), f"{told.store}, {told.on.isoformat()}")]
    if told.title:
        lines += page.wrapped(safe_line(told.title))
    lines.append("")
    score, last = told.score, on_day(page, told.last_accessed)
    if score is None:
        why = {
            "unmade": f"On this day it did not exist: it was made on {on_day(page, told.created)}.",
            "unrecorded": f"Nobody wrote down its score before its last access on {last}.",
        }
        lines += page.wrapped(why[told.status])
    elif score.terms["archived"]:
        lines.append("Somebody archived it: score 0, whatever the formula says.")
    elif told.status == "pinned":
        lines.append("It does not decay: score 1.")
    else:
        lines += _formula(page, score, last)
    if told.half_life is not None:
        lines += ["", f"Its score halves every {told.half_life:.1f} days."]
    for fall in told.falls:
        after = _status(page, fall.after)
        when = _days_from(told.on, fall.on)
        lines.append(f"{fall.on.isoformat()}  {when}  below {fall.threshold:g}: {after}")
    if told.half_life is not None and not told.falls:
        lines.append("It passes no threshold from now on.")
    return lines


def _days_from(day: date, other: date) -> str:
    days = (other - day).days
    return f"in {days:,} d" if days > 0 else f"{-days:,} d before" if days < 0 else "that day"


def _formula(page: Page, score: Score, last: str) -> list[str]:
    terms = score.terms
    uses = "use" if terms["accessCount"] == 1 else "uses"
    days = "day" if terms["days"] == 1 else "days"
    rows = [
        [" ", "base relevance", f"{terms['base']:.4f}", ""],
        [
            "×",
            "e^(−λ·days)",
            f"{terms['decay']:.4f}",
            f"λ {terms['lambda']:g}, {terms['days']} {days} since {last}",
        ],
        ["×", "log2(uses + 1)", f"{terms['reinforcement']:.4f}", f"{terms['accessCount']} {uses}"],
        ["×", "type weight", f"{terms['typeWeight']:.4f}", ""],
        ["=", "relevance", f"{score.raw:.4f}", ""],
    ]
    capped = " (at most 1)" if score.raw > 1 else ""
    return [
        *page.table(rows, right=frozenset({2})),
        f"Score {score.value:.4f}{capped}, {_status(page, score.status)}.",
    ]


def _status(page: Page, status: str) -> str:
    return page.paint(safe_line(status), status)


def _counted(entries: Sequence[DecayEntry]) -> str:
    counts = Counter(entry.status for entry in entries)
    return ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])


def _groups_of(entry: DecayEntry, grouped: str) -> Sequence[str]:
    if grouped == "store":
        return (entry.store,)
    return (entry.tags if grouped == "tag" else entry.entities) or ("",)


def _table_lines(
    page: Page, entries: list[DecayEntry], limit: int | None, heat: Heat | None = None
) -> tuple[list[str], bool]:
    """Return a table with the titles of its memories, and whether there was room for their strips."""
    further = len(entries[limit:]) if limit is not None else 0
    shown = entries[:limit]
    table, is_drawn = _table(page, shown, heat)
    lines = [page.paint(table[0], "quiet")]
    lines += [_titled(page, line, entry.title) for line, entry in zip(table[1:], shown, strict=True)]
    if further:
        lines.append(page.paint(f"… and {further:,} more: --limit {len(entries)}", "quiet"))
    return lines, is_drawn


def _titled(page: Page, line: str, title: str) -> str:
    """Append a memory's title to its line, as far as it fits."""
    room = page.width - display_width(line) - 2
    clipped = clip(safe_line(title), room) if room > BAR and title else ""
    return line + ("  " + page.paint(clipped, "quiet") if clipped else "")


def _strip(today: date, last: int) -> Window:
    """Return the cells from today to a future day."""
    days = max(1, math.ceil(last / (_CELLS - 1)))
    return Window(today, Scale(counted(days, "day"), days), 0, _CELLS)


def _heat(page: Page, course: Course, window: Window, entry: DecayEntry) -> str:
    """Draw a memory's scores over time, as the bench does."""
    return page.printed([heat_line(course(entry, window.days), window, entry.store)])[0]


def _legend(page: Page, window: Window) -> list[str]:
    told = f"The strip begins today, 1 cell = {window.scale.name}; its height is the score"
    return page.wrapped(f"{told}, {DROP} where that drops a level.", "quiet")


def _table(page: Page, entries: list[DecayEntry], heat: Heat | None) -> tuple[list[str], bool]:
    """Return the widest table that leaves room for the titles, and whether strips are part of it."""
    days = list(dict.fromkeys(day for entry in entries for day in entry.forecast or {}))
    left_out: set[str] = set()
    if not any(entry.would_be for entry in entries):
        left_out.add("would be")
    if not any(entry.status for entry in entries):
        left_out.add("status")
    # With a forecast, the strip matters more than any other column.
    for name in (None, *(reversed(DISPENSABLE) if heat else DISPENSABLE)):
        left_out |= {name} if name is not None else set()
        rows = [
            {title: cell for title, cell in _cells(page, entry, days, heat).items() if title not in left_out}
            for entry in entries
        ]
        titles = list(rows[0])
        right = {titles.index(title) for title in titles if title in {"score", "uses"} or title[0:1] == "+"}
        table = page.table([titles, *(list(row.values()) for row in rows)], right=frozenset(right))
        if _has_room(page, table, [entry.title for entry in entries]):
            break
    return table, heat is not None and "" not in left_out


def _has_room(page: Page, table: Sequence[str], titles: Sequence[str]) -> bool:
    """Return whether a table fits a page with nearly all titles after its rows."""
    sizes = [display_width(line) for line in table]
    titled = sorted(
        size + 2 + min(_TITLE, display_width(safe_line(title)))
        for size, title in zip(sizes[1:], titles, strict=True)
    )
    # A few ids as long as a sentence take nothing away from all others.
    most = titled[min(len(titled) - 1, len(titled) * 19 // 20)]
    return max(*sizes, most) <= page.width


def _fall_cells(page: Page, fall: Fall) -> dict[str, str]:
    return {
        "day": fall.on.isoformat(),
        "in": f"{fall.days} d",
        "status": f"{_status(page, fall.before)} → {_status(page, fall.after)}",
        "below": f"{fall.threshold:g}",
        "memory": page.paint(safe_line(fall.id), fall.store),
    }


def _cells(page: Page, entry: DecayEntry, days: list[str], heat: Heat | None) -> dict[str, str]:
    forecast = entry.forecast or {}
    return {
        "score": f"{entry.score:.2f}",
        "": heat(entry) if heat else page.paint(bar(entry.score, BAR), entry.store),
        "status": page.paint(entry.status, entry.status),
        "would be": page.paint(safe_line(entry.would_be or ""), "accent"),
        **{f"+{safe_line(day)} d": f"{forecast[day]:.2f}" if day in forecast else "–" for day in days},
        "uses": str(entry.access_count),
        "last used": on_day(page, entry.last_accessed),
        "memory": page.paint(safe_line(entry.id), entry.store),
    }

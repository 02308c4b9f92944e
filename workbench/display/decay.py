"""Text of decay: scores and forecasts, effects of another rate, upcoming falls, and explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.display.changes import at_minute, on_day
from workbench.display.text import Page, bar, clip, display_width, safe_line
from workbench.engine.results.decay import DecayEntry, ScorePoint

if TYPE_CHECKING:
    from datetime import date

    from workbench.engine.results.decay import DecayExplained, DecayView, Falls
    from workbench.engine.results.memories import Score

Course = Callable[[DecayEntry, Sequence[int]], Sequence[ScorePoint]]
Heat = Callable[[DecayEntry], str]

BAR = 8
# One step per day from now to the end of a forecast, drawn by status.
HEAT_STEPS = 13
HEAT = {"active": "█", "pinned": "█", "fading": "▓", "dormant": "▒", "archived": "░"}
STATUSES = ("active", "fading", "dormant", "archived", "pinned")
# Dropped in this order if the page is too narrow for every column.
DISPENSABLE = ("", "last used", "uses")


def decay_lines(
    page: Page,
    decay: DecayView,
    *,
    tried: bool = False,
    sort: str = "score",
    grouped: str | None = None,
    limit: int | None = None,
    course: Course | None = None,
) -> list[str]:
    """Show the table of scores.

    Args:
        tried: Whether another rate than the configured one was requested.
        sort: `score` lists the lowest first; anything else keeps the given order.
        grouped: One table per `store`, `tag` or `entity`, or None for a single table.
        limit: Maximum memories per table, and maximum tables; a last line counts the rest.
        course: Returns a memory's scores on given days; with a forecast each row has a strip of them.
    """
    aside = f"λ {decay.lambda_:g} a day, {at_minute(page, decay.now)}"
    lines = [page.heading("Decay", aside + (" (a trial)" if tried else ""))]
    if not decay.entries:
        return [*lines, "Nothing here has a score yet."]
    lines.append(f"{_counted(decay.entries)}.")
    entries = list(decay.entries)
    if sort == "score":
        entries.sort(key=lambda entry: (entry.status == "pinned", entry.score, entry.id))
    last = max((int(day) for day in entries[0].forecast or ()), default=0)
    heat = partial(_heat, page, course, last) if course and last else None
    if grouped is None:
        return [*lines, "", *_table_lines(page, entries, limit, heat), *_legend(page, heat, last)]
    groups: dict[str, list[DecayEntry]] = {}
    for entry in entries:
        for name in _groups_of(entry, grouped):
            groups.setdefault(name, []).append(entry)
    ordered = sorted(groups, key=lambda name: (-len(groups[name]), name))
    for name in ordered[:limit]:
        title = safe_line(name) or f"no {grouped}"
        lines += [
            "",
            page.heading(title, _counted(groups[name])),
            *_table_lines(page, groups[name], limit, heat),
        ]
    if further := len(ordered[limit:]) if limit is not None else 0:
        many = f"{len(ordered):,} {'entities' if grouped == 'entity' else f'{grouped}s'}"
        lines += ["", page.paint(f"… and {further:,} more of {many}: --limit {len(ordered)}", "quiet")]
    return [*lines, *_legend(page, heat, last)]


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
        lines += ["", f"{told}:", *_table_lines(page, changed, limit)]
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
    rows = [["day", "in", "status", "below", "memory"]]
    for fall in falls:
        change = f"{_status(page, fall.before)} → {_status(page, fall.after)}"
        identifier = page.paint(safe_line(fall.id), fall.store)
        rows.append([fall.on.isoformat(), f"{fall.days} d", change, f"{fall.threshold:g}", identifier])
    table = page.table(rows, right=frozenset({1, 3}))
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
) -> list[str]:
    further = len(entries[limit:]) if limit is not None else 0
    shown = entries[:limit]
    table = _table(page, shown, heat)
    lines = [page.paint(table[0], "quiet")]
    lines += [_titled(page, line, entry.title) for line, entry in zip(table[1:], shown, strict=True)]
    if further:
        lines.append(page.paint(f"… and {further:,} more: --limit {len(entries)}", "quiet"))
    return lines


def _titled(page: Page, line: str, title: str) -> str:
    """Append a memory's title to its line, as far as it fits."""
    room = page.width - display_width(line) - 2
    clipped = clip(safe_line(title), room) if room > BAR and title else ""
    return line + ("  " + page.paint(clipped, "quiet") if clipped else "")


def _heat(page: Page, course: Course, last: int, entry: DecayEntry) -> str:
    """Draw a memory's statuses from today to a future day."""
    days = [round(last * step / (HEAT_STEPS - 1)) for step in range(HEAT_STEPS)]
    return "".join(page.paint(HEAT[point.status], point.status) for point in course(entry, days))


def _legend(page: Page, heat: Heat | None, last: int) -> list[str]:
    marks = ", ".join(f"{mark} {status}" for status, mark in HEAT.items() if status != "pinned")
    return [page.paint(f"The strip: today to +{last} d, {marks}.", "quiet")] if heat else []


def _table(page: Page, entries: list[DecayEntry], heat: Heat | None) -> list[str]:
    days = list(dict.fromkeys(day for entry in entries for day in entry.forecast or {}))
    left_out: set[str] = set()
    if not any(entry.would_be for entry in entries):
        left_out.add("would be")
    if not any(entry.status for entry in entries):
        left_out.add("status")
    # With a forecast, the strip matters more than anything else.
    for name in (None, *(reversed(DISPENSABLE) if heat else DISPENSABLE)):
        left_out |= {name} if name is not None else set()
        rows = [
            {title: cell for title, cell in _cells(page, entry, days, heat).items() if title not in left_out}
            for entry in entries
        ]
        titles = list(rows[0])
        right = {titles.index(title) for title in titles if title in {"score", "uses"} or title[0:1] == "+"}
        table = page.table([titles, *(list(row.values()) for row in rows)], right=frozenset(right))
        if max(display_width(line) for line in table) <= page.width:
            break
    return table


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

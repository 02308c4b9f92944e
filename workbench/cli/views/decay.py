"""How decay is tabled: scores lowest first, with the scores to come beside them."""

from __future__ import annotations

from workbench.cli.printing import Page, bar, clip, display_width, safe_line
from workbench.cli.views.times import at_minute, on_day
from workbench.engine.results import DecayEntry, DecayView

BAR = 8
STATUSES = ("active", "fading", "dormant", "archived", "pinned")
# What gives way, in this order, where the page is too narrow for every column.
DISPENSABLE = ("", "last used", "uses")


def decay_lines(page: Page, decay: DecayView, *, tried: bool, limit: int | None = None) -> list[str]:
    """Draw the table of scores.

    Args:
        page: What is written on.
        decay: The scores.
        tried: Whether another rate than that of the settings was asked for.
        limit: Most memories in the table; the last line says how many there are besides.
    """
    aside = f"λ {decay.lambda_:g} a day, {at_minute(page, decay.now)}"
    lines = [page.heading("Decay", aside + (" (a trial)" if tried else ""))]
    if not decay.entries:
        return [*lines, "Nothing here has a score yet."]
    counts = [
        f"{sum(entry.status == status for entry in decay.entries)} {status}"
        for status in STATUSES
        if any(entry.status == status for entry in decay.entries)
    ]
    lines += [", ".join(counts) + ".", ""]
    entries = sorted(decay.entries, key=lambda entry: (entry.status == "pinned", entry.score, entry.id))
    further = len(entries[limit:]) if limit is not None else 0
    entries = entries[:limit]
    table = _table(page, entries)
    lines.append(page.paint(table[0], "quiet"))
    for line, entry in zip(table[1:], entries, strict=True):
        room = page.width - display_width(line) - 2
        title = clip(safe_line(entry.title), room) if room > BAR and entry.title else ""
        lines.append(line + ("  " + page.paint(title, "quiet") if title else ""))
    if further:
        lines.append(page.paint(f"… and {further:,} more: --limit {len(decay.entries)}", "quiet"))
    return lines


def _table(page: Page, entries: list[DecayEntry]) -> list[str]:
    days = list(dict.fromkeys(day for entry in entries for day in entry.forecast or {}))
    left_out: set[str] = set()
    if not any(entry.would_be for entry in entries):
        left_out.add("would be")
    for name in (None, *DISPENSABLE):
        left_out |= {name} if name is not None else set()
        rows = [
            {title: cell for title, cell in _cells(page, entry, days).items() if title not in left_out}
            for entry in entries
        ]
        titles = list(rows[0])
        right = {titles.index(title) for title in titles if title in {"score", "uses"} or title[0:1] == "+"}
        table = page.table([titles, *(list(row.values()) for row in rows)], right=frozenset(right))
        if max(display_width(line) for line in table) <= page.width:
            break
    return table


def _cells(page: Page, entry: DecayEntry, days: list[str]) -> dict[str, str]:
    """Return an entry's cells by the title of their column."""
    forecast = entry.forecast or {}
    return {
        "score": f"{entry.score:.2f}",
        "": page.paint(bar(entry.score, BAR), entry.store),
        "status": page.paint(entry.status, entry.status),
        "would be": page.paint(safe_line(entry.would_be or ""), "accent"),
        **{f"+{safe_line(day)} d": f"{forecast[day]:.2f}" if day in forecast else "–" for day in days},
        "uses": str(entry.access_count),
        "last used": on_day(page, entry.last_accessed),
        "memory": page.paint(safe_line(entry.id), entry.store),
    }

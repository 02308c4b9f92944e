"""Draws one search result in its file: the lines around it, those handed over marked, and what is known of it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from workbench.display.cells import fit, wrap
from workbench.display.ink import BLANK, Line, Span, gap, ink, wrap_line
from workbench.display.matching import lit
from workbench.tui.views.dates import day_name
from workbench.tui.views.explanation import summary_lines
from workbench.tui.views.hits import STATES, citation, head_of, store_look
from workbench.tui.views.memory import known_lines, section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.recall import Hit
    from workbench.tui.bench import Memory

# Lines of the file shown before and after those that were handed over, each of them in two rows at most.
BEFORE, AFTER = 2, 4
_ROWS_AROUND = 2
_WIDEST_TEXT = 96
# A line of a file that is longer is shown in part; characters.
_LONGEST_LINE = 2000


def hit_lines(
    hit: Hit,
    place: tuple[int, Sequence[str]] | None,
    memory: Memory | None,
    question: str,
    today: date,
    width: int,
) -> list[Line]:
    """Draw one result in its file, and what is known about the memory.

    Args:
        hit: The result.
        place: The number of the first line read of the file around it, and the lines; None while they are not there.
        memory: What is known about the memory, or None while it has not been read.
        question: Whose words are lit.
        today: In the workspace's zone.
        width: Cells.
    """
    lines = [*hit_head(hit, today, width), BLANK]
    if place is not None and place[1]:
        lines += context_lines(hit, place[0], place[1], question, width)
    else:
        for source in hit.snippet.splitlines():
            lines += wrap_line(lit(source, question), min(width, _WIDEST_TEXT)) if source.strip() else [BLANK]
    if hit.explanation is not None:
        lines += [*section("Why it stands here"), *summary_lines(hit, width)]
    if memory is not None:
        lines += known_lines(memory, width)
    return lines


def hit_head(hit: Hit, today: date, width: int) -> list[Line]:
    """Draw what a result is: its title, which leads to the memory, its place, and what is the matter with it."""
    sign, role = store_look(hit.store)
    told = date_words(hit.date, today)
    title = wrap(head_of(hit), max(8, min(width, _WIDEST_TEXT) - 2), limit=3)
    lines: list[Line] = [
        (Span(f"{sign} " if at == 0 else "  ", role), Span(piece, f"{role}+strong", hit.id))
        for at, piece in enumerate(title)
    ]
    facts = [
        told,
        "pinned" if hit.status == "pinned" else "",
        (hit.status or "") if hit.status in STATES else "",
    ]
    about = " · ".join(fact for fact in facts if fact)
    both = f"{about} · {citation(hit)}" if about else citation(hit)
    folder, slash, name = citation(hit).rpartition("/")
    apart = [citation(hit)] if len(citation(hit)) <= width - 2 else [folder + slash, name]
    for fact in [both] if len(both) <= width - 2 else [about, *apart]:
        lines += [(gap(2), Span(piece, "faint")) for piece in wrap(fact, max(8, width - 2)) if piece]
    if hit.retired:
        lines += [(gap(2), *line) for line in wrap_line(_no_longer_holds(hit, role), max(8, width - 2))]
    elif hit.outdated_by:
        since = f" since {hit.outdated_since}" if hit.outdated_since else ""
        by = ink(hit.outdated_by, f"{role}+link", link=hit.outdated_by)
        outdated = (ink(f"Outdated{since}; instead holds ", "strong"), by)
        lines += [(gap(2), *line) for line in wrap_line(outdated, max(8, width - 2))]
    for relation in hit.relations:
        other = relation.to if relation.from_ == hit.id else relation.from_
        words = wrap(relation.told(hit.id), max(8, width - 2), limit=1)
        lines += [(gap(2), Span(piece, "store.semantic+link", other)) for piece in words]
    return lines


def _no_longer_holds(hit: Hit, role: str) -> Line:
    """Say that a result no longer holds, until when it did, and what replaced it."""
    until = f" (until {hit.until})" if hit.until else ""
    if not hit.superseded_by:
        return (ink(f"No longer holds{until}", "strong"),)
    by = ink(hit.superseded_by, f"{role}+link", link=hit.superseded_by)
    return (ink(f"No longer holds{until}; superseded by ", "strong"), by)


def date_words(day: str | None, today: date) -> str:
    """Return a day as one reads it, or an empty string where there is none."""
    try:
        return day_name(date.fromisoformat((day or "")[:10]), today)
    except ValueError:
        return ""


def context_lines(hit: Hit, first: int, lines: Sequence[str], question: str, width: int) -> list[Line]:
    """Draw lines of a file with their numbers; those that were handed over stand out behind a bar.

    Args:
        hit: Tells which lines were handed over.
        first: Number of the first line.
        lines: The lines.
        question: Whose words are lit.
        width: Cells.
    """
    digits = len(str(first + len(lines)))
    room = max(8, min(width, _WIDEST_TEXT) - digits - 4)
    _, role = store_look(hit.store)
    drawn: list[Line] = []
    for number, source in enumerate(lines, first):
        within = hit.start_line <= number <= hit.end_line
        if len(source) > _LONGEST_LINE:
            source = _piece_of_long_line(source, hit.snippet if within else "")
        pieces = (
            wrap_line(lit(source, question), room)
            if within
            else [(Span(piece, "faint"),) for piece in wrap(source, room, limit=_ROWS_AROUND)]
        )
        bar = Span("▌ " if within else "  ", role)
        for at, piece in enumerate(pieces):
            figure = Span(
                fit(str(number) if at == 0 else "", digits, right=True), "soft" if within else "faint"
            )
            drawn.append((bar, figure, gap(2), *piece))
    return drawn


def _piece_of_long_line(source: str, snippet: str) -> str:
    """Return what is shown of a very long line: what was handed over of it, or its beginning."""
    piece = max(snippet.splitlines(), key=len, default="").strip("…")
    if piece and (at := source.find(piece)) >= 0:
        return "…" * (at > 0) + piece + "…" * (at + len(piece) < len(source))
    return source[:_LONGEST_LINE] + "…"

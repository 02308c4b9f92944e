"""Draws where something comes from: a stretch of a transcript or file, with the lines in question marked."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.display.cells import cell_width, wrap
from workbench.display.ink import BLANK, Line, Span, column, gap, ink

_WHO = 9
_MEASURE = 88


@dataclass(frozen=True)
class SourceLine:
    """One line of a source.

    Args:
        number: In the file, from 1.
        text: What it says.
        who: The speaker; empty in a file.
    """

    number: int
    text: str
    who: str = ""


@dataclass(frozen=True)
class Evidence:
    """A stretch of a source.

    Args:
        title: What it is: session or file, day, lines.
        lines: In order.
        first: Number of the first marked line.
        last: Number of the last one.
        link: What the whole source opens as: the citation of a session's line, or the id of a memory.
        more: Ids of further sources of the same memory.
    """

    title: str
    lines: tuple[SourceLine, ...]
    first: int
    last: int
    link: str = ""
    more: tuple[str, ...] = ()


def evidence_lines(evidence: Evidence, width: int) -> list[Line]:
    """Draw a source, the marked lines bright behind a bar."""
    drawn: list[Line] = [(ink(evidence.title, "soft", width),), BLANK]
    digits = len(str(max((line.number for line in evidence.lines), default=1)))
    names = max((min(_WHO, cell_width(line.who)) for line in evidence.lines), default=0)
    before = 2 + digits + 2 + (names + 2 if names else 0)
    room = max(8, min(width - before, _MEASURE))
    for line in evidence.lines:
        marked = evidence.first <= line.number <= evidence.last
        role = "strong" if marked else "soft"
        head: Line = (
            Span("▌ " if marked else "  ", "decide"),
            column(str(line.number), digits, "faint", right=True),
            gap(2),
            *((column(line.who, names, "soft+strong" if marked else "soft"), gap(2)) if names else ()),
        )
        parts = [part for paragraph in line.text.splitlines() or [""] for part in wrap(paragraph, room)]
        for at, part in enumerate(parts):
            drawn.append((*(head if not at else (head[0], gap(before - 2))), Span(part, role)))
    if evidence.more:
        drawn += [BLANK, (Span("ALSO SAID IN", "soft+strong"),)]
        drawn += [(ink(each, "text+link", width, each),) for each in evidence.more]
    return drawn


def marked_at(lines: list[Line]) -> int:
    """Return the drawn line at which the marked stretch begins; 0 where nothing is marked."""
    return next((at for at, line in enumerate(lines) if line and line[0].text == "▌ "), 0)

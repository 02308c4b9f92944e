"""Draws where something comes from: a stretch of a transcript or file, with the lines in question marked."""

from __future__ import annotations

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, gap, ink
from workbench.display.transcript import Stretch, stretch_lines
from workbench.engine.values import dataclass

_MEASURE = 88


@dataclass(frozen=True)
class SourceLine:
    """One line of a source.

    Args:
        number: In the file, from 1.
        text: What it says.
    """

    number: int
    text: str


@dataclass(frozen=True)
class Evidence:
    """A stretch of a source.

    Args:
        title: What it is: session or file, day, lines.
        lines: In order.
        first: Number of the first marked line.
        last: Number of the last one.
        link: What the whole source opens as: the citation of a session's line, or the id of a memory.
        more: Further sources of the same memory: the id of each, and what it is called.
        said: What is drawn of a session instead of the lines.
    """

    title: str
    lines: tuple[SourceLine, ...]
    first: int
    last: int
    link: str = ""
    more: tuple[tuple[str, str], ...] = ()
    said: Stretch | None = None


def evidence_lines(evidence: Evidence, width: int) -> list[Line]:
    """Draw a source, the marked lines bright behind a bar."""
    drawn: list[Line] = [(ink(evidence.title, "soft", width),), BLANK]
    if evidence.said is not None:
        drawn += stretch_lines(evidence.said, width, (evidence.first, evidence.last))
    else:
        drawn += _file_lines(evidence, width)
    if evidence.more:
        drawn += [BLANK, (Span("ALSO SAID IN", "soft+strong"),)]
        drawn += [(ink(title, "text+link", width, id_),) for id_, title in evidence.more]
    return drawn


def _file_lines(evidence: Evidence, width: int) -> list[Line]:
    drawn: list[Line] = []
    digits = len(str(max((line.number for line in evidence.lines), default=1)))
    before = 2 + digits + 2
    room = max(8, min(width - before, _MEASURE))
    for line in evidence.lines:
        marked = evidence.first <= line.number <= evidence.last
        bar = Span("▌ " if marked else "  ", "decide")
        head: Line = (bar, column(str(line.number), digits, "faint", right=True), gap(2))
        parts = [part for paragraph in line.text.splitlines() or [""] for part in wrap(paragraph, room)]
        for at, part in enumerate(parts):
            role = "strong" if marked else "soft"
            drawn.append((*(head if not at else (bar, gap(before - 2))), Span(part, role)))
    return drawn


def marked_at(lines: list[Line]) -> int:
    """Return the drawn line at which the marked stretch begins; 0 where nothing is marked."""
    return next((at for at, line in enumerate(lines) if line and line[0].text == "▌ "), 0)

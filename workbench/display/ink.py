"""Owns what a line on the screen is made of: spans of safe text that name their meaning, never their colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import NEVER_FIRST, cell_width, fit, plain
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text with one meaning.

    Args:
        text: Safe text (see `text.plain`).
        role: What it means, for example `text`, `faint`, `store.core`; the palette gives it a look.
        link: Id of the memory, commit or file that it leads to, or an empty string.
    """

    text: str
    role: str = "text"
    link: str = ""


Line = tuple[Span, ...]
BLANK: Line = ()
PRESS_LINK = "press:"
"""Begins a link that presses keys, which follow as they are written for people."""


class SpreadLine(tuple[Span, ...]):
    """A line cut for what stands at its right edge, which still knows the whole of it, and the room that there was."""

    whole: Line
    right: Line
    room: int


SCORE_STEPS = 5
TEXT_FIRST = 28
"""Cells that a text has before a remark beside it gets one."""


def score_role(score: float | None) -> str:
    """Return the role whose brightness stands for a score from 0 to 1; None, no score, is full ink."""
    if score is None:
        return "text"
    return f"score.{min(SCORE_STEPS - 1, max(0, int(score * SCORE_STEPS)))}"


def ink(text: str, role: str = "text", width: int | None = None, link: str = "") -> Span:
    """Return a span of any text, made safe and cut to `width` cells where that is given."""
    return Span(plain(text, width), role, link)


def column(text: str, width: int, role: str = "text", *, right: bool = False) -> Span:
    """Return a span of exactly `width` cells, so that what stands in rows below one another lines up."""
    return Span(fit(text, width, right=right), role)


def gap(width: int, role: str = "text") -> Span:
    """Return that many spaces."""
    return Span(" " * max(0, width), role)


def line_width(line: Line) -> int:
    """Return how many cells a line takes."""
    return sum(cell_width(span.text) for span in line)


def link_at(line: Line, cell: int) -> str:
    """Return where the part of a line leads that covers a cell, counted from 0; empty where it leads nowhere."""
    right = 0
    for span in line:
        right += cell_width(span.text)
        if cell < right:
            return span.link if cell >= 0 else ""
    return ""


def links_in(line: Line) -> list[tuple[int, str]]:
    """Return the cell in which each link of a line begins, and where it leads; those that press keys are left out."""
    found: dict[str, int] = {}
    at = 0
    for span in line:
        if span.link and not span.link.startswith(PRESS_LINK):
            found.setdefault(span.link, at)
        at += cell_width(span.text)
    return [(cell, link) for link, cell in found.items()]


def spread(left: Line, right: Line, width: int, whole: Line = BLANK) -> SpreadLine:
    """Put one line at the left and one at the right edge; the left one is cut where they would meet.

    Args:
        right: What is always whole, as far as `width` allows.
        whole: What the left one is a part of; see `broken`.
    """
    room = width - line_width(right)
    if right:
        room -= 2
    shown = cut(left, room)
    line = SpreadLine((*shown, gap(width - line_width(shown) - line_width(right)), *right))
    line.whole, line.right, line.room = whole or left, right, room
    return line


def _lead(line: SpreadLine) -> int:
    """Return how many spans lead a line: a sign with the space behind it, or none."""
    return next((at + 1 for at, span in enumerate(line.whole[:2]) if span.text.endswith(" ")), 0)


def is_cut(line: Line) -> TypeGuard[SpreadLine]:
    """Return whether a line was cut, and has room enough to be broken instead."""
    if not isinstance(line, SpreadLine) or line_width(line.whole) <= line.room:
        return False
    return line.room - line_width(line.whole[: _lead(line)]) >= TEXT_FIRST // 2


def broken(line: Line, most: int) -> list[Line]:
    """Draw a line that was cut as it would be with more room: on up to `most` lines, below the sign that leads it."""
    if most < 2 or not is_cut(line):
        return [line]
    lead, width = _lead(line), line_width(line)
    room = line.room - line_width(line.whole[:lead])
    begin = wrap_line(line.whole[lead:], room)[0]
    # Without a sign, what goes on stands in as well, so that one sees where the next row begins.
    indent = line_width(line.whole[:lead]) or 2
    first = spread((*line.whole[:lead], *begin), line.right, width)
    # What stands at the right leaves the lines below to the text.
    parts = wrap_line(_from(line.whole[lead:], len(plain_text(begin))), width - indent)
    if len(parts) >= most:
        parts[most - 2 :] = [cut((*parts[most - 2], Span("…")), width - indent)]
    return [first, *((gap(indent), *part) for part in parts)]


def _from(line: Line, letters: int) -> Line:
    """Return what stands behind so many letters of a line."""
    kept: list[Span] = []
    for span in line:
        text = span.text[letters:]
        letters = max(0, letters - len(span.text))
        if said := text if kept else text.lstrip():
            kept.append(Span(said, span.role, span.link))
    return tuple(kept)


def at_right(text: int, state: str, beside: str, width: int, *, role: str = "soft") -> Line:
    """Return what stands at the right edge of a text: how it stands always, all else where the text keeps its room.

    Args:
        text: Cells of the text, which needs `TEXT_FIRST` of them, or all it has.
        state: Such as “outdated”.
        beside: A remark or a day.
        role: Of the remark.
    """
    marked: Line = (ink(state, "soft"),) if state else ()
    remark: Line = (ink(beside, role),) if beside else ()
    whole = (*marked, gap(2), *remark) if marked and remark else (*marked, *remark)
    return whole if width - line_width(whole) - 2 >= min(TEXT_FIRST, text) else marked


def cut(line: Line, width: int) -> Line:
    """Return a line that takes at most `width` cells, ending in “…” where something is missing."""
    if width <= 0:
        return BLANK
    if line_width(line) <= width:
        return line
    kept: list[Span] = []
    room = width
    for span in line:
        size = cell_width(span.text)
        if size < room:
            kept.append(span)
            room -= size
            continue
        # Something follows or this span is too long: the cut must show.
        kept.append(Span(plain(span.text + " " * (room + 1), room), span.role, span.link))
        break
    return tuple(kept)


def plain_text(line: Line) -> str:
    """Return a line's text without its meaning."""
    return "".join(span.text for span in line)


def wrap_line(line: Line, width: int) -> list[Line]:
    """Break a line into lines of at most `width` cells, at spaces or wide characters; spans keep their meaning.

    Args:
        width: Cells, at least 1.

    Returns:
        At least one line.
    """
    width = max(2, width)
    if line_width(line) <= width:
        return [line]
    lines: list[Line] = []
    row: list[tuple[str, Span]] = []
    used = 0
    break_at = 0
    after_wide = False
    for span in line:
        for character in span.text:
            size = cell_width(character)
            if (size == 2 or after_wide) and character not in NEVER_FIRST:
                break_at = len(row)
            after_wide = size == 2
            if used + size > width and character == " ":
                # The break stands for it.
                lines.append(_regrouped(row))
                row, used, break_at = [], 0, 0
                continue
            while used + size > width and row:
                split = break_at or len(row)
                if character in NEVER_FIRST and split == len(row) > 1:
                    split -= 1
                lines.append(_regrouped(row[:split]))
                row = row[split:]
                used = sum(cell_width(each) for each, _ in row)
                break_at = 0
            row.append((character, span))
            used += size
            if character == " ":
                break_at = len(row)
    return [*lines, _regrouped(row)]


def hanging(lead: Line, text: Line, width: int) -> list[Line]:
    """Draw a text behind what leads it, broken where it is too long, each line below the first."""
    indent = line_width(lead)
    parts = wrap_line(text, max(8, width - indent))
    return [(gap(indent), *part) if at else (*lead, *part) for at, part in enumerate(parts)]


def _regrouped(row: list[tuple[str, Span]]) -> Line:
    """Join characters that belong to the same span again."""
    spans: list[Span] = []
    owner: Span | None = None
    for character, span in row:
        if span is owner:
            last = spans[-1]
            spans[-1] = Span(last.text + character, last.role, last.link)
        else:
            spans.append(Span(character, span.role, span.link))
            owner = span
    return tuple(spans)

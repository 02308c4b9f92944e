"""Compares two texts for reading: lines paired first, then the very words that differ in each pair; and draws it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from workbench.display.cells import plain
from workbench.display.ink import (
    BLANK,
    Line,
    Span,
    gap,
    line_width,
    wrap_line,
)
from workbench.engine.history.differences import line_opcodes
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONTEXT_LINES = 3
# Blocks of more line pairs than this are paired in order instead of by likeness.
_MOST_PAIRS = 900
# Two lines less alike than this are one removed and one added, not one changed.
_ALIKE = 0.35
# Words are compared only inside lines of at most this many characters.
_LONGEST_LINE = 2000
_WORD = lazy_pattern(r"[^\W_]+|\s+|.", re.DOTALL)
_WIDE = lazy_pattern(r"([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text within a line, and whether it differs from the other side."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row of a difference.

    Args:
        kind: `same`, `changed` (a pair), `removed`, `added`, or `gap` (unchanged lines left out).
        before: Pieces of the line before, empty where there is none.
        after: Pieces of the line after, likewise.
        before_number: Its number from 1, or 0; for a gap the number of lines left out.
        after_number: Its number from 1, or 0.
    """

    kind: str
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    before_number: int = 0
    after_number: int = 0


def compare(before: str | None, after: str | None, context: int = CONTEXT_LINES) -> tuple[DiffRow, ...]:
    """Compare two versions of a text.

    Args:
        before: The older one, or None where there was none.
        after: The newer one, or None where it is gone.
        context: Unchanged lines kept around each change.

    Returns:
        Rows in order; empty where the two are equal.
    """
    if before == after:
        return ()
    old = (before or "").splitlines()
    new = (after or "").splitlines()
    rows: list[DiffRow] = []
    for kind, old_from, old_to, new_from, new_to in line_opcodes(old, new, autojunk=True):
        if kind == "equal":
            rows.extend(
                DiffRow(
                    "same",
                    (Piece(old[at], False),),
                    (Piece(old[at], False),),
                    at + 1,
                    at - old_from + new_from + 1,
                )
                for at in range(old_from, old_to)
            )
        else:
            rows.extend(_replaced(old, new, (old_from, old_to), (new_from, new_to)))
    return _fold(rows, context)


def _replaced(
    old: list[str], new: list[str], old_span: tuple[int, int], new_span: tuple[int, int]
) -> list[DiffRow]:
    """Return the rows of a block that differs: pairs of like lines, and between them lines that went or came."""
    rows: list[DiffRow] = []
    old_at, new_at = old_span[0], new_span[0]
    for old_pair, new_pair in [*_pairs(old, new, old_span, new_span), (old_span[1], new_span[1])]:
        rows.extend(
            DiffRow("removed", (Piece(old[at], False),), (), at + 1) for at in range(old_at, old_pair)
        )
        rows.extend(
            DiffRow("added", (), (Piece(new[at], False),), 0, at + 1) for at in range(new_at, new_pair)
        )
        if old_pair < old_span[1] and new_pair < new_span[1]:
            left, right = compare_words(old[old_pair], new[new_pair])
            rows.append(DiffRow("changed", left, right, old_pair + 1, new_pair + 1))
        old_at, new_at = old_pair + 1, new_pair + 1
    return rows


def _pairs(
    old: list[str], new: list[str], old_span: tuple[int, int], new_span: tuple[int, int]
) -> list[tuple[int, int]]:
    """Pair like lines of a block, in order, by the greatest likeness altogether."""
    rows, columns = old_span[1] - old_span[0], new_span[1] - new_span[0]
    if not rows or not columns:
        return []
    if rows * columns > _MOST_PAIRS:
        return [(old_span[0] + at, new_span[0] + at) for at in range(min(rows, columns))]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    alike = [
        [_likeness(old[old_span[0] + i], new[new_span[0] + j]) for j in range(columns)] for i in range(rows)
    ]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= _ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if alike[i][j] >= _ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((old_span[0] + i, new_span[0] + j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(old: str, new: str) -> float:
    if not old.strip() or not new.strip():
        return 0.0
    matcher = SequenceMatcher(None, old[:200], new[:200], autojunk=False)
    return (
        matcher.ratio() if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE else 0.0
    )


def compare_words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Compare two lines by words, and wide scripts by characters; returns the pieces of each."""
    if len(old) > _LONGEST_LINE or len(new) > _LONGEST_LINE:
        return (Piece(old, True),), (Piece(new, True),)
    old_words, new_words = _words(old), _words(new)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a, b, c, d in SequenceMatcher(None, old_words, new_words, autojunk=False).get_opcodes():
        _add(left, "".join(old_words[a:b]), kind != "equal")
        _add(right, "".join(new_words[c:d]), kind != "equal")
    return _joined(left), _joined(right)


def _words(line: str) -> list[str]:
    return [part for word in _WORD.findall(line) for part in _WIDE.split(word) if part]


def _add(pieces: list[Piece], text: str, changed: bool) -> None:
    if text:
        pieces.append(Piece(text, changed))


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join changes that only a space holds apart: three changed words in a row read as one change."""
    joined: list[Piece] = []
    for at, piece in enumerate(pieces):
        bridge = not piece.changed and piece.text == " " and 0 < at < len(pieces) - 1
        changed = piece.changed or bridge
        if joined and joined[-1].changed == changed:
            joined[-1] = Piece(joined[-1].text + piece.text, changed)
        else:
            joined.append(Piece(piece.text, changed))
    return tuple(joined)


def _fold(rows: list[DiffRow], context: int) -> tuple[DiffRow, ...]:
    """Leave out unchanged rows further than `context` from any change."""
    near = [False] * len(rows)
    for at, row in enumerate(rows):
        if row.kind != "same":
            for close in range(max(0, at - context), min(len(rows), at + context + 1)):
                near[close] = True
    folded: list[DiffRow] = []
    left_out = 0
    for row, kept in zip(rows, near, strict=True):
        if kept and left_out:
            folded.append(DiffRow("gap", before_number=left_out))
            left_out = 0
        if kept:
            folded.append(row)
        else:
            left_out += 1
    if left_out and folded:
        folded.append(DiffRow("gap", before_number=left_out))
    return tuple(folded)


SPLIT_FROM = 110
_NUMBER = 5
_SIGNS = {"removed": "−", "added": "+", "same": " "}
# A longer line is cut: the file itself has the rest, and nobody reads it here.
_LONGEST = 4000


def diff_lines(rows: Sequence[DiffRow], width: int, *, numbers: bool = True) -> list[Line]:
    """Draw a difference, side by side where there is room and there are two sides.

    Args:
        rows: From `diffing.compare`.
        numbers: Whether each line has its number: of a file, not of a memory.
    """
    lead = _NUMBER if numbers else 0
    both = any(row.before_number and row.after_number for row in rows)
    return list((_split if width >= SPLIT_FROM and both else _unified)(rows, width, lead))


def _unified(rows: Sequence[DiffRow], width: int, lead: int) -> Iterable[Line]:
    for row in rows:
        if row.kind == "gap":
            yield _gap_line(row, width, lead)
        elif row.kind == "same":
            yield from _side(row.after, row.after_number, "same", width, lead)
        else:
            if row.before_number:
                yield from _side(row.before, row.before_number, "removed", width, lead)
            if row.after_number:
                yield from _side(row.after, row.after_number, "added", width, lead)


def _split(rows: Sequence[DiffRow], width: int, lead: int) -> Iterable[Line]:
    half = (width - 1) // 2
    for row in rows:
        if row.kind == "gap":
            yield _gap_line(row, width, lead)
            continue
        same = row.kind == "same"
        left = list(_side(row.before, row.before_number, "same" if same else "removed", half, lead))
        right = list(_side(row.after, row.after_number, "same" if same else "added", half, lead))
        for at in range(max(len(left), len(right))):
            yield (
                *(left[at] if at < len(left) else (gap(half),)),
                gap(1),
                *(right[at] if at < len(right) else ()),
            )


def _gap_line(row: DiffRow, width: int, lead: int) -> Line:
    count = row.before_number
    text = f"{'⋮':>{max(0, lead - 1)}}  {count} unchanged line{'s' * (count != 1)}"
    return (Span(plain(text, width), "faint"),)


def _side(pieces: tuple[Piece, ...], number: int, kind: str, width: int, lead: int) -> list[Line]:
    """Draw one version of one line, wrapped, its background reaching to the edge."""
    if not number:
        return []
    role = "soft" if kind == "same" else kind
    text = tuple(
        Span(plain(piece.text[:_LONGEST]), f"{role}.word" if piece.changed else role)
        for piece in pieces
        if piece.text
    )
    lines: list[Line] = []
    for at, line in enumerate(wrap_line(text, max(8, width - lead - 2)) if text else [BLANK]):
        shown = f"{number:>{lead - 1}} " if at == 0 and lead else " " * lead
        sign = _SIGNS[kind] if at == 0 else " "
        body = (Span(shown, "faint"), Span(sign + " ", role), *line)
        lines.append((*body, gap(width - line_width(body), role)))
    return lines

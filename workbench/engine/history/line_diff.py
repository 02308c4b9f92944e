"""Compares two texts line by line, and inside changed lines character by character, as rows to be shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LINE_END = re.compile(r"\r\n|\n|\r")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Two lines less alike than this share words by chance; marking those would only be noise.
_RELATED = 0.4
_MARKED_CHARACTERS = 2000

Opcode = tuple[str, int, int, int, int]
Span = tuple[int, int]


@dataclass(frozen=True)
class DiffRow:
    """One row of a difference.

    Args:
        kind: `same`, `removed`, `added`, or `gap` for unchanged lines left out.
        old: The line's number (from 1) in the older text, None where it is not there; for a gap the first.
        new: Likewise in the newer text.
        text: The line without its end; for a gap empty.
        spans: Character ranges of the text that differ from the line it replaces or was replaced by.
        count: How many lines the row stands for; more than one only for a gap.
    """

    kind: str
    old: int | None
    new: int | None
    text: str
    spans: tuple[Span, ...] = ()
    count: int = 1


def diff_rows(before: str | None, after: str | None, *, context: int | None = 3) -> tuple[DiffRow, ...]:
    """Return how two texts differ.

    Args:
        before: The older text; None where there was no file.
        after: The newer text; None where there is no file.
        context: Unchanged lines shown around each change; None shows all.
    """
    old, new = split_lines(before or ""), split_lines(after or "")
    rows: list[DiffRow] = []
    opcodes = line_opcodes(old, new)
    if context is not None and all(kind == "equal" for kind, *_ in opcodes):
        return ()
    for position, (kind, i1, i2, j1, j2) in enumerate(opcodes):
        if kind != "equal":
            rows.extend(_changed_rows(old[i1:i2], new[j1:j2], i1, j1))
            continue
        same = [DiffRow("same", i1 + n + 1, j1 + n + 1, old[i1 + n]) for n in range(i2 - i1)]
        head = 0 if position == 0 else context
        tail = 0 if position == len(opcodes) - 1 else context
        if head is None or tail is None or len(same) <= head + tail + 1:
            rows.extend(same)
            continue
        rows.extend(same[:head])
        hidden = len(same) - head - tail
        rows.append(DiffRow("gap", i1 + head + 1, j1 + head + 1, "", count=hidden))
        rows.extend(same[len(same) - tail :])
    return tuple(rows)


def split_lines(text: str) -> list[str]:
    """Split a text into lines without their ends; only LF, CRLF and CR end a line."""
    lines = _LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def line_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return opcodes as `difflib` gives them, found faster where the texts begin or end alike."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    if inner_old and inner_new:
        matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=False)
        opcodes += [(k, a + head, b + head, c + head, d + head) for k, a, b, c, d in matcher.get_opcodes()]
    elif inner_old or inner_new:
        kind = "delete" if inner_old else "insert"
        opcodes.append((kind, head, head + len(inner_old), head, head + len(inner_new)))
    if tail:
        opcodes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return opcodes


def changed_spans(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the ranges of characters in which two lines differ; none where they have little alike.

    Returns:
        Ranges in the older line, and ranges in the newer.
    """
    if max(len(old), len(new)) > _MARKED_CHARACTERS:
        return (), ()
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    if matcher.ratio() < _RELATED:
        return (), ()
    old_at, new_at = _offsets(old_words), _offsets(new_words)
    opcodes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        tuple((old_at[i1], old_at[i2]) for _, i1, i2, _, _ in opcodes if i2 > i1),
        tuple((new_at[j1], new_at[j2]) for _, _, _, j1, j2 in opcodes if j2 > j1),
    )


def _changed_rows(old: list[str], new: list[str], old_start: int, new_start: int) -> Iterator[DiffRow]:
    marks = [changed_spans(one, other) for one, other in zip(old, new, strict=False)]
    for n, line in enumerate(old):
        yield DiffRow("removed", old_start + n + 1, None, line, marks[n][0] if n < len(marks) else ())
    for n, line in enumerate(new):
        yield DiffRow("added", None, new_start + n + 1, line, marks[n][1] if n < len(marks) else ())


def _offsets(words: list[str]) -> list[int]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return offsets

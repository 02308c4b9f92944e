"""Draws what applying decisions would write, file by file, and afterwards what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.diff import changed_counts, diff_lines
from workbench.display.diffing import compare
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, spread
from workbench.engine import layout
from workbench.tui.views.memory import section
from workbench.tui.views.review_item import core_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.display.diffing import DiffRow
    from workbench.engine.results.reviews import Applied, ReviewPreview

Diffs = tuple[tuple[str, tuple["DiffRow", ...]], ...]
_LABEL = 12
_MOST_ROWS = 400


def diffs_of(preview: ReviewPreview) -> Diffs:
    """Compare every file that applying would write; takes its time with large ones.

    What memory will say comes before the books that are kept of it.
    """
    files = sorted(preview.files, key=lambda file: file.path in layout.BOOKS)
    return tuple((file.path, compare(file.before, file.after)) for file in files)


def preview_lines(preview: ReviewPreview, diffs: Diffs, width: int) -> list[Line]:
    """Draw what applying would do: the numbers first, then what waits and why, then every file word by word."""
    lines: list[Line] = [(Span("What will be written", "strong"),), BLANK]
    rows = (
        (len(preview.applied), "applied", "in one commit, which u undoes"),
        (len(preview.rejected), "rejected", "remembered, so that they do not come back without new evidence"),
        (len(preview.deferred), "deferred", "come again with the next reflection"),
        (len(preview.undecided), "undecided", "stay here for later"),
    )
    lines += [line for count, word, what in rows if count for line in _row(count, word, what, width)]
    if not preview.applied and not preview.rejected and not preview.deferred:
        lines += _wrapped("Nothing is decided yet, so there is nothing to write.", "soft", width)
    lines += _waiting(preview.waiting, width)
    if preview.core_tokens.before != preview.core_tokens.after:
        lines += [*section("Core memory"), *core_lines(preview.core_tokens, width)]
    for path, rows_of_file in diffs:
        came, went = changed_counts(rows_of_file)
        head = spread((ink(path, "strong"),), (Span(f"+{came} −{went}", "soft"),), width)
        lines += [BLANK, head, *diff_lines(rows_of_file[:_MOST_ROWS], width)]
        if len(rows_of_file) > _MOST_ROWS:
            lines.append((Span(f"and {len(rows_of_file) - _MOST_ROWS:,} more lines", "faint"),))
    return lines


def applied_lines(applied: Applied, width: int) -> list[Line]:
    """Draw what applying did, with its commit."""
    if applied.commit is None:
        return [(Span("Nothing changed.", "strong"),), *_waiting(applied.waiting, width)]
    lines: list[Line] = [
        cut((Span("✓ Written", "strong"), gap(2), ink(applied.reflection, "soft")), width),
        cut(
            (
                Span("commit ", "soft"),
                ink(applied.commit[:10], "store.file+link", link=f"commit:{applied.commit}"),
                Span("   u", "strong"),
                Span(" undoes all of it", "soft"),
            ),
            width,
        ),
        BLANK,
    ]
    rows: Sequence[tuple[tuple[str, ...], str]] = (
        (applied.applied, "applied"),
        (applied.rejected, "rejected"),
        (applied.deferred, "deferred"),
        (applied.undecided, "undecided"),
    )
    for ids, word in rows:
        if ids:
            lines += _row(len(ids), word, ", ".join(ids), width)
    for warning in applied.warnings:
        lines += [BLANK, *_wrapped(f"! {warning}", "decide", width)]
    lines += _waiting(applied.waiting, width)
    if applied.files:
        lines += section("Files")
        lines += [
            cut((ink(path, "store.file+link", link=f"history:{path}"),), width) for path in applied.files
        ]
    return lines


def _row(count: int, word: str, what: str, width: int) -> list[Line]:
    pieces = wrap(what, max(8, width - _LABEL - 6), limit=4)
    return [
        cut(
            (
                column(f"{count:,}" if at == 0 else "", 5, "strong", right=True),
                gap(1),
                column(word if at == 0 else "", _LABEL, "text"),
                Span(piece, "soft"),
            ),
            width,
        )
        for at, piece in enumerate(pieces)
    ]


def _waiting(waiting: Mapping[str, str], width: int) -> list[Line]:
    """Draw the approved items that cannot be applied now, with the reason of each."""
    if not waiting:
        return []
    lines = section("Approved, and waiting")
    for item_id, reason in waiting.items():
        for at, piece in enumerate(wrap(reason, max(8, width - _LABEL), limit=4)):
            lines.append((column(item_id if at == 0 else "", _LABEL, "decide"), Span(piece)))
    return lines


def _wrapped(text: str, role: str, width: int) -> list[Line]:
    return [(Span(piece, role),) for piece in wrap(text, width)]


def keys_line(keys: Sequence[tuple[str, str]], width: int) -> Line:
    """Draw the keys of the screen."""
    spans: list[Span] = []
    for key, word in keys:
        spans += [Span(key, "strong"), Span(f" {word}", "soft"), gap(3)]
    return cut(tuple(spans[:-1]), width)

"""Draws the search index: what it holds, how fresh it is, what makes its vectors, and how far a rebuild is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, spread
from workbench.tui.views.dates import full_time, how_long_ago

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.recall import IndexStatus
    from workbench.tui.index_work import IndexWork

FULL, REST = "━", "─"
_LABEL = 11
_PROVIDERS = {
    "builtin": "built in: a table of word pieces; no model, no network",
    "local": "a local model, through llama.cpp",
    "openai": "a server that speaks OpenAI’s language",
    "gemini": "Gemini",
    "none": "none: words, links and dates alone are searched",
}
_BACK_ENDS = {"builtin": "our own, SQLite", "qmd": "QMD"}


def freshness(status: IndexStatus) -> str:
    """Say in a few words whether search knows everything; “up to date” where it does."""
    if status.rebuilding is not None:
        return f"being rebuilt, {status.rebuilding:.0%}"
    if status.last_sync is None:
        return "not built yet"
    if status.pending:
        return f"{status.pending:,} still to be read"
    return "files have changed" if status.dirty else "up to date"


def size_words(size: int) -> str:
    """Return a size on disk as people read it."""
    if size >= 1_000_000_000:
        return f"{size / 1e9:,.1f} GB"
    return f"{size / 1e6:,.1f} MB" if size >= 1_000_000 else f"{size / 1e3:,.0f} kB"


def index_lines(
    status: IndexStatus | None, work: IndexWork, problem: str, now: datetime, width: int
) -> list[Line]:
    """Draw the panel.

    Args:
        status: None while it has not been read.
        work: What is done to the index from here.
        problem: Why it could not be read, or empty.
        now: In the workspace's zone.
        width: Cells.
    """
    if status is None:
        head: Line = (Span("Search index", "strong"),)
        return [head, BLANK, *_paragraph(problem or "reading…", "danger" if problem else "faint", width)]
    state = "working" if work.running else freshness(status)
    role = "soft" if state == "up to date" else "strong"
    lines: list[Line] = [cut(spread((Span("Search index", "strong"),), (Span(state, role),), width), width)]
    lines += [BLANK, *_work_lines(work, status, width)]
    lines += [BLANK, *_figures(status, width), BLANK]
    model = status.model or "–"
    if status.dimensions:
        model += f", {status.dimensions} dimensions"
    facts = [
        ("Vectors", _PROVIDERS.get(status.provider, status.provider)),
        ("Model", model if status.provider != "none" else ""),
        ("Back end", "" if status.backend == "builtin" else _BACK_ENDS.get(status.backend, status.backend)),
        ("Read", _last_sync(status, now)),
        ("Waiting", f"{status.pending:,} files or chunks" if status.pending else ""),
        ("Size", size_words(status.size_bytes)),
        ("Place", status.place),
    ]
    for label, value in facts:
        if value:
            lines += _fact(label, value, width)
    if status.fallback:
        lines += [BLANK, *_paragraph(status.fallback, "text", width, "! ")]
    if work.problem:
        lines += [BLANK, *_paragraph(work.problem, "danger", width)]
    text = "Made from the files alone and kept outside the workspace: deleting it loses nothing."
    return [*lines, BLANK, *_paragraph(text, "faint", width)]


def _last_sync(status: IndexStatus, now: datetime) -> str:
    if status.last_sync is None:
        return "never"
    moment = status.last_sync.astimezone(now.tzinfo)
    return f"{how_long_ago(moment, now)}, {full_time(moment)}"


def _figures(status: IndexStatus, width: int) -> Sequence[Line]:
    """Draw the counts side by side, figures above their words."""
    cells = max(9, min(14, width // 3))
    counts = ((status.files, "files"), (status.chunks, "chunks"), (status.entities, "entities"))
    return [
        cut(tuple(column(f"{count:,}", cells, "strong") for count, _ in counts), width),
        cut(tuple(column(name, cells, "soft") for _, name in counts), width),
    ]


def _work_lines(work: IndexWork, status: IndexStatus, width: int) -> list[Line]:
    """Draw the bar of what is under way, here or elsewhere; full where nothing is and nothing is missing."""
    if work.running:
        share = work.done / work.total if work.total else 0.0
        verb = "Rebuilding" if work.anew else "Bringing up to date"
        figures = f"{work.done:,} of {work.total:,}" if work.total else "looking…"
        words = "stopping…" if work.cancelled else f"{verb}, {figures}"
    elif status.rebuilding is not None:
        share, words = status.rebuilding, "Being rebuilt; the old one answers meanwhile"
    else:
        share = 1.0 if not (status.dirty or status.pending) and status.last_sync else 0.0
        words = ""
        if work.cancelled:
            words = "Stopped; what was done stays done."
        elif status.dirty or status.pending or not status.last_sync:
            share = status.chunks / (status.chunks + status.pending) if status.chunks else 0.0
            words = "Searching brings it up to date by itself; s does it now."
    filled = round(width * min(1.0, share))
    bar: Line = (Span(FULL * filled, "soft"), Span(REST * (width - filled), "rule"))
    return [bar, *([(ink(words, "soft", width),)] if words else [])]


def _fact(label: str, value: str, width: int) -> list[Line]:
    return [
        (column(label if at == 0 else "", _LABEL, "faint"), Span(piece))
        for at, piece in enumerate(wrap(value, max(6, width - _LABEL), limit=4))
    ]


def _paragraph(text: str, role: str, width: int, sign: str = "") -> list[Line]:
    return [
        (Span(sign if at == 0 else " " * len(sign), role), Span(piece, role))
        for at, piece in enumerate(wrap(text, max(8, width - len(sign))))
    ]


def index_keys(work: IndexWork, width: int) -> Line:
    """Draw the keys of the panel."""
    keys = [("c", "cancel")] if work.running else [("s", "bring up to date"), ("R", "rebuild")]
    keys.append(("esc", "close"))
    spans: list[Span] = []
    for key, word in keys:
        spans += [Span(key, "strong"), Span(f" {word}", "soft"), gap(3)]
    return cut(tuple(spans[:-1]), width)

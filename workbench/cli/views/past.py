"""How memory as it was is drawn: a moment in short, scores back then, and what differs between two moments."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from workbench.cli.printing import Page, clip, safe, safe_line, wrap
from workbench.cli.views.times import at_minute
from workbench.engine import layout
from workbench.engine.results.core import CoreView
from workbench.engine.results.past import Comparison, Copied, MemoryChange, Moment, PastScores

_KINDS = (
    ("core", "core memory"),
    ("episodic", "days of episodes"),
    ("semantic", "files of the graph"),
    ("procedural", "procedures"),
    ("vault", "vault notes"),
    ("file", "other files"),
)
_SIGNS = {
    "added": ("+", "good"),
    "removed": ("−", "bad"),
    "changed": ("~", "accent"),
    "scored": ("·", "quiet"),
}
_STORES = {"file": "Other files"}
FILES_SHOWN = 30
LINES_SHOWN = 3


def moment_lines(page: Page, moment: Moment, core: CoreView | None) -> list[str]:
    """Say which commit it was, by whom, and what memory held: core memory and the files of each store."""
    if moment.commit is None:
        return [f"History begins later than {at_minute(page, moment.time)}."]
    stood = moment.timestamp or moment.time
    lines = [page.heading(f"Memory at {at_minute(page, moment.time)}", f"commit {moment.commit[:7]}")]
    said = f"{at_minute(page, stood)}  {safe_line(moment.actor)}: {safe_line(moment.summary)}"
    lines += wrap(said, page.width)
    if core is not None:
        count = sum(len(block.items) for block in core.blocks)
        items = "1 item" if count == 1 else f"{count:,} items"
        lines.append(f"core memory: {items}, {core.tokens:,} of {core.cap:,} tokens")
    stores = Counter(layout.store_of(file.path) for file in moment.files)
    sizes = Counter[str]()
    for file in moment.files:
        sizes[layout.store_of(file.path)] += file.size
    head = tuple(page.paint(word, "quiet") for word in ("files", "bytes", ""))
    rows = [(f"{stores[store]:,}", f"{sizes[store]:,}", told) for store, told in _KINDS if stores[store]]
    lines += ["", *page.table([head, *rows], right=frozenset({0, 1}))]
    if len(moment.files) <= FILES_SHOWN:
        lines += ["", *(page.paint(f"  {safe_line(file.path)}", "place") for file in moment.files)]
    short = moment.commit[:7]
    told = f"One file as it was: --path PATH. What is different now: workbench audit at {short} --against now"
    return [*lines, "", *(page.paint(line, "quiet") for line in wrap(told, page.width))]


def scores_lines(page: Page, scores: PastScores) -> list[str]:
    """List memories with their scores at a moment, highest first."""
    if not scores.scores:
        return ["None of these had a score then."]
    lines = [page.heading(f"Scores at {at_minute(page, scores.timestamp)}", f"commit {scores.commit[:7]}")]
    ordered = sorted(scores.scores, key=lambda one: (-one.score.value, one.id))
    rows = [
        (
            f"{one.score.value:.2f}",
            page.paint(one.score.status, one.score.status),
            page.paint(clip(safe_line(one.id), page.width - 18), one.store),
        )
        for one in ordered
    ]
    return [*lines, *page.table(rows)]


def copied_lines(page: Page, copied: Copied) -> list[str]:
    """Say what was written out, and where."""
    files = "1 file" if copied.files == 1 else f"{copied.files:,} files"
    said = f"{files}, {copied.bytes:,} bytes, as of {copied.commit[:7]}: {safe_line(copied.folder)}"
    return wrap(said, page.width)


def comparison_lines(page: Page, compared: Comparison) -> list[str]:
    """Tell what differs, memory by memory, what was said before and what is said after."""
    start = compared.from_[:7] if compared.from_ else "nothing"
    end = compared.to[:7] if compared.to else "now"
    counts = Counter(change.change for change in compared.memories)
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in _SIGNS if counts[kind])
    if not told and not compared.files:
        return [f"Nothing differs between {start} and {end}."]
    lines = [page.heading(f"From {start} to {end}", told or f"{len(compared.files):,} files")]
    for store, changes in groupby(compared.memories, key=lambda change: change.store):
        lines += ["", page.paint(_STORES.get(store, store.capitalize()), "strong")]
        for change in changes:
            lines += _change_lines(page, change)
    return lines


def _change_lines(page: Page, change: MemoryChange) -> list[str]:
    sign, style = _SIGNS.get(change.change, ("~", "quiet"))
    id_ = clip(safe_line(change.id), page.width - 2)
    lines = [f"{page.paint(sign, style)} {page.paint(id_, change.store)}"]
    if change.change == "scored":
        return [*lines, page.paint("    pinned, unpinned, archived or restored", "quiet")]
    lines += _said(page, "−", "bad", change.before)
    return lines + _said(page, "+", "good", change.after)


def _said(page: Page, sign: str, style: str, text: str | None) -> list[str]:
    if text is None:
        return []
    lines = [line for line in safe(text).split("\n") if line.strip()]
    shown = [
        page.paint(f"    {sign} {clip(line, max(page.width - 6, 8))}", style) for line in lines[:LINES_SHOWN]
    ]
    more = len(lines) - LINES_SHOWN
    return (
        [*shown, page.paint(f"      … {more} more {'line' if more == 1 else 'lines'}", "quiet")]
        if more > 0
        else shown
    )

"""How the state of the search index is told."""

from __future__ import annotations

from workbench.cli.printing import Page, pad, safe_line, wrap
from workbench.cli.views.times import at_minute
from workbench.engine.results.recall import IndexStatus


def index_lines(page: Page, status: IndexStatus) -> list[str]:
    """List what the index holds, what makes its vectors, and what it does not know yet."""
    rows = [
        ("holds", f"{status.chunks:,} chunks of {status.files:,} files, {status.entities:,} entities"),
        ("vectors", _vectors(status)),
        ("fresh", _freshness(page, status)),
        ("size", f"{status.size_bytes / 1e6:,.1f} MB"),
        ("place", status.place),
    ]
    if status.backend != "builtin":
        rows.insert(1, ("back end", status.backend))
    width = max(len(name) for name, _ in rows)
    lines: list[str] = []
    for name, told in rows:
        if told:
            lines += wrap(safe_line(told), page.width, first=f"{pad(name, width)}  ")
    if status.fallback:
        lines += wrap(safe_line(status.fallback), page.width, first="! ", rest="  ")
    return lines


def _vectors(status: IndexStatus) -> str:
    if status.provider == "none":
        return "none: words alone are searched"
    model = f", {status.model}" if status.model else ""
    return f"{status.provider}{model}" + (f", {status.dimensions} dimensions" if status.dimensions else "")


def _freshness(page: Page, status: IndexStatus) -> str:
    last = at_minute(page, status.last_sync) if status.last_sync else "never"
    if status.rebuilding is not None:
        return f"being rebuilt, {status.rebuilding:.0%} done; the old one answers"
    if status.dirty:
        waiting = f", {status.pending:,} to read" if status.pending else ""
        return f"files have changed since {last}{waiting}: workbench index"
    if status.pending:
        return f"all is read, {last}; {status.pending:,} to embed: workbench index"
    return f"up to date, {last}"

"""How memories that were found are listed: by search, or to be forgotten."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.cli.printing import Page, clip, pad, safe_line, wrap
from workbench.cli.views.changed import account_lines
from workbench.engine.results import Forgotten, Found, Hit, Match, Signals

SNIPPET_LINES = 2
MARGIN = 6
# A snippet is for recognising a memory; what only formats the file would fill its two lines.
_MARKUP = re.compile(r"<!--.*?-->|(?<!\S)#{1,6} ", re.DOTALL)


def found_lines(page: Page, found: Found, *, explain: bool = False) -> list[str]:
    """List search results: score and id, then title, date and the beginning of the text."""
    lines: list[str] = []
    for hit in found.results:
        lines += _hit_lines(page, hit, explain=explain)
    if not found.results:
        lines.append("Nothing found.")
    elif found.likely_absent:
        lines.append(page.paint("None of this may be what you look for.", "accent"))
    if found.fallback:
        lines += wrap(safe_line(found.fallback), page.width, first="! Searched by other means: ", rest="  ")
    if explain:
        means = "words alone" if found.provider == "none" else found.provider
        means += f", {found.model}" if found.model else ""
        lines.append(page.paint(f"{safe_line(means)} · {found.took_ms:.1f} ms", "quiet"))
    return lines


def _hit_lines(page: Page, hit: Hit, *, explain: bool) -> list[str]:
    state = "" if hit.status in (None, "active") else str(hit.status)
    first = f"{hit.score:.2f}  {page.paint(safe_line(hit.id), hit.store, 'strong')}"
    lines = [f"{first}  {page.paint(state, 'quiet')}".rstrip()]
    # What the id or the text below says already is not said twice.
    told = f"{hit.id} {safe_line(hit.snippet)}"
    title = " · ".join(
        safe_line(part) for part in (hit.date, hit.title) if part and safe_line(part) not in told
    )
    if title:
        lines.append(" " * MARGIN + page.paint(clip(title, page.width - MARGIN), "quiet"))
    lines += _snippet(page, hit.snippet)
    if explain:
        signals = _signals(hit.signals)
        place = f"{safe_line(hit.path)}#L{hit.start_line}-L{hit.end_line}"
        lines += [" " * MARGIN + page.paint(place, "place"), " " * MARGIN + page.paint(signals, "quiet")]
    return lines


def _signals(signals: Signals) -> str:
    named = (
        ("text", signals.text),
        ("vector", signals.vector),
        ("graph", signals.graph),
        ("decay", signals.decay),
    )
    return "  ".join(f"{name} {value:.2f}" if value is not None else f"{name} –" for name, value in named)


def _snippet(page: Page, text: str) -> list[str]:
    lines = wrap(safe_line(_MARKUP.sub("", text)), page.width, first=" " * MARGIN)
    if len(lines) > SNIPPET_LINES:
        lines = lines[:SNIPPET_LINES]
        lines[-1] = clip(lines[-1], page.width - 2).rstrip("…") + " …"
    return [line for line in lines if line.strip()]


def match_lines(page: Page, matches: Sequence[Match]) -> list[str]:
    """List what a request to forget concerns."""
    lines = []
    for match in matches:
        store = page.paint(pad(match.store, 10), match.store)
        lines.append(f"{match.score:.2f}  {store}  {page.paint(safe_line(match.id), 'strong')}")
        lines += _snippet(page, match.snippet)
    return lines


def forgotten_lines(page: Page, forgotten: Forgotten, *, hard: bool, purged: bool = False) -> list[str]:
    """Tell what was forgotten, and how to bring it back, where that is possible."""
    if not forgotten.matches:
        return ["Nothing matches, so nothing was forgotten."]
    if not forgotten.applied:
        return match_lines(page, forgotten.matches)
    count = "1 memory" if len(forgotten.matches) == 1 else f"{len(forgotten.matches)} memories"
    verb = "Deleted" if hard else "Archived"
    lines = [f"{page.paint('✓', 'good')} {verb} {count}:"]
    lines += [f"  {page.paint(safe_line(match.id), match.store)}" for match in forgotten.matches]
    lines += account_lines(page, forgotten)
    if purged:
        return lines
    back = (
        "Take it back, while history has it: workbench undo"
        if hard
        else "Bring one back: workbench restore ID"
    )
    return [*lines, page.paint(f"  {back}", "quiet")]

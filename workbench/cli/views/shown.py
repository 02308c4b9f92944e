"""How one memory is shown: its text, its score and what made it, where it is from, who touched it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.cli.printing import Page, display_width, safe, safe_line, wrap
from workbench.cli.views.times import at_minute
from workbench.engine.results.memories import Shown, Validity

_LIST_ITEM = re.compile(r" *(?:(?:[-*+>]|\d+[.)]) )?")
_TERMS = ("base", "decay", "days", "lambda", "accessCount", "reinforcement", "typeWeight")


def shown_lines(page: Page, shown: Shown) -> list[str]:
    """Show one memory, text first."""
    last = f"–{shown.end_line}" if shown.end_line != shown.start_line else ""
    place = f"{safe_line(shown.path)}:{shown.start_line}{last}"
    lines = [page.paint(safe_line(shown.id), shown.store, "strong"), page.paint(place, "place")]
    if shown.title and safe_line(shown.title) not in safe_line(shown.text):
        lines.append(safe_line(shown.title))
    lines.append("")
    for line in safe(shown.text).strip("\n").split("\n"):
        marker = _LIST_ITEM.match(line)
        lines += wrap(line, page.width, rest=" " * (marker.end() if marker else 0))
    facts: list[tuple[str, str]] = []
    if shown.score is not None:
        score = f"{shown.score.value:.2f} {page.paint(shown.score.status, shown.score.status)}"
        facts += [("score", score), ("", _terms(shown.score.terms))]
    facts.append(("true", _validity(shown.validity)))
    facts.append(("for", safe_line(shown.scope or "")))
    for name, values in (
        ("from", shown.provenance),
        ("names", shown.links.to),
        ("named by", shown.links.from_),
    ):
        facts += [(name if index == 0 else "", safe_line(value)) for index, value in enumerate(values)]
    told = [(name, value) for name, value in facts if value]
    if told:
        lines += ["", *_fact_lines(page, told)]
    if shown.history:
        lines += ["", page.paint("History", "strong"), *_history_lines(page, shown)]
    return lines


def _fact_lines(page: Page, facts: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in facts)
    lines = []
    for name, value in facts:
        label, gap = page.paint(name, "quiet"), " " * (width - len(name) + 2)
        # Only what has no colours of its own is broken into lines.
        wraps = "\x1b" not in value and display_width(value) + width + 2 > page.width
        first, *rest = (
            wrap(value, page.width, first=" " * (width + 2)) if wraps else [" " * (width + 2) + value]
        )
        lines += [f"{label}{gap}{first[width + 2 :]}", *rest]
    return [line.replace("\u00a0", " ") for line in lines]


def _history_lines(page: Page, shown: Shown) -> list[str]:
    lines = []
    for entry in shown.history:
        agreed = "" if entry.approval in {"auto", "—"} else f"  ({safe_line(entry.approval)})"
        lines.append(
            f"{at_minute(page, entry.timestamp)}  {entry.commit[:7]}  {safe_line(entry.actor)}{agreed}"
        )
        said = wrap(safe_line(entry.summary), page.width, first=" " * 4)
        lines += [page.paint(line, "quiet") for line in said if line.strip()]
    return lines


def _terms(terms: Mapping[str, float | str | bool | None]) -> str:
    """Write the formula with its numbers, where it is one that says how they came about."""
    if terms.get("pinned") or terms.get("typeWeight", 0) is None:
        return "does not decay"
    numbers = {name: value for name in _TERMS if isinstance(value := terms.get(name), int | float)}
    if terms.get("archived") or len(numbers) < len(_TERMS):
        return ""
    days, uses = int(numbers["days"]), int(numbers["accessCount"])
    aged = f"{days} day{'' if days == 1 else 's'} at {numbers['lambda']:g}"
    used = f"{uses} use{'' if uses == 1 else 's'}"
    return (
        f"= base {numbers['base']:g} × decay {numbers['decay']:.2f} ({aged}) × "
        f"access {numbers['reinforcement']:.2f} ({used}) ×\u00a0type\u00a0{numbers['typeWeight']:g}"
    )


def _validity(validity: Validity) -> str:
    said = []
    if validity.from_:
        said.append(f"from {validity.from_}")
    if validity.until:
        said.append(f"until {validity.until}")
    if validity.superseded_by:
        said.append(f"superseded by {validity.superseded_by}")
    return safe_line(", ".join(said))

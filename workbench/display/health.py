"""Draws what works and what works in part: the search index, what was checked, and what was said."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.ink import Span, column, gap, hanging, ink, line_width
from workbench.display.rows import beside_row
from workbench.display.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.audit import Check
    from workbench.engine.results.recall import IndexStatus

_PROVIDERS = {
    "builtin": "built in: a table of word pieces; no model, no network",
    "local": "a local model, through llama.cpp",
    "openai": "a server that speaks OpenAI's language",
    "gemini": "Gemini",
    "none": "none: words, links and dates alone are searched",
}
_BACK_ENDS = {"postgres": "PostgreSQL", "qmd": "QMD"}
_SIGNS = {"ok": ("✓ ", "soft"), "degraded": ("! ", "decide"), "broken": ("✗ ", "danger")}
_NAME = 13
_STANDING = {"ok": "works", "degraded": "works in part", "broken": "does not work"}


def size_words(size: int) -> str:
    """Return a size in bytes as people read it."""
    if size >= 1_000_000_000:
        return f"{size / 1e9:,.1f} GB"
    return f"{size / 1e6:,.1f} MB" if size >= 1_000_000 else f"{size / 1e3:,.0f} kB"


def freshness(status: IndexStatus) -> str:
    """Return in a few words whether search knows everything; “up to date” where it does."""
    if status.rebuilding is not None:
        return f"being rebuilt, {status.rebuilding:.0%}"
    if status.last_sync is None:
        return "not built yet"
    if status.pending:
        return f"{status.pending:,} still to be {'read' if status.dirty else 'embedded'}"
    return "files have changed" if status.dirty else "up to date"


def index_card(status: IndexStatus, now: datetime, fallback: str, *, by_command: bool = False) -> Card:
    """Return the card of the search index.

    Args:
        fallback: What answers instead, as the door that shows it says it; empty where nothing does.
        by_command: Whether a command mends it, rather than a key.
    """
    vectors = _PROVIDERS.get(status.provider, status.provider)
    model = status.model or ""
    if model and status.dimensions:
        model += f", {status.dimensions} dimensions"
    last = words.moment(status.last_sync.astimezone(now.tzinfo), now) if status.last_sync else "never"
    facts = (
        ("holds", f"{status.chunks:,} passages of {status.files:,} files, {status.entities:,} entities"),
        ("meaning", vectors),
        ("model", model),
        ("kept by", _BACK_ENDS.get(status.backend, "")),
        ("read", last),
        ("size", size_words(status.size_bytes)),
    )
    lines = tuple((column(label, 9, "soft"), ink(said)) for label, said in facts if said)
    sections = [Section("INDEX", lines, hangs=1)]
    if fallback:
        sections.insert(0, Section.of("INSTEAD", fallback, "decide"))
    if status.dirty or status.pending or status.last_sync is None:
        said = "reads the rest now; searching would do it too."
        said = f"workbench index {said}" if by_command else said
        sections.append(Section.of("REMEDY" if by_command else "ENTER", said))
    told = ink("Made from the files alone; nothing is lost with it.", "faint")
    kept = Section("KEPT IN", ((ink(status.place, "soft"),), (told,)))
    return Card("Search index", f"Search index: {freshness(status)}.", (), tuple(sections), (kept,))


def check_card(title: str, text: str, state: str, mends: str, remedy: str) -> Card:
    """Return the card of something that was checked.

    Args:
        state: ok, degraded or broken.
        mends: What `enter` does about it; empty for nothing.
        remedy: What else there is to do.
    """
    sections = [Section.of(label, said) for label, said in (("ENTER", mends), ("REMEDY", remedy)) if said]
    named = title if "/" in title else f"{title[:1].upper()}{title[1:]}"
    kind = f"{named} · {_STANDING.get(state, state)}"
    return Card(title, text, (ink(kind, "soft"),), tuple(sections))


def check_row(name: str, text: str, beside: str, state: str, width: int) -> Line:
    """Draw something that was checked in one line; see `check_lines`."""
    return beside_row((*_check_head(name, state, _NAME), ink(text)), beside, width)


def check_lines(check: Check, names: int, width: int) -> Iterator[Line]:
    """Draw something that was checked, whole, and what mends it.

    Args:
        names: Cells that names take.
    """
    head = _check_head(check.name, check.state, names)
    yield from hanging(head, (ink(check.detail),), width)
    if check.remedy:
        yield from hanging((gap(line_width(head)), Span("→ ", "soft")), (ink(check.remedy),), width)


def _check_head(name: str, state: str, names: int) -> Line:
    """Draw how it stands, and what it is; nothing where the text says so."""
    sign, role = _SIGNS.get(state, _SIGNS["degraded"])
    return (Span(sign, role), *((column(name, names, "soft"),) if name else ()))


def partly_words(states: Iterable[str]) -> str:
    """Say how many of some checks do not work, and how many work in part.

    Args:
        states: ok, degraded or broken, one a check.
    """
    found = Counter(states)
    broken, partly = found["broken"], found.total() - found["ok"] - found["broken"]
    if not broken:
        return f"{counted(partly, 'thing works', 'things work')} in part" if partly else "Everything works"
    said = f"{counted(broken, 'thing does', 'things do')} not work"
    return f"{said}, {partly} work{'s' * (partly == 1)} in part" if partly else said


def worse_first(check: Check) -> int:
    """Return where a check comes: what does not work first, what works last."""
    return ("broken", "degraded", "ok").index(check.state) if check.state in _SIGNS else 1

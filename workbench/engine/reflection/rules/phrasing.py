"""How counts, lists and memories’ sentences are put into the words of an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.memory.wording import one_line
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINKED: Final = lazy_pattern(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text as one line, cut between words and without an ellipsis: it stays verbatim."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    cut = line[: limit + 1].rfind(" ")
    return line[: cut if cut > limit // 2 else limit].rstrip(" ,;:–—-")


def clipped(text: str, limit: int) -> str:
    """Return a text as one line for people, cut between words and marked with “…” where it is longer."""
    line = one_line(text)
    return line if len(line) <= limit else shorten(line, limit - 1) + "…"


def plain(text: str) -> str:
    """Return a sentence on one line, without links’ brackets and final stop, its first letter large."""
    line = _LINKED.sub(lambda match: match[1].rpartition("--")[2] or match[1], one_line(text)).rstrip(" .。;")
    return line[:1].upper() + line[1:]


def listed(names: Iterable[str]) -> str:
    """Return names as people list them: “a, b and c”."""
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def alternatives(names: Iterable[str]) -> str:
    """Return names to choose from: “a, b or c”."""
    *first, last = list(names) or [""]
    return f"{', '.join(first)} or {last}" if first else last


def counted(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun: “1 decision”, “3 memories”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

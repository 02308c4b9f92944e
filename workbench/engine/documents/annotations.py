"""Annotations in HTML comments, as OpenClaw writes them: read as values, never rewritten."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAIR: Final = re.compile(r"[ \t]*(\w[\w -]{0,60}?)[ \t]*:[ \t]*(.*?)[ \t]*$", re.DOTALL)
_MACHINE: Final = re.compile(r"openclaw-memory-(promotion|lineage):(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation.

    Args:
        key: `trigger`, `importance`, `project`, `observed`, `status`, `pinned`, `promotion`, `lineage`, or
            another key as written in lower case.
        value: As written; empty for a mere mark such as `<!-- pinned -->`.
        start: Where its comment starts in the text, in characters.
        end: Where its comment ends.
    """

    key: str
    value: str
    start: int
    end: int


def comment_offsets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each closed HTML comment of a text starts and ends, in characters."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            return
        yield start, end + 3
        start = text.find("<!--", end + 3)


def read_annotations(text: str) -> tuple[Annotation, ...]:
    """Return the annotations of a text in order; `observed | status` in one comment gives two."""
    found: list[Annotation] = []
    for start, end in comment_offsets(text):
        inner = text[start + 4 : end - 3].strip()
        machine = _MACHINE.match(inner)
        if machine:
            found.append(Annotation(machine[1], machine[2], start, end))
            continue
        for part in inner.split("|"):
            pair = _PAIR.match(part)
            key, value = (pair[1], pair[2]) if pair else (part.strip(), "")
            if key:
                found.append(Annotation(key.lower(), value, start, end))
    return tuple(found)


def strip_comments(text: str) -> str:
    """Return a text without its HTML comments and the white space before them."""
    kept: list[str] = []
    at = 0
    for start, end in comment_offsets(text):
        kept.append(text[at:start].rstrip(" \t"))
        at = end
    kept.append(text[at:])
    return "".join(kept)


def trailing_comments(text: str) -> str:
    """Return the HTML comments that end a text, with the white space before and between them."""
    tail = len(text)
    for start, end in reversed(list(comment_offsets(text))):
        if text[end:tail].strip():
            break
        tail = start
    return text[len(text[:tail].rstrip()) :] if tail < len(text) else ""

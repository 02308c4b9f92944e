"""Draws what stands around a text that is written: what it is, the keys, and why it was not taken."""

from __future__ import annotations

from workbench.display.budget import problem_lines
from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span

_MOST_OF_THE_OTHER = 12


def editing_title(memory_id: str) -> str:
    """Return what one is writing, in words."""
    if memory_id.startswith("episode:"):
        return f"A correction of {memory_id}; what happened stays, this stands beside it"
    return f"Editing {memory_id}"


def changed_meanwhile(now: str, width: int) -> list[Line]:
    """Say that a memory was changed while its text was written anew, and what it says now."""
    words = "It was changed meanwhile; nothing was overwritten. Save again to put your text in place of this:"
    lines: list[Line] = [*problem_lines(words, width), BLANK]
    for source in now.splitlines():
        lines += [(Span("▏ ", "faint"), Span(piece, "soft")) for piece in wrap(source, max(1, width - 2))]
    return lines[:_MOST_OF_THE_OTHER]

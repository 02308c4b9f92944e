"""Writes what an empty pane says: what it is for, and which command fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Span, ink

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.display.ink import Line

_WIDEST = 64
IMPORT_LINK = "import:"
IMPORT = (
    "I",
    "brings in memory from elsewhere: OpenClaw, Claude Code, ChatGPT, notes.",
    IMPORT_LINK,
)
"""The way for a newcomer whose memory is somewhere else."""


def teach(
    title: str, text: str, *ways: tuple[str, str] | tuple[str, str, str]
) -> Callable[[int], Sequence[Line]]:
    """Return what draws an empty pane for a width.

    Args:
        title: What is not there.
        text: What would be, and why one would want it.
        ways: Key or command, what it does, and the link that does it where it can be clicked.
    """

    def draw(width: int) -> Sequence[Line]:
        width = min(width, _WIDEST)
        lines: list[Line] = [(ink(title, "strong", width),), BLANK]
        lines.extend((Span(line, "soft"),) for line in wrap(text, width))
        lines.append(BLANK)
        for way, what, *link in ways:
            lines.append((ink(way, "strong", width, *link),))
            lines.extend((Span("  " + line, "soft"),) for line in wrap(what, width - 2))
        return lines

    return draw

"""Draws what every detail has on which one decides at once: the text itself, and what each key would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import Line, Span, gap

if TYPE_CHECKING:
    from collections.abc import Sequence

# Nobody decides on more at a glance; the file has the rest.
LONGEST = 4000


def text_lines(text: str, width: int, role: str = "text") -> list[Line]:
    """Draw a text with its own line breaks, as much of it as can be decided on."""
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return [
        (Span(piece, role),) for block in shown.splitlines() or [""] for piece in wrap(block, width) or [""]
    ]


def key_lines(keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Draw keys, each with what it would do here."""
    lines: list[Line] = []
    for key, words in keys:
        for at, piece in enumerate(wrap(words, max(8, width - 3), limit=4)):
            lines.append((Span(key if at == 0 else " ", "strong"), gap(2), Span(piece, "soft")))
    return lines

"""Puts words in place of signs, and nothing in place of drawings, for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.display.ink import Span, cut, line_width
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from workbench.display.ink import Line

_WORDS = {
    "◎": "Core:", "◷": "Episode:", "◇": "Fact:", "▤": "Procedure:", "▣": "Vault:",
    "◆": "pinned", "▲": "alert", "✓": "marked", "•": "marked", "▌": ">", "▏": ">", "▸": "here:", "▶": "here:",
    "[✓]": "accepted:", "[✗]": "declined:", "[…]": "set aside:", "[ ]": "open:", "[<]": "older:", "[>]": "newer:",
    "[=]": "both:", "±": "changed:", "+": "added:", "-": "removed:", "−": "removed:", "↓": "fading", "⚠": "warning",
}  # fmt: skip
# Box drawing, blocks and shades: a picture, whose numbers stand beside it.
_DRAWN = lazy_pattern("[─-▟]")
_CRUMB = " ▸ "
_COUNTED = lazy_pattern(r"([▲↓])(?=\d)|(?<=\d)([▲↓])")


def in_words(line: Line, width: int) -> Line:
    """Return a line for the ear, of `width` cells at most.

    Only a span that is a sign and nothing else is one: what memory itself says stays.

    Args:
        line: As it is drawn for the eye.
        width: Cells; gaps give way first.
    """
    spoken = tuple(_spoken(span) for span in line)
    over = line_width(spoken) - width
    while over > 0:
        gaps = [at for at, span in enumerate(spoken) if span.text.isspace() and len(span.text) > 1]
        if not gaps:
            return cut(spoken, width)
        widest = max(gaps, key=lambda at: len(spoken[at].text))
        less = min(over, len(spoken[widest].text) - 1)
        spoken = (
            *spoken[:widest], Span(spoken[widest].text[less:], spoken[widest].role, spoken[widest].link),
            *spoken[widest + 1 :],
        )  # fmt: skip
        over -= less
    return spoken


def _spoken(span: Span) -> Span:
    bare = span.text.strip()
    if not bare:
        return span
    if span.text == _CRUMB:
        return Span(", ", span.role, span.link)
    if word := _WORDS.get(bare):
        before, _, after = span.text.partition(bare)
        return Span(f"{before}{word}{after or ' '}", span.role, span.link)
    if _DRAWN.sub("", bare).strip() == "":
        return Span(" " * cell_width(span.text), span.role, span.link)
    if _COUNTED.search(bare) and len(bare) < 8:
        number = bare.strip("▲↓")
        kind = ("alert" if number == "1" else "alerts") if "▲" in bare else "fading"
        return Span(span.text.replace(bare, f"{number} {kind}"), span.role, span.link)
    if bare[0] == "─" and span.role != "text":
        return Span(_DRAWN.sub("", span.text), span.role, span.link)
    return span

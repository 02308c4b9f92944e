"""Gives each meaning on the screen its look: from a theme's colours to terminal styles, or to plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from workbench.display.cells import cell_width, plain
from workbench.display.ink import (
    SCORE_STEPS,
    Span,
    cut,
    line_width,
)
from workbench.engine.patterns import lazy_pattern
from workbench.tui.themes import LINE_CONTRAST, colour_named, contrast

if TYPE_CHECKING:
    from textual.app import App

    from workbench.display.ink import Line
    from workbench.tui.themes import ThemeFile

PAPER, RAISED, CURSOR, MARKED = "paper", "raised", "cursor", "marked"
# Cells of the heatmap are told apart at a glance, not read, so that they may sink deeper into the paper than text.
HEAT_STEPS = 12

# Role: colour key, background key or "", attributes.
_LOOKS: dict[str, tuple[str, str, str]] = {
    "text": ("ink.text", "", ""),
    "strong": ("ink.text", "", "bold"),
    "soft": ("ink.soft", "", ""),
    "faint": ("ink.faint", "", ""),
    "rule": ("ground.rule", "", ""),
    "decide": ("meaning.decide", "", ""),
    "decide.strong": ("meaning.decide", "", "bold"),
    "danger": ("meaning.danger", "", ""),
    "danger.strong": ("meaning.danger", "", "bold"),
    "code": ("ink.soft", "", ""),
    "emphasis": ("ink.text", "", "italic"),
    "match": ("ink.text", "", "bold underline"),
    "tab": ("ink.text", "ground.cursor", "bold"),
    "added": ("ink.text", "meaning.added", ""),
    "added.word": ("ink.text", "meaning.added_word", "bold"),
    "removed": ("ink.text", "meaning.removed", ""),
    "removed.word": ("ink.text", "meaning.removed_word", "bold"),
    "here": ("ground.paper", "ink.text", "bold"),
}


class Palette:
    """A theme, ready to print lines with.

    Args:
        plain: Whether signs are words, for screen readers.
    """

    def __init__(self, theme: ThemeFile, *, plain: bool = False) -> None:
        self.theme = theme
        self.plain = plain
        self._styles: dict[tuple[str, str], Style] = {}

    def style(self, role: str, ground: str = PAPER) -> Style:
        """Return the terminal style of a role on a ground.

        Args:
            role: A key of the table above, `store.NAME`, `score.STEP` or `heat.STORE.STEP`; `+link` or `+strong` may
                follow.
            ground: `paper`, `raised`, `cursor` or `marked`.
        """
        style = self._styles.get((role, ground))
        if style is None:
            style = self._styles[role, ground] = self._make(role, ground)
        return style

    def _make(self, role: str, ground: str) -> Style:
        name, _, extra = role.partition("+")
        wanted = "underline" if extra == "link" else "bold" if extra else ""
        if self.theme.terminal:
            return self._of_the_terminal(name, ground, wanted)
        background = f"ground.{ground}"
        if name.startswith("score."):
            share = int(name[6:]) / (SCORE_STEPS - 1)
            colour = blend(self.theme["ink.faint"], self.theme["ink.text"], share)
        elif name.startswith("heat."):
            _, store, step = name.split(".")
            colour = self._heat(store, int(step) / (HEAT_STEPS - 1))
        elif name.startswith("store."):
            colour = self.theme.colours.get(name, self.theme["store.file"])
        else:
            key, own_background, own = _LOOKS[name]
            colour = self.theme[key]
            # The cursor shows through everything but a difference.
            background = own_background or background
            wanted = f"{own} {wanted}"
        return Style(
            color=colour,
            bgcolor=self.theme[background],
            bold="bold" in wanted,
            italic="italic" in wanted,
            underline="underline" in wanted,
        )

    def _heat(self, store: str, share: float) -> str:
        """Return a store's hue, the deeper in the paper the smaller the share is, but never lost in it."""
        paper, hue = (
            self.theme["ground.paper"],
            self.theme.colours.get(f"store.{store}", self.theme["store.file"]),
        )
        least = next(
            (
                part / 20
                for part in range(21)
                if contrast(blend(paper, hue, part / 20), paper) >= LINE_CONTRAST
            ),
            1.0,
        )
        return blend(paper, hue, least + (1 - least) * share)

    def _of_the_terminal(self, name: str, ground: str, wanted: str) -> Style:
        """Return a look in the terminal's own colours: brightness is bold and dim, grounds are attributes."""
        if name.startswith("score."):
            step = int(name[6:])
            look = self.theme["ink.faint" if step == 0 else "ink.text"] + (
                " bold" if step == SCORE_STEPS - 1 else ""
            )
        elif name.startswith("heat."):
            _, store, step_of_heat = name.split(".")
            look = self.theme.colours.get(f"store.{store}", self.theme["store.file"])
            look += " dim" if int(step_of_heat) < HEAT_STEPS // 3 else ""
        elif name.startswith("store."):
            look = self.theme.colours.get(name, self.theme["store.file"])
        else:
            key, own_background, own = _LOOKS[name]
            look = f"{self.theme[own_background or key]} {own.replace('italic', '')}"
            look += " reverse" if name in ("here", "tab") else ""
        behind = self.theme[f"ground.{ground}"]
        words = {*look.split(), *wanted.split(), *behind.split()} - {colour_named(look), colour_named(behind)}
        if "reverse" in behind.split():
            # One bar in one colour, whatever stands on it.
            look, words = "default", words - {"dim"}
        return Style(
            color=colour_named(look),
            bgcolor=colour_named(behind),
            bold="bold" in words or None,
            dim="dim" in words or None,
            underline="underline" in words or None,
            reverse="reverse" in words or None,
        )

    def _space(self, style: Style, before: Style | None, ground: str) -> Style:
        """Return a look for spaces that lead a text, so that they join what stands before them.

        It saves the terminal a change of style, and drawers of exported screens drop spaces that begin a text.
        """
        if self.theme.terminal:
            return style
        if before is not None and before.bgcolor == style.bgcolor and not before.underline:
            return before
        return style if style.underline else style + Style(color=self.style("rule", ground).color)

    def strip(self, line: Line, width: int, ground: str = PAPER) -> Strip:
        """Return a line as a strip of exactly `width` cells.

        Args:
            line: What to print; cut on the right where it is longer.
        """
        if self.plain:
            line = in_words(line, width)
        segments: list[Segment] = []
        last: Style | None = None
        for span in line:
            style = self.style(span.role, ground)
            # Spans are safe already; this is the last door before the terminal, and it is locked as well.
            whole = span.text if span.text.isprintable() else plain(span.text)
            text = whole.lstrip(" ")
            if len(text) < len(whole):
                segments.append(Segment(whole[: len(whole) - len(text)], self._space(style, last, ground)))
            if text:
                segments.append(Segment(text, style))
                last = style
        used = line_width(line)
        if used < width:
            segments.append(Segment(" " * (width - used), self.style("text", ground)))
        strip = Strip(segments, max(used, width))
        return strip if used <= width else strip.crop(0, width)


def blend(under: str, over: str, share: float) -> str:
    """Return the colour `share` of the way from `under` to `over`, all `#rrggbb`."""
    mixed = (
        round(int(under[at : at + 2], 16) * (1 - share) + int(over[at : at + 2], 16) * share)
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


class HasPalette(Protocol):
    """An app with a theme of ours."""

    @property
    def palette(self) -> Palette: ...


def palette_of(app: App[object]) -> Palette:
    """Return the palette of the app that a widget is mounted in."""
    return cast("HasPalette", app).palette


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

"""Textual's own themes, their colours given our meanings and moved until each can be read on every ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.color import Color
from textual.theme import BUILTIN_THEMES

from workbench.tui.themes import DIFFERENCES, GROUNDS, LINE_CONTRAST, TEXT_CONTRAST, ThemeFile, contrast

if TYPE_CHECKING:
    from textual.theme import Theme

# The terminal's own colours are a theme of ours.
_NAMES = tuple(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi)
_STEP = 0.04
_STORES = {
    "core": "accent",
    "episodic": "primary",
    "semantic": "success",
    "procedural": "secondary",
    "vault": "warning",
}


def borrowed_names() -> tuple[str, ...]:
    """Return the names of the themes that Textual brings."""
    return _NAMES


def borrow(name: str) -> ThemeFile:
    """Return a theme of Textual's as one of ours.

    Args:
        name: One of `borrowed_names`.
    """
    theme = BUILTIN_THEMES[name]
    paper = Color.parse(theme.background or ("#121212" if theme.dark else "#efefef"))
    text = Color.parse(theme.foreground or ("#e0e0e0" if theme.dark else "#1f1f1f"))
    signals = {each: _colour(theme, each, text) for each in ("primary", "warning", "error", "success")}
    grounds = {
        "ground.paper": paper,
        "ground.raised": paper.blend(text, 0.04),
        "ground.cursor": paper.blend(text, 0.13),
        "ground.marked": paper.blend(signals["primary"], 0.14),
        "meaning.added": paper.blend(signals["success"], 0.14),
        "meaning.added_word": paper.blend(signals["success"], 0.28),
        "meaning.removed": paper.blend(signals["error"], 0.14),
        "meaning.removed_word": paper.blend(signals["error"], 0.28),
    }
    on = [each.hex for key, each in grounds.items() if key in GROUNDS]
    far = Color.parse("#ffffff" if theme.dark else "#000000")
    inks = {
        "ink.text": _readable(text, [*on, *(grounds[key].hex for key in DIFFERENCES)], far, TEXT_CONTRAST),
        "ink.soft": _readable(text.blend(paper, 0.25), on, far, TEXT_CONTRAST),
        "ink.faint": _readable(text.blend(paper, 0.4), on, far, TEXT_CONTRAST),
        "ground.rule": _readable(paper.blend(text, 0.35), on[:2], far, LINE_CONTRAST),
        "meaning.decide": _readable(signals["warning"], on, far, TEXT_CONTRAST),
        "meaning.danger": _readable(signals["error"], on, far, TEXT_CONTRAST),
        "store.file": _readable(text.blend(paper, 0.3), on, far, TEXT_CONTRAST),
        **{
            f"store.{store}": _readable(_colour(theme, source, text), on, far, TEXT_CONTRAST)
            for store, source in _STORES.items()
        },
    }
    colours = {key: each.hex.lower() for key, each in (grounds | inks).items()}
    return ThemeFile(name, theme.dark, colours)


def _colour(theme: Theme, name: str, otherwise: Color) -> Color:
    value = getattr(theme, name)
    return Color.parse(value) if value else otherwise


def _readable(ink: Color, grounds: list[str], far: Color, least: float) -> Color:
    """Return a colour moved away from the grounds until it has enough contrast to each."""
    moved, step = ink, 0.0
    while step < 1 and min(contrast(moved.hex, ground) for ground in grounds) < least:
        step += _STEP
        moved = ink.blend(far, min(step, 1.0))
    return moved

"""Gives widgets that draw their own lines the palette in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from textual.app import App

    from workbench.tui.palette import Palette


class HasPalette(Protocol):
    """An app with a theme of ours."""

    @property
    def palette(self) -> Palette: ...


def palette_of(app: App[object]) -> Palette:
    """Return the palette of the app that a widget is mounted in."""
    return cast("HasPalette", app).palette

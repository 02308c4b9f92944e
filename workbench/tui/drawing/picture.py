"""What a drawing is: lines to show, where on them each thing stands, and how a cursor walks from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.display.ink import Line


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of cells; the upper left cell of a drawing is (0, 0)."""

    x: int
    y: int
    width: int
    height: int

    def holds(self, x: int, y: int) -> bool:
        """Tell whether a cell lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Args:
        lines: From the top; may be more than fit, to be scrolled.
        regions: Where each thing stands, by its key, in reading order.
        steps: The key that a cursor comes to from a key in a direction; absent where there is none.
        home: The key that a cursor is on that has no place here.
    """

    lines: tuple[Line, ...]
    regions: Mapping[str, Region]
    steps: Mapping[tuple[str, str], str] = field(default_factory=dict)
    home: str = ""

    def at(self, x: int, y: int) -> str:
        """Return the key of the thing at a cell, or an empty string."""
        return next((key for key, region in self.regions.items() if region.holds(x, y)), "")

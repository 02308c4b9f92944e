"""How the frame stands at each size: list, card and evidence side by side, above each other, or one alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.parts.widths import BESIDE, EVIDENCE, ONE_LINE

if TYPE_CHECKING:
    from workbench.tui.frame.screen import Frame

# Fewer lines than this leave no room for a card below the list, or for the key line.
_ONE_PART, _NO_KEYS = 20, 12

CSS = """
Frame { background: $background; color: $foreground; layers: base sheet; }
Frame #whole { height: 1fr; }
Frame #rail { width: 16; height: 1fr; }
Frame #line-of-places { display: none; height: 1; }
Frame #main { width: 1fr; height: 1fr; }
Frame #top { height: 1; background: $surface; }
Frame #ask { width: 46%; height: 1; border: none; padding: 0 1; background: $surface; }
Frame #ask:focus { background-tint: transparent; background: $panel; }
Frame #ask > .input--placeholder { color: $faint; }
Frame #crumbs { width: 1fr; height: 1; }
Frame #places { height: 1fr; }
Frame #status, Frame #keys { height: 1; }
Frame #sheet { layer: sheet; dock: bottom; margin: 0 0 2 0; height: auto; display: none; }
Place { height: 1fr; width: 1fr; layout: horizontal; display: none; }
Place.-here { display: block; }
.place-left { width: 46%; height: 1fr; padding: 0 1 0 0; }
.place-head { height: 1; }
.place-list { height: 1fr; }
.place-card { width: 1fr; height: 1fr; border-left: solid $rule; }
.place-card:focus { border-left: solid $accent; }
.place-evidence { display: none; width: 1fr; height: 1fr; border-left: solid $rule; }
.place-evidence:focus { border-left: solid $accent; }
Frame.-wide .place-evidence, Frame.-evidence .place-evidence { display: block; }
Frame.-wide.-no-evidence .place-evidence { display: none; }
Frame.-wide .place-left { width: 36%; }
Frame.-evidence .place-left { display: none; }
Frame.-wide.-evidence .place-left { display: block; }
Frame.-below.-evidence .place-card { display: none; }
Frame.-below #rail { display: none; }
Frame.-below #line-of-places { display: block; }
Frame.-below Place { layout: vertical; }
Frame.-below .place-left { width: 1fr; height: 45%; padding: 0; }
Frame.-below .place-card { border-left: none; border-top: solid $rule; }
Frame.-below .place-card:focus { border-top: solid $accent; }
Frame.-below .place-evidence { border-left: none; }
Frame.-single .place-card { display: none; }
Frame.-single .place-left { width: 1fr; height: 1fr; }
Frame.-single.-reading .place-left, Frame.-zoom.-reading .place-left { display: none; }
Frame.-single.-reading .place-card { display: block; border: none; }
Frame.-zoom .place-card { display: none; }
Frame.-zoom .place-left { width: 1fr; height: 1fr; }
Frame.-zoom.-reading .place-card { display: block; }
Frame.-zoom .place-evidence { display: none; }
Frame.-zoom.-zoom-evidence .place-card, Frame.-zoom.-zoom-evidence .place-left { display: none; }
Frame.-zoom.-zoom-evidence .place-evidence { display: block; }
Frame.-no-rail #rail { display: none; }
Frame.-wide #rail { width: 18; }
Frame.-plain .place-card, Frame.-plain .place-evidence { border: none; }
Frame.-low #keys { display: none; }
"""


def lay_out(frame: Frame, width: int, height: int, *, plain: bool) -> str:
    """Lay out the frame.

    Args:
        frame: Which one.
        width: In cells.
        height: In lines.
        plain: Whether a screen reader reads it: one part after the other.

    Returns:
        The name of the layout: `single`, `below`, `beside` or `wide`.
    """
    below = plain or width < BESIDE
    single = plain or width < ONE_LINE or (below and height < _ONE_PART)
    wide = width >= EVIDENCE and not plain
    frame.set_class(below, "-below")
    frame.set_class(single, "-single")
    frame.set_class(wide, "-wide")
    frame.set_class(height < _NO_KEYS, "-low")
    return "single" if single else "below" if below else "wide" if wide else "beside"

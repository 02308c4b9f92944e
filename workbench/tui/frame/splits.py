"""How the parts of a place share the screen: splits moved by key and mouse, one part alone, rail and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.tui.frame.screen import Frame

# Cells by which a key moves a split.
_STEP = 2
# Least sizes in cells: width and height.
_LIST, _CARD = (24, 3), (36, 5)
_RAIL, _EVIDENCE = "rail", "evidence"
_MOVES = {"split-left": (-1, 0), "split-right": (1, 0), "split-up": (0, -1), "split-down": (0, 1)}


class Splits:
    """Gives the parts of a place their sizes.

    A size that was chosen is kept with the place, for each layout of its own. What does not fit any more gives way for
    as long as it must.

    Args:
        kept: What holds for all places; written back on leaving.
    """

    def __init__(self, frame: Frame, kept: dict[str, str]) -> None:
        self._frame = frame
        self._kept = kept
        self.layout = "beside"
        """Which of the four layouts the screen has: `single`, `below`, `beside` or `wide`."""
        self._dragged: int | None = None

    def begin(self) -> None:
        """Show rail and evidence or not, as last time."""
        self._frame.set_class(self._kept.get(_RAIL) == "off", "-no-rail")
        self._frame.set_class(self._kept.get(_EVIDENCE) == "off", "-no-evidence")

    def do(self, command: str) -> bool:
        """Move a split, forget it, or give a part the whole place."""
        if command in _MOVES:
            self._move(*_MOVES[command])
        elif command == "split-reset":
            for name in self._names():
                self._frame.place.kept.pop(name, None)
            self._frame.say("The splits of this place are as they were made.")
        elif command == "show-rail":
            self._toggle_rail()
        elif command == "zoom":
            self._zoom()
        else:
            return False
        self.look()
        return True

    def _zoom(self) -> None:
        frame = self._frame
        focused = frame.focused
        if not frame.has_class("-zoom") and focused is not None:
            frame.set_class(frame.place.list_side not in focused.ancestors_with_self, "-reading")
        frame.toggle_class("-zoom")

    def _toggle_rail(self) -> None:
        frame = self._frame
        if self.layout in ("single", "below"):
            frame.say("The rail stands beside the place from 110 columns on.")
            return
        frame.toggle_class("-no-rail")
        self._kept[_RAIL] = "off" if frame.has_class("-no-rail") else "on"

    def _names(self) -> tuple[str, str]:
        """Return under which names the splits of this layout are kept: of the list, and of the evidence."""
        return f"split-{self.layout}", f"split-{self.layout}-evidence"

    # Sizes.

    @property
    def _has_evidence(self) -> bool:
        frame = self._frame
        return frame.has_class("-evidence") or (self.layout == "wide" and not frame.has_class("-no-evidence"))

    @property
    def _has_list(self) -> bool:
        return self.layout == "wide" or not self._frame.has_class("-evidence")

    @property
    def _room(self) -> tuple[int, int]:
        """Return the cells that the place has."""
        frame = self._frame
        width, height = frame.size
        if self.layout in ("beside", "wide") and not frame.has_class("-no-rail"):
            width -= 18 if self.layout == "wide" else 16
        return width, height - (3 if frame.has_class("-low") else 4)

    def _fitting(self) -> tuple[int | None, int | None]:
        """Return the size of the list and of the evidence as far as they were chosen, and as far as they fit."""
        place = self._frame.place
        chosen = [
            int(text) if (text := place.kept.get(name, "")).isdecimal() else None for name in self._names()
        ]
        width, height = self._room
        if self.layout == "below":
            most = height - 1 - _CARD[1]
            return (None if chosen[0] is None else max(_LIST[1], min(chosen[0], most))), None
        left, evidence = chosen
        taken = 1 + _CARD[0]
        if evidence is not None and self._has_evidence:
            least = _LIST[0] + 1 if self._has_list else 0
            evidence = max(_CARD[0], min(evidence, width - taken - least))
        if left is not None:
            beside = 1 + (evidence or _CARD[0]) if self._has_evidence else 0
            left = max(_LIST[0], min(left, width - taken - beside))
        return left, evidence

    def look(self) -> None:
        """Give the parts their sizes."""
        frame, place = self._frame, self._frame.place
        is_alone = frame.has_class("-zoom")
        frame.set_class(is_alone and frame.focused is place.evidence, "-zoom-evidence")
        if self.layout == "single" or is_alone:
            sizes: tuple[int | None, int | None] = (None, None)
        else:
            sizes = self._fitting()
        _set(place.list_side, "width", None if self.layout == "below" else sizes[0])
        _set(place.list_side, "height", sizes[0] if self.layout == "below" else None)
        _set(place.evidence, "width", sizes[1])
        # The crumbs begin above the card.
        beside = self._has_list and self.layout != "below"
        _set(frame.asking.line, "width", sizes[0] if beside else None)
        self._kept[_EVIDENCE] = "off" if frame.has_class("-no-evidence") else "on"

    # Moving.

    def _move(self, right: int, down: int) -> None:
        frame = self._frame
        place, left = frame.place, frame.place.list_side
        if self.layout == "single" or frame.has_class("-zoom"):
            frame.say("One part is shown alone; there is no split.")
        elif self.layout == "below":
            if right:
                frame.say("List and card stand above each other; ↑ and ↓ move the split.")
            else:
                self._resize(0, left.outer_size.height, down, "list")
        elif down:
            frame.say("List and card stand side by side; ← and → move the split.")
        elif frame.focused is place.evidence or not self._has_list:
            self._resize(1, place.evidence.outer_size.width, -right, "evidence")
        else:
            self._resize(0, left.outer_size.width, right, "list")

    def _resize(self, which: int, now: int, by: int, part: str) -> None:
        name = self._names()[which]
        kept = self._frame.place.kept
        before = self._fitting()[which] or now
        had = kept.get(name)
        kept[name] = str(before + by * _STEP)
        fits = self._fitting()[which] or now
        if fits == before:
            if had is None:
                del kept[name]
            else:
                kept[name] = had
            self._frame.say(f"The {part if by < 0 else 'card'} is as small as it gets.")
        else:
            kept[name] = str(fits)

    # The mouse.

    def take_mouse(self, event: events.MouseEvent) -> bool:
        """Let the line between two parts be dragged; returns whether the event was about that."""
        if not self._frame.is_open:
            return False
        if isinstance(event, events.MouseDown):
            self._dragged = self._split_at(event.screen_x, event.screen_y)
            return self._dragged is not None
        which = self._dragged
        if which is None:
            return False
        if isinstance(event, events.MouseUp):
            self._dragged = None
        elif isinstance(event, events.MouseMove):
            self._drag(which, event.screen_x, event.screen_y)
        return True

    def _split_at(self, x: int, y: int) -> int | None:
        """Return which split has its line there: 0 that of the list, 1 that of the evidence."""
        frame = self._frame
        if self.layout == "single" or frame.has_class("-zoom", "-plain"):
            return None
        area, left, evidence = frame.place.region, frame.place.list_side.region, frame.place.evidence.region
        if not area.contains(x, y):
            return None
        if self.layout == "below":
            return 0 if left and y == left.bottom else None
        if left and x == left.right:
            return 0
        return 1 if evidence and x == evidence.x > area.x else None

    def _drag(self, which: int, x: int, y: int) -> None:
        area, kept, name = self._frame.place.region, self._frame.place.kept, self._names()[which]
        size = area.right - x if which else y - area.y if self.layout == "below" else x - area.x
        kept[name] = str(max(0, size))
        kept[name] = str(self._fitting()[which] or size)
        self.look()


def _set(widget: Widget, rule: str, size: int | None) -> None:
    if size is not None:
        setattr(widget.styles, rule, size)
    elif widget.styles.inline.has_rule(rule):
        widget.styles.inline.clear_rule(rule)
        widget.refresh(layout=True)

"""Going about in what is shown: into a card and out again, from part to part, back and forward, and by a letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.values import dataclass
from workbench.tui.keys.table import BY_NAME, COMMAND, PLACES
from workbench.tui.parts.line import Jumpable, Labels, letters

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from workbench.tui.frame.screen import Frame

_LONGEST = 100


class Walking:
    """Takes the keys from part to part, and remembers where one was."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._trail = Trail()
        self.commands: dict[str, Callable[[], None]] = {
            "back": lambda: self._walk(-1, "back"),
            "forward": lambda: self._walk(1, "forward"),
            "open": self._open,
            "out": self._out,
            "next-part": lambda: self._step_part(1),
            "previous-part": lambda: self._step_part(-1),
        }

    def visit(self, *, even_here: bool) -> None:
        """Remember the place that is shown as a step that `[` goes back from.

        Args:
            even_here: Whether it is a step even where one stays in the same spot.
        """
        self._trail.visit(Step(self._frame.place_name, self._frame.place.spot), even_here=even_here)

    def leave(self) -> None:
        """Keep where in the place one was."""
        place = self._frame.place
        subject = place.current if place.spot else None
        title = BY_NAME[self._frame.place_name].title if subject is None else subject.title
        self._trail.leave(place.cursor_key, title)

    @property
    def beside(self) -> tuple[str, str]:
        """Return what the steps before and after the present one are called."""
        before, after = self._trail.beside(-1), self._trail.beside(1)
        return before.title if before else "", after.title if after else ""

    def _walk(self, by: int, command: str) -> None:
        frame = self._frame
        place = frame.place
        if by < 0 and (frame.focused is place.evidence or (frame.focused is place.card and place.visited)):
            # Where a link or the evidence led from is nearer than the place before.
            self._out()
            return
        self.leave()
        step = self._trail.walk(by)
        if step is None:
            frame.say(frame.keymap.command(command).elsewhere)
        else:
            frame.go(step.place, row=step.row, spot=step.spot, visit=False)

    def _open(self) -> None:
        frame, place = self._frame, self._frame.place
        if frame.focused is place.main and place.do("open"):
            return
        if frame.focused is place.main and place.cursor_key:
            frame.read()
        elif frame.part is not None and frame.part.do("open"):
            return
        elif frame.focused is place.evidence:
            frame.say("No link is chosen here; ⸨out⸩ goes back.")
        else:
            frame.say(frame.keymap.command("open").elsewhere)

    def _out(self) -> None:
        """Go one step out: from evidence to where it was opened, from a link, from card to list, from a zoomed part."""
        frame, place = self._frame, self._frame.place
        if frame.looking.stop_opening():
            frame.say("The evidence is not opened.")
        elif frame.focused is place.evidence:
            frame.looking.leave_evidence()
        elif place.visited:
            place.visited.pop()
            frame.read_card()
        elif frame.focused is place.card:
            frame.remove_class("-reading")
            frame.focus_place()
        elif frame.has_class("-zoom"):
            frame.remove_class("-zoom")
            frame.redraw()
        elif place.list.clear_marks():
            frame.say("Nothing is marked any more.")
        elif place.do("out"):
            frame.redraw()
        elif not BY_NAME[frame.place_name].key and self._trail.beside(-1) is not None:
            self._walk(-1, "back")
        elif frame.place_name != PLACES[0].name and frame.place_named(PLACES[0].name) is not None:
            frame.go(PLACES[0].name)
        elif not frame.working.stop():
            frame.say(frame.keymap.command("out").elsewhere)

    def _step_part(self, by: int) -> None:
        frame, place = self._frame, self._frame.place
        parts = [part for part in place.parts if part in frame.focus_chain]
        if len(parts) > 1 and frame.focused in parts:
            frame.set_focus(parts[(parts.index(frame.focused) + by) % len(parts)])
        elif frame.focused is place.main:
            self._open()
        else:
            self._out()


# Where one has been: the steps that `[` and `]` walk.


@dataclass(frozen=True)
class Step:
    """A stay somewhere.

    Args:
        place: Id of the place.
        spot: Where in it one was, as the place says: the entity in the middle, the moment looked at.
        row: Id of the row that the cursor was on.
        title: What it is called.
    """

    place: str
    spot: str = ""
    row: str = ""
    title: str = ""


class Trail:
    """Steps in the order in which they were made; one of them is the present one."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._at = -1

    def visit(self, step: Step, *, even_here: bool) -> None:
        """Make a step; what lay ahead is given up.

        Args:
            step: Where one goes.
            even_here: Whether it is a step even where one stays in the same spot.
        """
        here = self._steps[self._at] if self._steps else None
        if here is None or even_here or (here.place, here.spot) != (step.place, step.spot):
            self._steps = [*self._steps[: self._at + 1], step][-_LONGEST:]
            self._at = len(self._steps) - 1

    def leave(self, row: str, title: str) -> None:
        """Keep which row the cursor was on when one went away."""
        if self._steps:
            self._steps[self._at] = replace(self._steps[self._at], row=row, title=title)

    def walk(self, by: int) -> Step | None:
        """Go back (-1) or forward (+1); returns where one is then, None where the trail ends."""
        if not 0 <= self._at + by < len(self._steps):
            return None
        self._at += by
        return self._steps[self._at]

    def beside(self, by: int) -> Step | None:
        """Return the step before the present one (-1), or after it (+1)."""
        at = self._at + by
        return self._steps[at] if 0 <= at < len(self._steps) else None


class Jumping:
    """Jumps."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._targets: dict[str, tuple[Widget, str]] = {}
        self._begun = ""

    def do(self, command: str) -> bool:
        """Put the letters on everything that can be seen."""
        if command != "jump":
            return False
        found = [
            (part, x, y, target)
            for part in self._parts()
            if isinstance(part, Jumpable)
            for x, y, target in part.spots()
        ]
        if not found:
            self._frame.say(COMMAND["jump"].elsewhere)
            return True
        self._begun, self._targets = "", {}
        labels: dict[Widget, Labels] = {}
        for label, (part, x, y, target) in zip(letters(len(found)), found, strict=False):
            self._targets[label] = (part, target)
            labels.setdefault(part, {}).setdefault(y, []).append((max(0, x), label))
        self._show(labels)
        self._frame.hint((("a letter", "goes there"), ("esc", "leave")))
        return True

    def _parts(self) -> list[Widget]:
        """Return what may have something to jump to, and can be seen; what has the keys comes first."""
        frame, place = self._frame, self._frame.place
        lines = [frame.query_one(f"#{name}") for name in ("rail", "line-of-places")]
        parts = [*place.parts, *lines]
        parts.sort(key=lambda part: part is not frame.focused)
        return [part for part in parts if part.region and part.is_on_screen]

    def _show(self, labels: dict[Widget, Labels]) -> None:
        for part in self._parts():
            if isinstance(part, Jumpable):
                part.labels = labels.get(part, {})
                part.refresh()

    def take(self, key: str) -> bool:
        """Go where the letter is, while there are any."""
        if not self._targets:
            return False
        if key.startswith("ctrl+"):
            self._end()
            return False
        begun = self._begun + key
        if begun in self._targets:
            part, target = self._targets[begun]
            self._end()
            if part.focusable and isinstance(part, Jumpable):
                self._frame.set_focus(part)
            if isinstance(part, Jumpable):
                part.jump_to(target)
        elif any(label.startswith(begun) for label in self._targets):
            self._begun = begun
        else:
            self._end()
            if key != "escape":
                self._frame.say(f"No place here has the letters {begun}.")
        return True

    def look(self) -> None:
        """Take the letters away once something else has the keys or is shown."""
        if self._targets:
            self._end()

    def _end(self) -> None:
        self._targets, self._begun = {}, ""
        self._show({})
        self._frame.hint(())

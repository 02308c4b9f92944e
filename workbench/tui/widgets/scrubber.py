"""A history to move about in: a ribbon with the moment one is at, and below it what was done then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message
from textual.widget import Widget

from workbench.display.course import commit_in
from workbench.display.ink import BLANK, Span
from workbench.display.scrubber import draw_scrubber, ribbon_place
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import PAPER
from workbench.tui.widgets.painted import palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from textual.geometry import Size
    from textual.strip import Strip

    from workbench.display.course import Course, Window
    from workbench.display.ink import Line
    from workbench.display.scrubber import Pointers

# On a lower screen all lanes are drawn as one.
_LANES_FROM = 20
_AIR_FROM = 28


@dataclass(frozen=True)
class Scene:
    """What a scrubber shows.

    Args:
        course: The history, with one commit at least.
        window: The stretch of time shown.
        pointers: Where one is.
        zone: In which days begin.
        says: Draws what the commit did, for a width in cells.
    """

    course: Course
    window: Window
    pointers: Pointers
    zone: tzinfo | None
    says: Callable[[int], Line]


class Scrubber(Widget, can_focus=True):
    """The ribbon. Posts `Sought` for a commit, `Turned` for a nearer or further look, `Opened` for what was done."""

    BINDINGS: ClassVar = bindings(commands.FirstMoment, commands.LastMoment, commands.Open, commands.MoveDown)
    DEFAULT_CSS = "Scrubber { dock: top; height: auto; }"

    class Sought(Message):
        """Another commit was pointed at."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    class Turned(Message):
        """The wheel was turned over a commit."""

        def __init__(self, at: int, closer: bool) -> None:
            super().__init__()
            self.at = at
            self.closer = closer

    class Opened(Message):
        """What was done is to be read closely."""

    class Left(Message):
        """The list below is wanted."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._scene: Scene | None = None
        self._lines: Sequence[Line] = ()
        self._dragging = False

    def show(self, scene: Scene | None) -> None:
        """Show another scene; nothing where there is none."""
        height = self._height(scene)
        relayout = height != self._height(self._scene)
        self._scene = scene
        self._lines = ()
        self.refresh(layout=relayout)

    def lines(self, width: int) -> Sequence[Line]:
        """Return what is shown at a width."""
        scene = self._scene
        if scene is None:
            return ()
        drawn = draw_scrubber(
            scene.course, scene.window, scene.pointers, width, scene.zone, lanes=self._with_lanes
        )
        return (*drawn, scene.says(width))

    @property
    def _with_lanes(self) -> bool:
        return self.app.size.height >= _LANES_FROM

    def _height(self, scene: Scene | None) -> int:
        if scene is None:
            return 0
        lanes = sum(1 for own in scene.course.sums if own[-1]) if self._with_lanes else 1
        return lanes + 3 + (self.app.size.height >= _AIR_FROM)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """Return how many lines there are."""
        return self._height(self._scene)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0 or not self._lines:
            self._lines = self.lines(width)
        line = self._lines[y] if y < len(self._lines) else BLANK
        if line and self.has_focus and y < len(self._lines) - 1:
            line = (Span("▌", "strong"), Span(line[0].text[1:], line[0].role), *line[1:])
        return palette_of(self.app).strip(line, width, PAPER)

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self._lines = ()
        self.refresh(layout=True)

    # --- moving about ---------------------------------------------------------------------------------------

    def action_first_moment(self) -> None:
        self.post_message(self.Sought(0))

    def action_last_moment(self) -> None:
        if self._scene is not None:
            self.post_message(self.Sought(len(self._scene.course) - 1))

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def action_move_down(self) -> None:
        self.post_message(self.Left())

    def _commit_at(self, x: int) -> int | None:
        scene = self._scene
        if scene is None:
            return None
        left, cells = ribbon_place(self.size.width)
        return commit_in(scene.course, scene.window, cells, x - left)

    def _seek(self, x: int) -> None:
        at = self._commit_at(x)
        if at is not None:
            self.post_message(self.Sought(at))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._scene is None or event.button != 1:
            return
        if event.y == len(self._lines) - 1:
            self.post_message(self.Opened())
        elif event.y < len(self._lines) - 1:
            self._dragging = True
            self.capture_mouse()
            self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._seek(event.x)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._turn(event, closer=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._turn(event, closer=False)

    def _turn(self, event: events.MouseEvent, *, closer: bool) -> None:
        at = self._commit_at(event.x)
        if at is not None:
            event.stop()
            self.post_message(self.Turned(at, closer))

"""The ribbon of a history: who changed memory when, and the moment one is at; pointed at, dragged and zoomed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.widget import Widget

from workbench.display.ink import BLANK
from workbench.display.scrubber import HANDS, commit_in, draw_ribbon, draw_scrubber, ribbon_place
from workbench.engine.values import dataclass
from workbench.tui.palette import PAPER, palette_of
from workbench.tui.parts.line import refresh_changed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from textual.geometry import Size
    from textual.strip import Strip

    from workbench.display.ink import Line
    from workbench.display.scrubber import Course, Pointers, Window

# On a lower screen, or above a card, all lanes are drawn as one line.
_LANES_FROM = 30


@dataclass(frozen=True)
class Scene:
    """What a ribbon shows.

    Args:
        course: The history, with one commit at least.
        pointers: Where one is.
    """

    course: Course
    window: Window
    pointers: Pointers
    zone: tzinfo | None


class ScrubberPart(Widget):
    """The ribbon. Posts `Sought` for a commit that is pointed at, `Turned` for a nearer or further look."""

    DEFAULT_CSS = "ScrubberPart { height: auto; width: 1fr; }"

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

    def __init__(self) -> None:
        super().__init__()
        self.scene: Scene | None = None
        self._lines: Sequence[Line] | None = None
        self._dragging = False

    def show(self, scene: Scene | None) -> None:
        """Show another scene; nothing where there is none."""
        height, painted = self._height, self._lines
        self.scene, self._lines = scene, None
        if self._height != height or painted is None:
            self.refresh(layout=self._height != height)
        else:
            self._lines = self.lines(self.size.width)
            refresh_changed(self, self._lines, painted)

    def lines(self, width: int) -> Sequence[Line]:
        """Return what is shown at a width."""
        scene = self.scene
        if scene is None:
            return ()
        if not self._with_lanes:
            return draw_ribbon(scene.course, scene.window, scene.pointers, width)
        return draw_scrubber(
            scene.course, scene.window, scene.pointers, width, scene.zone, hands=("you", *HANDS[1:])
        )

    @property
    def _with_lanes(self) -> bool:
        return self.screen.size.height >= _LANES_FROM and not self.screen.has_class("-below")

    @property
    def _height(self) -> int:
        scene = self.scene
        if scene is None:
            return 0
        if not self._with_lanes:
            return 2 if scene.pointers.mark is not None else 1
        return sum(1 for own in scene.course.sums if own[-1]) + 2

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        return self._height

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._lines is None:
            self._lines = self.lines(width)
        return palette_of(self.app).strip(self._lines[y] if y < len(self._lines) else BLANK, width, PAPER)

    def on_resize(self, _event: events.Resize) -> None:
        self._lines = None
        self.refresh(layout=True)

    def _commit_at(self, x: int) -> int | None:
        scene = self.scene
        if scene is None:
            return None
        left, cells = ribbon_place(self.size.width, lanes=self._with_lanes)
        return commit_in(scene.course, scene.window, cells, x - left)

    def _seek(self, x: int) -> None:
        if (at := self._commit_at(x)) is not None:
            self.post_message(self.Sought(at))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button == 1:
            self._dragging = True
            self.capture_mouse()
            self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._seek(event.x)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        self._dragging = False
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._turn(event, closer=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._turn(event, closer=False)

    def _turn(self, event: events.MouseEvent, *, closer: bool) -> None:
        if (at := self._commit_at(event.x)) is not None:
            event.stop()
            self.post_message(self.Turned(at, closer))

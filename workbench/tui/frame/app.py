"""The app around the frame: keys in the order in which they were typed, themes, and leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.message import Message
from textual.widgets import Input, TextArea

from workbench.tui.frame.remembered import Remembered
from workbench.tui.frame.screen import Frame
from workbench.tui.keys.dispatch import Keymap
from workbench.tui.palette import Palette
from workbench.tui.themes import load_themes, textual_theme
from workbench.tui.typed_ahead import TypedAhead

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.workspace import Workspace
    from workbench.tui.typed_ahead import Typed


# Seconds that a key waits for the rows that it is about.
_SECONDS_TO_ANSWER = 2.0


def _stamp() -> float:
    """Return the present on the clock that Textual stamps keys with."""
    return Message().time


class FrameApp(App[None], inherit_bindings=False):
    """The bench on one workspace.

    Args:
        workspace: Opened with `reads_refresh=False`; stays open until the app is left.
        follow: Take in what others change while the bench is open, on a thread of its own.
        clock: Seconds, on the clock that keys are stamped with.
    """

    TITLE = "Workbench"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, workspace: Workspace, *, follow: bool = False, clock: Callable[[], float] = _stamp
    ) -> None:
        super().__init__()
        self._follow = follow
        self.animation_level = "none"
        self.workspace = workspace
        self.remembered = Remembered.load(workspace.state)
        self.themes = load_themes()
        for each in self.themes.by_name.values():
            self.register_theme(textual_theme(each))
        chosen = self.themes.choose(self.remembered.theme)
        self.palette = Palette(chosen)
        self.theme = chosen.name
        self.frame = Frame(workspace, self.remembered, Keymap(), clock)
        self._typed_ahead = TypedAhead(
            self, self._deliver, self._must_wait, most_seconds=_SECONDS_TO_ANSWER, given_up=self._give_up
        )

    def on_mount(self) -> None:
        self.push_screen(self.frame)
        if self._follow:
            self.call_after_refresh(self.frame.follow)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._typed_ahead.take(event)
        else:
            await super().on_event(event)

    async def _deliver(self, typed: Typed) -> None:
        """Hand a key to the frame, or to the line that is being written."""
        if self.screen is self.frame:
            if isinstance(typed, events.Key) and self.frame.take_key(typed.key, typed.time):
                return
            if isinstance(typed, events.Paste) and not isinstance(self.focused, Input | TextArea):
                self.frame.say("Text is pasted where one writes: / asks, n writes a new memory.")
                return
        await super().on_event(typed)

    def _must_wait(self, typed: Typed) -> bool:
        key = typed.key if isinstance(typed, events.Key) else ""
        return self.screen is self.frame and self.frame.must_wait(key)

    def _give_up(self, typed: Typed) -> None:
        if isinstance(typed, events.Key):
            self.frame.give_up(typed.key)

    def watch_theme(self, name: str) -> None:
        """Take the colours of another theme."""
        self.palette = Palette(self.themes.choose(name))
        self.remembered.theme = name
        if self.is_running:
            for widget in self.screen.query("*"):
                widget.refresh()

    def next_theme(self) -> str:
        """Take the theme after the present one; returns its name."""
        names = sorted(self.themes.by_name)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
        return self.theme

    def leave(self) -> None:
        """End the bench; what was begun is finished, and where one was is kept."""
        self.frame.close()
        self.remembered.keep(self.workspace.state)
        self.exit()

"""The app around the frame: keys in the order in which they were typed, themes, and leaving."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.message import Message
from textual.widgets import Input, TextArea

from workbench.tui.frame.pressing import TypedAhead
from workbench.tui.frame.remembered import Remembered
from workbench.tui.frame.screen import Frame
from workbench.tui.ground import LateAnswer, Notice
from workbench.tui.look import AUTO, keep_taste, read_look, stamp
from workbench.tui.palette import Palette
from workbench.tui.themes import textual_theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.pressing import Typed
    from workbench.tui.ground import Answer
    from workbench.tui.themes import ThemeFile


# Seconds between two looks whether files of themes and keys have changed.
_LOOK_EVERY = 1.0
_NOTICES = {Notice.DARK.value: True, Notice.LIGHT.value: False}


def _stamp() -> float:
    """Return the present on the clock that Textual stamps keys with."""
    return Message().time


class FrameApp(App[None], inherit_bindings=False):
    """The bench on one workspace.

    Args:
        workspace: Opened with `reads_refresh=False`; stays open until the app is left.
        follow: Take in what others change while the bench is open, on a thread of its own.
        clock: Seconds, on the clock that keys are stamped with.
        config_folder: Where the person's `bench.toml` and themes are; None for none.
        dark: Whether the ground of the terminal is; None where it does not say.
        at: A memory or file to begin at.
        on_shown: Called once the first place is on the screen.
    """

    TITLE = "Workbench"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        workspace: Workspace,
        *,
        config_folder: Path | None = None,
        dark: bool | None = None,
        at: str = "",
        on_shown: Callable[[], object] | None = None,
        follow: bool = False,
        clock: Callable[[], float] = _stamp,
    ) -> None:
        wants_colour = not os.environ.get("NO_COLOR")
        with _unset("NO_COLOR"):
            # Textual would grey our own looks of no colour.
            super().__init__()
        self._follow = follow
        self.animation_level = "none"
        self.workspace = workspace
        self.config_folder = config_folder
        self.dark_ground = dark
        self._colours = _COLOURS.get(self.console.color_system or "", 1 << 24) if wants_colour else 0
        self._late: LateAnswer | None = None
        self._typed_before = ""
        self.remembered = Remembered.load(workspace.state)
        self.look = read_look(config_folder, workspace.settings)
        self._files = stamp(config_folder)
        self._begin_at, self._on_shown = at, on_shown
        for each in self.look.themes.by_name.values():
            self.register_theme(textual_theme(each))
        chosen = self._chosen_theme()
        self.palette = Palette(chosen, plain=self.look.plain)
        self._wear(chosen)
        self.frame = Frame(workspace, self.remembered, self.look, clock, self._first_shown)
        self.frame.follows = follow
        self._typed_ahead = TypedAhead(self, self._deliver, self._must_wait, given_up=self._give_up)

    def on_mount(self) -> None:
        self.push_screen(self.frame)
        if self.config_folder is not None:
            self.set_interval(_LOOK_EVERY, self._look_again)

    def _first_shown(self) -> None:
        """Follow memory, and go where one wants to begin, once the first place is on the screen."""
        for event in XTermParser().feed(self._typed_before):
            self.post_message(event)
        if self._on_shown is not None:
            self._on_shown()
        if self._begin_at:
            self.frame.looking.open_named(self._begin_at)
        if self._follow:
            self.frame.follow()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self._is_of_the_terminal(event):
            return
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self.frame.courtesy.begin()
            await self._typed_ahead.take(event)
        elif isinstance(event, events.MouseEvent) and not event.is_forwarded and self._is_dragging(event):
            event.stop()
        else:
            await super().on_event(event)

    def _is_of_the_terminal(self, event: events.Key) -> bool:
        """Take what the terminal says of its ground, which comes as keys."""
        if event.key in _NOTICES:
            self.take_ground(_NOTICES[event.key])
            return True
        return self._late is not None and self._late.swallows(event.key, event.character)

    def _is_dragging(self, event: events.MouseEvent) -> bool:
        return self.screen is self.frame and self.frame.splits.take_mouse(event)

    async def _deliver(self, typed: Typed) -> None:
        """Hand a key to the frame, or to the line that is being written."""
        if self.screen is self.frame:
            if isinstance(typed, events.Key) and self.frame.pressing.take(typed.key, typed.time):
                return
            if isinstance(typed, events.Paste) and not isinstance(self.focused, Input | TextArea):
                self.frame.say("Text is pasted where one writes: ⸨ask⸩ asks, ⸨new⸩ writes a new memory.")
                return
        await super().on_event(typed)

    def _must_wait(self, typed: Typed) -> bool:
        key = typed.key if isinstance(typed, events.Key) else ""
        return self.screen is self.frame and self.frame.pressing.must_wait(key)

    def _give_up(self, typed: Typed) -> None:
        if isinstance(typed, events.Key):
            self.frame.pressing.give_up(typed.key)

    def watch_theme(self, name: str) -> None:
        """Take the colours of another theme."""
        self.palette = Palette(self.look.theme_named(name), plain=self.look.plain)
        if self.is_running:
            for widget in self.screen.query("*"):
                widget.refresh()

    def _chosen_theme(self) -> ThemeFile:
        return self.look.theme(dark=self.dark_ground, colours=self._colours)

    @property
    def follows_ground(self) -> bool:
        """Return whether the ground of the terminal decides on the theme."""
        return self.look.wanted == AUTO and self._colours > _FEW

    def begin_on(self, answer: Answer) -> None:
        """Be told, before the bench is run, what the terminal says of its ground."""
        self.dark_ground = answer.dark
        self._wear(self._chosen_theme())
        self._late = LateAnswer(self.take_ground) if answer.may_be_late else None
        self._typed_before = answer.typed

    def take_ground(self, dark: bool) -> None:
        """Take note that the ground of the terminal is dark, or light; a theme that follows it does."""
        self.dark_ground = dark
        self._wear(self._chosen_theme())

    def change_look(self, values: Mapping[str, str | bool | None]) -> str:
        """Write tastes into `bench.toml` and take them at once.

        Args:
            values: As `look.keep_taste` takes them.

        Returns:
            Why they could not be kept, or an empty string.
        """
        problem = keep_taste(self.config_folder, values)
        if self.config_folder is None and "theme" in values:
            self.look = replace(self.look, wanted=str(values["theme"] or AUTO))
        self._take_look()
        return problem

    def try_theme(self, name: str) -> None:
        """Show a theme without keeping it; `auto` is the one that the terminal asks for."""
        self._wear(replace(self.look, wanted=name).theme(dark=self.dark_ground, colours=self._colours))

    def _wear(self, theme: ThemeFile) -> None:
        # Those that Textual brings under the same name lack the colours of ours.
        self.register_theme(textual_theme(theme))
        self.theme = theme.name

    def _look_again(self) -> None:
        if stamp(self.config_folder) != self._files:
            self._take_look()
            problems = self.look.problems
            more = f" And {len(problems) - 1} more; Settings has them." if len(problems) > 1 else ""
            self.frame.say(f"{problems[0]}{more}" if problems else "", is_problem=bool(problems))

    def _take_look(self) -> None:
        self._files = stamp(self.config_folder)
        if self.config_folder is not None:
            self.look = read_look(self.config_folder, self.workspace.settings)
        for each in self.look.themes.by_name.values():
            self.register_theme(textual_theme(each))
        chosen = self._chosen_theme()
        if chosen.name == self.theme:
            # The same name may have other colours now.
            self.mutate_reactive(FrameApp.theme)
        self._wear(chosen)
        self.frame.take_look(self.look)

    def next_theme(self) -> str:
        """Take the theme after the present one, and keep it; returns its name."""
        names = sorted(self.look.themes.by_name)
        name = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]
        self.change_look({"theme": name})
        return name

    def leave(self) -> None:
        """End the bench; what was begun is finished, and where one was is kept."""
        self.frame.close()
        self.remembered.keep(self.workspace.state)
        self.exit()


_FEW = 16
_COLOURS = {"standard": _FEW, "windows": _FEW, "256": 256, "truecolor": 1 << 24}


@contextmanager
def _unset(name: str) -> Iterator[None]:
    """Do without a variable of the environment meanwhile."""
    value = os.environ.pop(name, None)
    try:
        yield
    finally:
        if value is not None:
            os.environ[name] = value

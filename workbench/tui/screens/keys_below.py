"""What cards have in common whose keys stand below them, each to be clicked as well."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.screen import Screen

from workbench.tui.keymap import shown_key
from workbench.tui.views.status import KEY_LINK, fitting_keys
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.keymap import Command
    from workbench.tui.overlays import Overlays


class KeysBelow(Screen[Any]):
    """A screen with one status line, which shows its keys."""

    def keys(self) -> Sequence[tuple[type[Command], str]]:
        """Return the commands that mean something now, each with its word, the most important first."""
        raise NotImplementedError

    def draw_keys(self) -> None:
        """Show the keys that mean something now."""
        remapped = cast("Overlays", self.app).key_overrides
        keys = [(shown_key(remapped.get(command.id, command.key)), word) for command, word in self.keys()]
        self.query_one(StatusLine).show(partial(fitting_keys, keys))

    @on(StatusLine.Pressed)
    async def _key_pressed(self, event: StatusLine.Pressed) -> None:
        event.stop()
        for command, word in self.keys():
            if event.link == KEY_LINK + word:
                await self.run_action(command.action)
                return

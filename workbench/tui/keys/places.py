"""The places that keys lead to: name, key, title and the module that has each."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.tui.places.place import Place


@dataclass(frozen=True)
class Listed:
    """A place of the rail.

    Args:
        name: Its id, and the name of its module.
        key: What goes there.
        title: What it is called.
        room: The package that has its module.
    """

    name: str
    key: str
    title: str
    room: str = "places"

    def make(self) -> Place | None:
        """Return the place, or None where there is no such module."""
        module = f"workbench.tui.{self.room}.{self.name}"
        if find_spec(module) is None:
            return None
        made = getattr(import_module(module), f"{self.title}Place")
        return cast("Place", made(self.name))


PLACES = (
    Listed("today", "1", "Today"),
    Listed("inbox", "2", "Inbox"),
    Listed("core", "3", "Core"),
    Listed("timeline", "4", "Timeline"),
    Listed("graph", "5", "Graph"),
    Listed("decay", "6", "Decay"),
    Listed("history", "7", "History"),
    Listed("sessions", "8", "Sessions"),
    Listed("settings", ",", "Settings"),
)
ASK = Listed("ask", "", "Ask")
"""Where answers are shown; the ask line leads there, no key of its own."""
HEALTH = Listed("health", "", "Health", "sheets")
IMPORT = Listed("importing", "", "Import", "sheets")
BY_NAME = {place.name: place for place in (*PLACES, ASK, HEALTH, IMPORT)}

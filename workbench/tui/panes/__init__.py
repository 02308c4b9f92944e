"""The panes of the bench: a list and a detail each, one grammar for all."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from workbench.tui.panes.base import Pane

# The id of each pane in places, its word in the top line, and its class; imported when it is first shown.
PANES: tuple[tuple[str, str, str], ...] = (
    ("core", "Core", "CorePane"),
    ("timeline", "Timeline", "TimelinePane"),
    ("audit", "Audit", "AuditPane"),
    ("search", "Search", "SearchPane"),
    ("inbox", "Inbox", "InboxPane"),
    ("graph", "Graph", "GraphPane"),
    ("decay", "Decay", "DecayPane"),
    ("past", "Past", "PastPane"),
    ("sessions", "Sessions", "SessionsPane"),
)
# The panes whose memories can be found from anywhere, those first that hold the fewest and the best known.
FOUND_IN = ("core", "graph", "sessions", "timeline", "inbox", "audit")


def pane_class(name: str) -> type[Pane]:
    """Return the class of the pane of that id."""
    class_name = next(each for known, _, each in PANES if known == name)
    return cast("type[Pane]", getattr(import_module(f"workbench.tui.panes.{name}"), class_name))

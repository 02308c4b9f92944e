"""The live counts beside the places, and what undo and redo would take; what takes its time is counted later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.display.action_words import by_title
from workbench.display.words import counted
from workbench.engine.errors import DocumentError, HistoryDamaged, WorkbenchError
from workbench.engine.results.audit import NextSteps
from workbench.tui.places.entity_reading import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.engine.results.audit import NextStep
    from workbench.engine.results.memories import CoreView
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.reading import Reading

_WEEK = 7


class Counts:
    """What is counted.

    Args:
        reading: Asks memory.
        drawn: Called when there is something new to draw.
    """

    def __init__(self, reading: Reading, drawn: Callable[[], object]) -> None:
        self._reading = reading
        self._drawn = drawn
        self._is_behind = False
        self.was_read = False
        """Whether there is a first count, so that none means nothing."""
        self.by_place: dict[str, str] = {}
        self.steps = NextSteps()
        self.carries = (0, 0)
        """Tokens that the agent always carries, and their cap."""

    def read(self) -> None:
        """Count again what is quick to count; the rest follows with the next `catch_up`."""
        self._is_behind = True
        self._reading.read("counts", _quick, self._show)

    def catch_up(self) -> None:
        """Count the rest, where anything has changed since it was counted."""
        if self._is_behind:
            self._is_behind = False
            self._reading.read("large counts", _large, self._add, lambda _: None)

    def _show(self, found: tuple[Mapping[str, str], NextSteps, CoreView]) -> None:
        counts, self.steps, core = found
        self.carries = (core.tokens, core.cap)
        self._add(counts)
        if not self.was_read:
            self.was_read = True
            self.catch_up()

    def _add(self, counts: Mapping[str, str]) -> None:
        self.by_place |= counts
        self._drawn()


def _quick(workspace: Workspace) -> tuple[Mapping[str, str], NextSteps, CoreView]:
    """Count what takes some milliseconds, however large memory is; called on a thread."""
    core = workspace.core()
    counts = {
        "today": _counted(lambda: f"▲{count}" if (count := len(workspace.alerts_waiting())) else ""),
        "inbox": _counted(lambda: f"{count}" if (count := workspace.inbox_waiting()) else ""),
        "core": f"{100 * core.tokens // core.cap}%" if core.cap else "",
        "timeline": f"{workspace.timeline(limit=1).total:,}",
        "graph": f"{workspace.graph_count():,}",
    }
    try:
        steps = _by_title(workspace, workspace.next_steps())
    except WorkbenchError:
        steps = NextSteps()
    return counts, steps, core


def _by_title(workspace: Workspace, steps: NextSteps) -> NextSteps:
    """Return what undo and redo would do, memories in it called by their words."""

    def titled(step: NextStep | None) -> NextStep | None:
        return step and replace(step, summary=by_title(step.summary, lambda id_: title_of(workspace, id_)))

    return replace(steps, undo=titled(steps.undo), redo=titled(steps.redo))


def _large(workspace: Workspace) -> Mapping[str, str]:
    """Count what looks at every memory, action or session; called on a thread."""

    def falls() -> str:
        found = workspace.decay_falls(_WEEK).falls
        count = len({fall.id for fall in found if fall.store != "core"})
        return f"{count:,}↓" if count else ""

    def notices() -> str:
        count = len(workspace.broken_parts()) + (workspace.index_status().fallback is not None)
        return counted(count, "notice") if count else ""

    return {
        "decay": _counted(falls),
        "health": _counted(notices),
        "history": _counted(lambda: f"{workspace.action_count():,}"),
        "sessions": _counted(lambda: f"{len(workspace.sessions().sessions):,}"),
    }


def _counted(count: Callable[[], str]) -> str:
    """Return a count; of what is damaged a sign, and the place says what is wrong. It costs no other count."""
    try:
        return count()
    except (HistoryDamaged, DocumentError):
        return "▲"
    except WorkbenchError:
        return ""

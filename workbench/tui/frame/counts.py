"""The live counts beside the places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import DocumentError, HistoryDamaged

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.audit import NextSteps
    from workbench.engine.workspace import Workspace

_WEEK = 7


def read_counts(workspace: Workspace) -> tuple[dict[str, str], NextSteps]:
    """Count what each place has, as its rail says it, and what undo and redo would take; called on a thread."""
    alerts = len(workspace.alerts_waiting())
    waiting = workspace.inbox_waiting()
    core = workspace.core()
    falls = len({fall.id for fall in workspace.decay_falls(_WEEK).falls if fall.store != "core"})
    counts = {
        "today": f"▲{alerts}" if alerts else "",
        "inbox": f"{waiting}" if waiting else "",
        "core": f"{100 * core.tokens // core.cap}%" if core.cap else "",
        "timeline": f"{workspace.timeline(limit=1).total:,}",
        "graph": f"{len(workspace.graph_entities().entities):,}",
        "decay": f"{falls}↓" if falls else "",
        "history": _counted(workspace.action_count),
        "sessions": _counted(lambda: len(workspace.sessions().sessions)),
    }
    return counts, workspace.next_steps()


def _counted(count: Callable[[], int]) -> str:
    """Count what lies in a file of its own; one that is damaged costs no other count."""
    try:
        return f"{count():,}"
    except (HistoryDamaged, DocumentError):
        return "▲"

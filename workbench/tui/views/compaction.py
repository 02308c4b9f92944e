"""Draws a compaction while it runs: what is compacted, its three phases as steps, and how to call it off."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from workbench.engine.results.session_changes import CompactionPhase
from workbench.tui.ink import BLANK, Line, Span, cut, flow, ink
from workbench.tui.views.cycle import AHEAD, DONE, HERE

if TYPE_CHECKING:
    from workbench.engine.results import CompactionProgress

_PHASES: tuple[str, ...] = get_args(CompactionPhase)


def compaction_lines(
    name: str, progress: CompactionProgress | None, *, cancelled: bool, width: int
) -> list[Line]:
    """Draw what is compacted and how far it has come, and a space below.

    Args:
        name: Of the session.
        progress: None before the first phase.
        cancelled: Whether it was called off and is about to stop.
        width: Cells.
    """
    told = ink(f"Compacting “{name}”   ", "decide", max(1, width - 9))
    state: Line = (
        (Span("stopping…", "decide"),) if cancelled else (Span("C", "strong"), Span(" cancel", "soft"))
    )
    at = _PHASES.index(progress.phase) if progress is not None else -1
    steps = [_step(phase, index, at, progress) for index, phase in enumerate(_PHASES)]
    return [cut((told, *state), width), *flow(steps, width), BLANK]


def _step(phase: str, index: int, at: int, progress: CompactionProgress | None) -> Line:
    if index > at or progress is None:
        return (Span(f"{AHEAD} {phase}", "faint"),)
    if index < at:
        return (Span(f"{DONE} {phase}", "soft"),)
    figures = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    return (Span(f"{HERE} {phase}", "strong"), Span(figures, "soft"))

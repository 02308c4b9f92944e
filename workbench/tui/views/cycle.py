"""Draws a cycle of reflection while it runs: its five phases as steps, and the tokens it has taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.results import Phase
from workbench.tui.ink import Line, Span, cut, flow, gap

if TYPE_CHECKING:
    from workbench.engine.results import Progress, Reflected

DONE, HERE, AHEAD = "✓", "●", "○"


def cycle_lines(progress: Progress | None, *, cancelled: bool, width: int) -> list[Line]:
    """Draw the steps, as many beside one another as there is room, and below them what it took so far.

    Args:
        progress: None before the first phase.
        cancelled: Whether it was called off and is about to stop.
        width: Cells.
    """
    phases = tuple(Phase)
    at = phases.index(progress.phase) if progress is not None else -1
    steps = [_step(phase, index, at, progress) for index, phase in enumerate(phases)]
    lines = flow(steps, width)
    tokens = f"{progress.tokens:,} of {progress.cap:,} tokens" if progress is not None else "beginning…"
    state: Line = (
        (Span("stopping…", "decide"),) if cancelled else (Span("c", "strong"), Span(" cancel", "soft"))
    )
    return [*lines, cut((Span(tokens, "soft"), gap(3), *state), width)]


def _step(phase: Phase, index: int, at: int, progress: Progress | None) -> Line:
    if index > at or progress is None:
        return (Span(f"{AHEAD} {phase}", "faint"),)
    if index < at:
        return (Span(f"{DONE} {phase}", "soft"),)
    figures = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    return (Span(f"{HERE} {phase}", "strong"), Span(figures, "soft"))


def cycle_words(progress: Progress | None) -> str:
    """Say in a word or two how far a cycle is, for the bottom line."""
    phases = tuple(Phase)
    at = phases.index(progress.phase) + 1 if progress is not None else 0
    return f"reflecting {at} of {len(phases)}" if at else "reflecting…"


def cycle_result(reflected: Reflected) -> str:
    """Say in a sentence what a cycle came to."""
    if not reflected.id:
        return reflected.reason or "There was nothing to propose."
    count = len(reflected.review.items)
    return (
        f"{reflected.id} proposes {count} change{'s' * (count != 1)}. Nothing is written before you decide."
    )

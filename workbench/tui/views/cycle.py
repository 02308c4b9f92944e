"""Draws a cycle of reflection while it runs: its five phases as steps, and the tokens it has taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.display.ink import Line, Span, cut, flow, gap
from workbench.engine.results.reviews import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.reviews import Progress, Reflected

DONE, HERE, AHEAD = "✓", "●", "○"


class InPhases(Protocol):
    """How far long work has come: its phase, and how much of it is done."""

    @property
    def phase(self) -> str: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...


def cycle_lines(progress: Progress | None, *, cancelled: bool, width: int) -> list[Line]:
    """Draw the steps, as many beside one another as there is room, and below them what it took so far.

    Args:
        progress: None before the first phase.
        cancelled: Whether it was called off and is about to stop.
        width: Cells.
    """
    phases = tuple(Phase)
    lines = flow(steps(phases, progress), width)
    tokens = f"{progress.tokens:,} of {progress.cap:,} tokens" if progress is not None else "beginning…"
    return [*lines, cut((Span(tokens, "soft"), gap(3), *how_to_stop("c", cancelled=cancelled)), width)]


def steps(phases: Sequence[str], progress: InPhases | None) -> list[Line]:
    """Draw the phases of long work: those that are over, the one that is under way with its figures, those that come.

    Args:
        phases: In their order.
        progress: None before the first of them.
    """
    at = phases.index(progress.phase) if progress is not None else -1
    return [_step(phase, index, at, progress) for index, phase in enumerate(phases)]


def how_to_stop(key: str, *, cancelled: bool) -> Line:
    """Say which key calls long work off, or that it is about to stop."""
    if cancelled:
        return (Span("stopping…", "decide"),)
    return (Span(key, "strong"), Span(" cancel", "soft"))


def _step(phase: str, index: int, at: int, progress: InPhases | None) -> Line:
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

"""Draws a compaction while it runs: what is compacted, its three phases as steps, and how to call it off."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from workbench.display.ink import BLANK, Line, cut, flow, ink
from workbench.engine.results.sessions import CompactionPhase
from workbench.tui.views.cycle import how_to_stop, steps

if TYPE_CHECKING:
    from workbench.engine.results.sessions import CompactionProgress

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
    return [
        cut((told, *how_to_stop("C", cancelled=cancelled)), width),
        *flow(steps(_PHASES, progress), width),
        BLANK,
    ]

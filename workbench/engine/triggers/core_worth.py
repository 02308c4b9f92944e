"""Whether a memory changes core memory, and which block: only who the user is, what is going on, how to behave and
what must never be forgotten (design document §8.2)."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.clauses import sentences
from workbench.engine.triggers.cues import routing_cues

if TYPE_CHECKING:
    from workbench.engine.triggers.model import CoreBlockName, MemoryType

_FIRST_PERSON = lazy_pattern(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|our)\b|我", re.IGNORECASE)
# What was done, is to be done or was felt once tells nothing of how the user wants things.
_PASSING: frozenset[MemoryType] = frozenset({"task", "decision", "emotion"})
_LASTING: frozenset[MemoryType] = frozenset({"preference", "fact", "correction"})


def speaks_of_oneself(plain: str) -> bool:
    """Return whether a text is in the first person."""
    return _FIRST_PERSON.search(plain) is not None


def core_block(plain: str, kind: MemoryType) -> CoreBlockName | None:
    """Return the block of core memory that a memory changes, or None.

    Args:
        plain: The memory with ASCII punctuation.
        kind: Its type.
    """
    cues = routing_cues()
    if kind == "task":
        return None
    # Of a longer story only the first sentence would stand in core memory, so that is what has to be worth it.
    parts = list(islice(sentences(plain), 3))
    if len(parts) > 2:
        plain = plain[parts[0].start : parts[0].end]
    if cues.fits("critical", plain) or (cues.fits("health", plain) and speaks_of_oneself(plain)):
        return "Critical Facts"
    if cues.fits("standing", plain) and not cues.fits("vault", plain):
        return "Persona"
    if (
        kind not in _PASSING
        and kind != "event"
        and cues.fits("manner", plain)
        and not cues.fits("thanks", plain)
    ):
        return "Persona"
    if kind not in _PASSING and cues.fits("identity", plain):
        return "Identity"
    if kind in _LASTING and cues.fits("lasting", plain) and not cues.fits("passing", plain):
        return "Identity"
    if kind not in _PASSING and cues.fits("active", plain):
        return "Active Context"
    return None

"""Scores that were reckoned together, kept for as long as nothing that they depend on changes."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.engine.decay.census import Census, FactColumns
    from workbench.engine.results.decay import DecayView
    from workbench.engine.results.memories import Score


class Grade(NamedTuple):
    """A memory's score without its terms.

    Args:
        value: 0–1.
        status: active, fading, dormant, archived or pinned.
        last_accessed: The day of its last access in the workspace's zone, `2026-02-02`.
    """

    value: float
    status: str
    last_accessed: str


@dataclass
class KnownScores:
    """What was reckoned so far of the scores of one day.

    Args:
        basis: What all of it depends on: the day, the memories, the scores file and the constants, then the accesses
            that are not yet in that file.
        settled: The basis without those accesses, and a census without them.
        memories: The catalog's version, and what the texts of all memories said at it.
        scores: Scores of single memories that were asked for, by id; None for what has none.
        census: What the scores of all memories depend on.
        view: All scores.
        grades: All scores, by id.
        lock: Held by who reckons any of it for all memories, so that two who ask at once do not both do so.
    """

    basis: tuple[Hashable, Hashable] = (None, None)
    settled: tuple[Hashable, Census] | None = None
    memories: tuple[Hashable, FactColumns] | None = None
    scores: dict[str, Score | None] = field(default_factory=dict)
    census: Census | None = None
    view: DecayView | None = None
    grades: Mapping[str, Grade] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)

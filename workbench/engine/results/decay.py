"""Answers about relevance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from workbench.engine.results.memories import Score
from workbench.engine.values import dataclass


@dataclass(frozen=True, slots=True)
class DecayEntry:
    """One memory's score and what it is made of; `value` at forecast days is in `forecast`.

    Args:
        tags: Of an episode.
        entities: Ids of the entities it names, or that it is.
        archived: Whether somebody archived it, as opposed to its score having sunk.
    """

    id: str
    store: str
    base: float
    type_weight: float | None
    access_count: int
    created: datetime
    last_accessed: datetime
    pinned: bool
    raw: float | None
    score: float
    status: str
    title: str = ""
    forecast: Mapping[str, float] | None = None
    would_be: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    archived: bool = False


@dataclass(frozen=True)
class DecayView:
    """All scores at a moment; `lambda_` per day, the thresholds 0-1."""

    now: datetime
    lambda_: float
    entries: tuple[DecayEntry, ...]
    active_threshold: float = 0.5
    fading_threshold: float = 0.2
    archive_threshold: float = 0.05


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """A memory's score on one day.

    Args:
        days: From today; negative in the past.
        value: 0-1; None where it is not known: before the memory was made, and before its last access, whose
            predecessors nobody wrote down.
        status: active, fading, dormant, archived or pinned; `unmade` before it was made, `unrecorded` between
            that day and its last access.
    """

    days: int
    value: float | None
    status: str


@dataclass(frozen=True, slots=True)
class Fall:
    """A memory that passes a threshold if nobody touches it, or has passed it.

    Args:
        before: Its status until then.
        after: Its status from then on.
        threshold: The score it falls below, 0-1.
        days: In how many calendar days, from 1; of what has passed, how many ago as 0 or less.
        on: The day, in the workspace's time zone.
    """

    id: str
    store: str
    title: str
    before: str
    after: str
    threshold: float
    days: int
    on: date


@dataclass(frozen=True)
class Falls:
    """What passes a threshold within some days, the soonest first."""

    now: datetime
    lambda_: float
    within: int
    falls: tuple[Fall, ...]


@dataclass(frozen=True)
class DecayExplained:
    """One memory's score on a day, term by term, and what becomes of it if nobody touches it.

    Args:
        status: As of a `ScorePoint`.
        score: None where it is not known.
        half_life: Days in which its relevance halves; None where it never does.
        last_accessed: When it was last accessed.
        falls: Every threshold that it passes from now on.
        if_used: The same if it were used once more today; empty for what is archived by hand or never decays.
    """

    id: str
    store: str
    title: str
    now: datetime
    on: date
    status: str
    score: Score | None
    half_life: float | None
    created: datetime
    last_accessed: datetime
    falls: tuple[Fall, ...]
    if_used: tuple[Fall, ...] = ()

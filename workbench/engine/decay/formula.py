"""The relevance formula (design document §9.1, §9.2): numbers in, numbers out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, tzinfo

from workbench.engine.clock import in_zone

ACTIVE = "active"
FADING = "fading"
DORMANT = "dormant"
ARCHIVED = "archived"
PINNED = "pinned"

UNENDING = math.inf
"""The type weight of what never decays: vault notes and pinned memories."""


NEVER = 1_000_000
"""Days beyond which nothing is foretold."""


@dataclass(frozen=True)
class Thresholds:
    """Least scores (0-1, falling) of active, fading and dormant memories; below the last is archived."""

    active: float = 0.5
    fading: float = 0.2
    archive: float = 0.05

    @property
    def named(self) -> tuple[tuple[float, str], ...]:
        """Return each threshold with the status that a memory takes on once its score is below it."""
        return ((self.active, FADING), (self.fading, DORMANT), (self.archive, ARCHIVED))


def score(
    base: float, lambda_: float, days: float, access_count: int, type_weight: float, pinned: bool = False
) -> float:
    """Return the raw relevance: base × e^(−λ·days) × log2(access_count + 1) × type_weight.

    Args:
        base: Base relevance, 0-1.
        lambda_: Decay per day.
        days: Whole days since the last access, 0 or more.
        access_count: From 1; writing a memory counts as its first access.
        type_weight: Multiplier of the store; infinite where the memory never decays.
        pinned: Whether it never decays.

    Returns:
        0 or more; may pass 1. Infinite for what never decays.
    """
    if pinned or type_weight == UNENDING:
        return math.inf
    return base * math.exp(-lambda_ * days) * math.log2(access_count + 1) * type_weight


def displayed(raw: float) -> float:
    """Return the score that status and display use: raw relevance, at most 1."""
    return min(raw, 1.0)


def status_of(value: float, thresholds: Thresholds) -> str:
    """Return active, fading, dormant or archived; a score that equals a threshold has not passed it yet."""
    if value >= thresholds.active:
        return ACTIVE
    if value >= thresholds.fading:
        return FADING
    if value >= thresholds.archive:
        return DORMANT
    return ARCHIVED


def days_between(last: datetime, now: datetime, zone: tzinfo) -> int:
    """Return the whole calendar days from one moment to another in a time zone.

    Args:
        last: Aware.
        now: Aware; where it is before `last` (a clock set back), no day has passed.
        zone: The workspace's.
    """
    return max(0, day_of(now, zone) - day_of(last, zone))


def day_of(moment: datetime, zone: tzinfo) -> int:
    """Return the calendar day of an aware moment in a time zone, as a proleptic ordinal."""
    return in_zone(moment, zone).toordinal()


def half_life(lambda_: float) -> float:
    """Return the days in which relevance halves: ln 2 / λ; infinite where nothing decays."""
    return math.log(2) / lambda_ if lambda_ > 0 else math.inf


def days_until(
    threshold: float, base: float, lambda_: float, access_count: int, type_weight: float
) -> int | None:
    """Return the first whole day after the last access on which the score is below a threshold.

    Args:
        threshold: 0-1.
        base: As for `score`.
        lambda_: As for `score`.
        access_count: As for `score`.
        type_weight: As for `score`.

    Returns:
        0 where it is below from the start; None where it takes longer than a million days.
    """

    def below(day: int) -> bool:
        return displayed(score(base, lambda_, day, access_count, type_weight)) < threshold

    if below(0):
        return 0
    if threshold <= 0 or lambda_ <= 0 or type_weight == UNENDING:
        return None
    start = score(base, lambda_, 0, access_count, type_weight)
    span = (math.log(start) - math.log(threshold)) / lambda_
    if span > NEVER:
        return None
    day = max(1, math.floor(span))
    # The logarithm may be off by one day where the score meets the threshold exactly.
    while not below(day):
        day += 1
    while below(day - 1):
        day -= 1
    return day

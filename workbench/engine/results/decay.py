"""Answers about relevance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class DecayEntry:
    """One memory's score and what it is made of; `value` at forecast days is in `forecast`."""

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


@dataclass(frozen=True)
class DecayView:
    """All scores at a moment; `lambda_` per day."""

    now: datetime
    lambda_: float
    entries: tuple[DecayEntry, ...]

"""What a door of one scope answers beside what every door does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BriefMemory:
    """One memory in few words; `date` is the day it is of, or None."""

    id: str
    store: str
    date: str | None
    text: str


@dataclass(frozen=True)
class ScopedBrief:
    """What an agent needs at the start of a session with other people: what is for them, newest first.

    Args:
        scope: `person:SLUG` or `group:SLUG`.
        memories: The newest of them.
        total: How many there are.
    """

    scope: str
    memories: tuple[BriefMemory, ...]
    total: int

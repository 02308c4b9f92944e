"""Answers about the state of a workspace: briefs, the diagnosis, the daemon."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from workbench.engine.results.audit import Alert


@dataclass(frozen=True)
class Brief:
    """What an agent needs at the start of a session."""

    core: str
    tokens: int
    cap: int
    alerts: tuple[Alert, ...]
    proposals_waiting: int
    reflection_due: bool
    unprocessed_episodes: int
    notices: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """One line of `doctor`: `state` is ok, degraded or broken."""

    name: str
    state: str
    detail: str
    remedy: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What works here, what is degraded and how to mend it."""

    ok: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class DaemonDue:
    """Something that will be looked at: `what` is sync, upkeep or reflect; `at` is aware."""

    what: str
    at: datetime


@dataclass(frozen=True)
class DaemonStatus:
    """Whether a daemon looks after a workspace, and what it did last.

    Args:
        running: Whether one runs now.
        died: Whether the last one ended without saying so: it was killed, or the machine went off.
        pid: Of the process that runs, or ran last; None where that is not known.
        since: When it began, aware; None where none ever ran here.
        ended: When it ended as it should; None where it did not, or runs.
        last_sync: When the search index was brought up to date last.
        last_adoption: When edits from outside were taken in last.
        last_reflection: When it last wrote a proposal.
        next_due: What comes next by the clock, the soonest first.
        problems: What does not work now, one sentence each.
    """

    running: bool
    died: bool = False
    pid: int | None = None
    since: datetime | None = None
    ended: datetime | None = None
    last_sync: datetime | None = None
    last_adoption: datetime | None = None
    last_reflection: datetime | None = None
    next_due: tuple[DaemonDue, ...] = ()
    problems: tuple[str, ...] = ()


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

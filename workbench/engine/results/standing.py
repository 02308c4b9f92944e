"""Answers about the state of a whole workspace."""

from __future__ import annotations

from dataclasses import dataclass

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

"""Sums up a month of the audit trail (design document §12.6)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.documents.audit_digest import MonthlyDigest
from workbench.engine.history.plan import Action

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.documents.audit_log import AuditLine

_NOT_MUTATIONS = frozenset({Action.ALERT, Action.ACK, Action.PRUNE, Action.PURGE})
_LEADING_COUNT = re.compile(r"^(\d+)\b")
# How the lines that this module writes into a summary begin; any other line is a person's own.
_OWN_SUMMARY = re.compile(
    r"^(\d+ total mutations? across|\d+ reflection sessions?\b|\d+ critical file changes?$"
    r"|\d+ decay transitions?,|Kinds: )"
)
_MANY_ENTITIES = 3


@dataclass(frozen=True)
class DatedLine:
    """An audit line, with the decisions on reflection items that its commit recorded."""

    line: AuditLine
    decisions: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        """Return the day in UTC, `2026-01-15`."""
        return f"{self.line.timestamp:%Y-%m-%d}"


def summarise_month(month: str, lines: Sequence[DatedLine], critical: frozenset[str]) -> MonthlyDigest:
    """Return the digest of a month.

    Args:
        month: `2026-01`.
        lines: Every line of that month that is pruned, oldest first.
        critical: Paths of the critical files.
    """
    return MonthlyDigest(month, tuple(_summary(lines, critical)), tuple(_events(lines, critical)))


def merge_digest(existing: MonthlyDigest | None, before: MonthlyDigest, now: MonthlyDigest) -> MonthlyDigest:
    """Return a month's new digest with what a person wrote into the old one.

    Args:
        existing: What the archive holds; None where it has nothing of this month.
        before: What this module made of the lines that had been pruned before.
        now: What it makes of all lines pruned by now.
    """
    if existing is None:
        return now
    own_summary = tuple(line for line in existing.summary if not _OWN_SUMMARY.match(line))
    own_events = tuple(event for event in existing.events if event not in {*before.events, *now.events})
    events = tuple(sorted((*now.events, *own_events), key=lambda event: event[0]))
    return MonthlyDigest(now.month, now.summary + own_summary, events)


def _summary(lines: Sequence[DatedLine], critical: frozenset[str]) -> Iterator[str]:
    mutations = [found.line for found in lines if found.line.action not in _NOT_MUTATIONS]
    files = {line.file for line in mutations}
    yield f"{_count(len(mutations), 'total mutation')} across {_count(len(files), 'file')}"
    yield _reflections(lines)
    yield _count(sum(line.file in critical for line in mutations), "critical file change")
    transitions = sum(_transitions(line) for line in mutations if line.action == Action.DECAY)
    archivals = sum(line.action == Action.ARCHIVE for line in mutations)
    yield f"{_count(transitions, 'decay transition')}, {_count(archivals, 'archival event')}"
    kinds = Counter(found.line.action for found in lines)
    if kinds:
        yield "Kinds: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _reflections(lines: Sequence[DatedLine]) -> str:
    sessions: dict[str, set[str]] = {}
    for found in lines:
        if found.line.actor.startswith("reflection:"):
            decisions = sessions.setdefault(found.line.actor, set())
            decisions.update(found.decisions or (found.line.approval,))
    kinds = Counter(_verdict(decisions) for decisions in sessions.values())
    detail = ", ".join(
        f"{kinds[kind]} {kind}" for kind in ("approved", "partial", "rejected", "pending") if kinds[kind]
    )
    return _count(len(sessions), "reflection session") + (f" ({detail})" if detail else "")


def _verdict(decisions: set[str]) -> str:
    approved = bool(decisions & {"approved", "auto"})
    rejected = bool(decisions & {"rejected", "deferred", "undecided"})
    if approved:
        return "partial" if rejected else "approved"
    return "rejected" if rejected else "pending"


def _events(lines: Sequence[DatedLine], critical: frozenset[str]) -> Iterator[tuple[str, str]]:
    by_day: dict[str, list[AuditLine]] = {}
    for found in lines:
        by_day.setdefault(found.day, []).append(found.line)
    for day in sorted(by_day):
        for text in dict.fromkeys(_events_of_day(by_day[day], critical)):
            yield day, text


def _events_of_day(lines: Sequence[AuditLine], critical: frozenset[str]) -> Iterator[str]:
    kinds = Counter(line.action for line in lines)
    for line in lines:
        if line.file in critical and line.action not in _NOT_MUTATIONS:
            yield f"{line.file} changed by {line.actor}"
    if any(line.actor == "system:init" for line in lines):
        yield "History begins"
    created = [line.file for line in lines if line.action == Action.CREATE and line.actor != "system:init"]
    entities = {file for file in created if file.startswith(f"{layout.ENTITIES}/")}
    if len(entities) >= _MANY_ENTITIES:
        yield f"{len(entities)} new entities added"
    for file in created:
        if file.startswith(f"{layout.PROCEDURES}/"):
            yield f"Procedure learned: {file.rpartition('/')[2].removesuffix('.md')}"
    for actor in dict.fromkeys(line.actor for line in lines if line.actor.startswith("reflection:")):
        yield f"Reflection {actor.removeprefix('reflection:')} applied"
    for action, text in (
        (Action.MERGE, "merge"),
        (Action.REVERT, "revert"),
        (Action.DELETE, "deletion"),
        (Action.ALERT, "alert"),
        (Action.PURGE, "purge"),
    ):
        if kinds[action]:
            yield _count(kinds[action], text)


def _transitions(line: AuditLine) -> int:
    leading = _LEADING_COUNT.match(line.summary)
    return int(leading.group(1)) if leading else 1


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

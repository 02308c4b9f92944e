"""Prunes the audit log beyond its window and keeps monthly digests of it (design document §12.6)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.history.audit import LogFilter, read_entries
from workbench.engine.history.commits import parse_message
from workbench.engine.history.plan import Action, Attribution, Event, FileChange, Plan
from workbench.engine.history.projections import PRUNED_BEFORE, audit_lines, pruned_before, rewrite_audit_log
from workbench.engine.history.revert import ITEM
from workbench.engine.markdown.audit_log import AuditArchive, MonthlyDigest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from workbench.engine.history.git_store import Commit
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import FileView, Receipt
    from workbench.engine.markdown.audit_log import AuditLine


_NOT_MUTATIONS = frozenset({Action.ALERT, Action.ACK, Action.PRUNE, Action.PURGE})
_LEADING_COUNT = re.compile(r"^(\d+)\b")
# Beginnings of the lines that this module writes into a digest; all other lines are a person's.
_OWN_SUMMARY = re.compile(
    r"^(\d+ total mutations? across|\d+ reflection sessions?\b|\d+ critical file changes?$"
    r"|\d+ decay transitions?,|Kinds: )"
)
_MANY_ENTITIES = 3

WINDOW = 90
_BY = Attribution("system:retention", "auto", "retention window")


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
        lines: All pruned lines of that month, oldest first.
        critical: Paths of the critical files.
    """
    return MonthlyDigest(month, tuple(_summary(lines, critical)), tuple(_events(lines, critical)))


def merge_digest(existing: MonthlyDigest | None, before: MonthlyDigest, now: MonthlyDigest) -> MonthlyDigest:
    """Return a month's new digest with what a person added to the old one.

    Args:
        existing: The archive's digest; None if it has none for this month.
        before: The digest of the lines pruned before.
        now: The digest of all lines pruned by now.
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


def prune(
    history: History,
    days: int = WINDOW,
    attribution: Attribution = _BY,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Receipt[int]:
    """Summarise the audit lines older than a number of days by month, and drop them from the log.

    The digests go into `memory/meta/audit-archive.md`, each recomputed from all commits of its month, so that a
    month pruned in parts has one digest; lines added by a person stay. Git keeps everything. The window ends at
    midnight UTC. Lines of open alerts stay in the log. The commit's `Pruned-Before` trailer marks where a
    rewritten log begins.

    Args:
        history: The workspace's history.
        days: Length of the window.
        attribution: Who prunes.
        cancelled: Polled between months; if it returns True, nothing is pruned.

    Returns:
        A receipt with the number of summarised commits; without a commit if nothing is old enough.

    Raises:
        InvalidInput: The window is shorter than a day.
        StorageError: The log cannot be written; the next pruning repairs it.
    """
    if days < 1:
        raise InvalidInput("The window is too short.", where=f"{days} days", remedy="Give a day or more.")

    def plan(files: FileView) -> Plan[int]:
        cutoff = _cutoff(history, days)
        commits = list(history.store.walk())
        watermark = next((mark for mark in map(pruned_before, commits) if mark), None)
        old = [commit for commit in reversed(commits) if commit.moment < cutoff]
        fresh = [commit for commit in old if watermark is None or commit.moment >= watermark]
        nothing = Plan(Action.PRUNE, layout.AUDIT_LOG, "nothing to prune", outcome=0)
        if not fresh:
            return nothing
        before = files.read(layout.AUDIT_ARCHIVE) or b""
        archive = AuditArchive.parse(before)
        by_month = defaultdict(list)
        for commit in old:
            by_month[_month(commit)].append(commit)
        for month in sorted({_month(commit) for commit in fresh}):
            if cancelled():
                return nothing
            of_month = by_month[month]
            earlier = [commit for commit in of_month if watermark is not None and commit.moment < watermark]
            archive = archive.put(
                merge_digest(
                    archive.digest(month),
                    summarise_month(month, _dated(earlier), history.critical),
                    summarise_month(month, _dated(of_month), history.critical),
                )
            )
        summary = f"summed up {len(fresh)} commits before {cutoff:%Y-%m-%d}"
        return Plan(
            Action.PRUNE,
            layout.AUDIT_LOG,
            summary,
            changes=(FileChange(layout.AUDIT_ARCHIVE, archive.render(), Action.PRUNE, summary),),
            events=(Event(Action.PRUNE, layout.AUDIT_LOG, summary),),
            trailers=((PRUNED_BEFORE, render_time(cutoff)),),
            outcome=len(fresh),
        )

    with history.writing(attribution.actor) as turn:
        receipt = turn.carry_out(plan, attribution)
        if receipt.commit or _log_reaches_past_watermark(history):
            try:
                rewrite_audit_log(history.root, turn.store, history.state)
            except OSError as error:
                raise StorageError(
                    f"The audit log cannot be written: {error.strerror or error}.",
                    where=layout.AUDIT_LOG,
                    remedy="Make it writable, then prune again; nothing is lost.",
                ) from error
    return receipt


def _cutoff(history: History, days: int) -> datetime:
    midnight = history.clock.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days)


def _watermark(history: History) -> datetime | None:
    pruned = read_entries(history.root, history.store, LogFilter(action=Action.PRUNE), limit=1)
    commit = pruned[0].commit if pruned else None
    return pruned_before(history.store.commit(history.store.resolve(commit))) if commit else None


def _log_reaches_past_watermark(history: History) -> bool:
    """Return True if a crash kept an earlier pruning from dropping its lines."""
    watermark = _watermark(history)
    if watermark is None:
        return False
    try:
        with layout.resolve(history.root, layout.AUDIT_LOG).open(encoding="utf-8", errors="replace") as file:
            return file.readline()[:10] < f"{watermark:%Y-%m-%d}"
    except FileNotFoundError:
        return False


def _month(commit: Commit) -> str:
    return f"{commit.moment.astimezone(UTC):%Y-%m}"


def _dated(commits: Sequence[Commit]) -> list[DatedLine]:
    lines = []
    for commit in commits:
        decisions = tuple(
            value.split()[-1] for key, value in parse_message(commit).trailers if key == ITEM and " " in value
        )
        lines += [DatedLine(line, decisions) for line in audit_lines(commit)]
    return lines

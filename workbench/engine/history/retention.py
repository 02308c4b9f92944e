"""Prunes the audit log at its window's end and keeps what happened as monthly digests (design document §12.6)."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.documents.audit_digest import AuditArchive
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.history.audit_projection import (
    PRUNED_BEFORE,
    audit_lines,
    pruned_before,
    rewrite_audit_log,
)
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.digests import DatedLine, merge_digest, summarise_month
from workbench.engine.history.plan import Action, Attribution, Event, FileChange, Plan
from workbench.engine.history.queries import LogFilter, read_entries
from workbench.engine.history.revert import ITEM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.engine.history.git_store import Commit
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import FileView, Receipt

WINDOW = 90
_BY = Attribution("system:retention", "auto", "retention window")


def prune(
    history: History,
    days: int = WINDOW,
    attribution: Attribution = _BY,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Receipt[int]:
    """Sum up the audit lines older than a number of days by month, and drop them from the log.

    The digests go into `memory/meta/audit-archive.md`, each made anew from all commits of its month, so that a
    month pruned in parts has one digest; lines that a person wrote into it stay. Git keeps everything. The
    window ends at midnight UTC. Lines of open alerts stay in the log. The commit's `Pruned-Before` trailer is the
    watermark by which the log can be written anew.

    Args:
        history: Of the workspace.
        days: Length of the window.
        attribution: Who prunes.
        cancelled: Asked between months; nothing is pruned then.

    Returns:
        A receipt whose outcome is the number of commits summed up; without a commit where nothing is old enough.

    Raises:
        InvalidInput: The window is shorter than a day.
        StorageError: The log cannot be written; the next pruning mends it.
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
    """Tell whether a crash kept an earlier pruning from dropping its lines."""
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

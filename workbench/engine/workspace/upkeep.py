"""What a workspace does for itself: settling scores, pruning the audit log, repacking history."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import StorageError
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.decay.folding import Folded
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.workspace.ground import Ground

# The log is pruned a week at a time, so that not every day has its pruning commit.
_PRUNING_STEP = timedelta(days=7)


def settle(ground: Ground) -> Changed:
    """Fold journalled accesses into the scores file, and log the memories whose status changed."""
    from workbench.engine.decay.transitions import mark_checked, plan_transitions
    from workbench.engine.history.plan import Attribution

    page = ground.accesses()

    def plan(view: FileView) -> Plan[Folded]:
        scores = ground.scores()
        scores.first_seen.everything()
        memories = {record.id: scores.facts(record) for record in ground.lookups.memories()}
        return plan_transitions(view, page, memories, scores.reckoning)

    receipt = ground.history.mutate(plan, Attribution("system:decay", "auto", "scores settled"))
    if receipt.outcome.journal:
        # The scores file says how far it holds the journal: what cannot be dropped counts once all the same.
        with contextlib.suppress(StorageError):
            ground.journal.drop_until(receipt.outcome.journal, receipt.outcome.offset)
    mark_checked(ground.state, ground.clock.now())
    return Changed(receipt.commit, receipt.files, receipt.outcome.ids)


def begin_day(ground: Ground, cancelled: Callable[[], bool]) -> None:
    """Settle scores and prune the audit log, once a calendar day and where there is something to do.

    Args:
        ground: The open workspace.
        cancelled: Asked before and while the log is pruned, which is then left to another day.
    """
    from workbench.engine.decay.transitions import check_is_due

    if not check_is_due(ground.state, ground.clock.now(), ground.zone):
        return
    settle(ground)
    if not cancelled() and _log_is_long(ground):
        from workbench.engine.history.retention import prune

        prune(ground.history, ground.settings.audit.retention_days, cancelled=cancelled)


def end_session(ground: Ground) -> None:
    """Fold accesses that are due, and repack the history in the background where much lies loose."""
    from workbench.engine.decay.folding import fold_is_due
    from workbench.engine.decay.scores_file import folded_of, read_scores
    from workbench.engine.history.upkeep import repack_if_due

    waiting = ground.accesses().after(folded_of(read_scores(ground.files)))
    if fold_is_due(waiting, ground.clock.now(), ground.settings.decay):
        settle(ground)
    repack_if_due(ground.history)


def _log_is_long(ground: Ground) -> bool:
    """Tell whether the audit log begins more than the retention and a week ago."""
    from workbench.engine.documents.audit_log import parse_audit_line

    try:
        with (ground.root / layout.AUDIT_LOG).open("rb") as log:
            first = parse_audit_line(log.readline(65_536).decode("utf-8", "replace"))
    except OSError:
        return False
    kept = timedelta(days=ground.settings.audit.retention_days) + _PRUNING_STEP
    return first is not None and first.timestamp < ground.clock.now() - kept

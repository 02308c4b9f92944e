"""Whether a reflection is due in an open workspace, and which proposal waits."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.clock import parse_time
from workbench.engine.errors import HistoryError, InvalidInput

if TYPE_CHECKING:
    from workbench.engine.documents import PendingReflection
    from workbench.engine.workspace.ground import Ground


def reflection_due(ground: Ground, occasion: str) -> results.ReflectionDue:
    """Tell whether a reflection should run, and why.

    Args:
        ground: The open workspace, its catalog up to date.
        occasion: `schedule` or `session-end`.
    """
    from workbench.engine.reflection.due import Standing, is_due, next_planned
    from workbench.engine.workspace.snapshot import read_log, read_pending

    settings = ground.settings.reflection
    unread = count_unread(ground)
    times = [_time(record.time) for record in read_log(ground.files).records]
    times.append(written_at(read_pending(ground.files)))
    last = max(filter(None, times), default=None)
    waiting = waiting_proposal(ground)
    answer = is_due(Standing(ground.now(), last, unread, waiting, occasion), settings)
    planned = next_planned(ground.now(), settings) if "daily" in settings.frequency else None
    return results.ReflectionDue(answer.due, answer.reason, unread, last, planned, waiting)


def waiting_proposal(ground: Ground) -> str:
    """Return the id of a proposal that is not yet decided; empty where none is, or all of it was put off."""
    from workbench.engine.workspace.snapshot import read_pending

    pending = read_pending(ground.files)
    is_open = any(item.decision != "deferred" for item in pending.items)
    return (pending.reflection or "A proposal") if is_open else ""


def written_at(pending: PendingReflection) -> datetime | None:
    """Return when a proposal was written; None where the file does not say."""
    return _time(pending.created)


def count_unread(ground: Ground) -> int:
    """Return how many entries no reflection has read, looking only into files that changed since the last one."""
    from workbench.engine.workspace.snapshot import find_unread, last_mark

    try:
        head = ground.history.head() if ground.has_history() else None
        if head is not None and last_mark(ground, ground.files).base:
            return find_unread(ground, ground.history.at(head), head).entries
    except HistoryError:
        # A damaged history, of which `doctor` tells, no longer says what was read.
        return ground.lookups.count_entries()
    return ground.lookups.count_entries()


def _time(text: str) -> datetime | None:
    try:
        return parse_time(text) if text else None
    except InvalidInput:
        return None

"""Whether a reflection is due in an open workspace, and which proposal waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.clock import time_or_none
from workbench.engine.results.reflection import ReflectionDue

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.workspace.ground import Ground


def reflection_due(ground: Ground, occasion: str) -> ReflectionDue:
    """Tell whether a reflection should run, and why.

    Args:
        ground: The open workspace, its catalog up to date.
        occasion: `schedule` or `session-end`.
    """
    from workbench.engine.reflection.due import Situation, is_due, next_scheduled
    from workbench.engine.workspace.unread import count_unread

    settings = ground.settings.reflection
    unread = count_unread(ground)
    last = _last_written(ground)
    waiting = waiting_proposal(ground)
    answer = is_due(Situation(ground.now(), last, unread, waiting, occasion), settings)
    planned = next_scheduled(ground.now(), settings)
    return ReflectionDue(answer.due, answer.reason, unread, last, planned, waiting)


def _last_written(ground: Ground) -> datetime | None:
    """Return when a reflection wrote something last; what was proposed by hand is no reflection."""
    from workbench.engine.reflection.files import read_log, read_pending
    from workbench.engine.reflection.items import BY_HAND, PROPOSED, is_by_hand

    records, pending = read_log(ground.files).records, read_pending(ground.files)
    times = [record.time for record in records if dict(record.fields).get(PROPOSED) != BY_HAND]
    if not pending.items or not all(map(is_by_hand, pending.items)):
        times.append(pending.created)
    # A clock that was wrong once must not put off every reflection until then.
    known = (time for text in times if (time := time_or_none(text)) is not None and time <= ground.now())
    return max(known, default=None)


def waiting_proposal(ground: Ground) -> str:
    """Return the id of a proposal that is not yet decided; empty where none is, or all of it was put off.

    What somebody proposed by hand does not wait in this sense: the next reflection takes it into its own proposal.
    """
    from workbench.engine.reflection.files import read_pending, reflection_of
    from workbench.engine.reflection.items import is_by_hand

    pending = read_pending(ground.files)
    is_open = any(item.decision != "deferred" and not is_by_hand(item) for item in pending.items)
    return (reflection_of(pending) or "A proposal") if is_open else ""

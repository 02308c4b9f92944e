"""Whether a reflection is due in an open workspace, and which proposal waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.clock import time_or_none

if TYPE_CHECKING:
    from workbench.engine.workspace.ground import Ground


def reflection_due(ground: Ground, occasion: str) -> results.ReflectionDue:
    """Tell whether a reflection should run, and why.

    Args:
        ground: The open workspace, its catalog up to date.
        occasion: `schedule` or `session-end`.
    """
    from workbench.engine.reflection.due import Situation, is_due, next_scheduled
    from workbench.engine.reflection.files import read_log, read_pending
    from workbench.engine.workspace.unread import count_unread

    settings = ground.settings.reflection
    unread = count_unread(ground)
    times = [time_or_none(record.time) for record in read_log(ground.files).records]
    times.append(time_or_none(read_pending(ground.files).created))
    # A clock that was wrong once must not put off every reflection until then.
    last = max((time for time in times if time is not None and time <= ground.now()), default=None)
    waiting = waiting_proposal(ground)
    answer = is_due(Situation(ground.now(), last, unread, waiting, occasion), settings)
    planned = next_scheduled(ground.now(), settings)
    return results.ReflectionDue(answer.due, answer.reason, unread, last, planned, waiting)


def waiting_proposal(ground: Ground) -> str:
    """Return the id of a proposal that is not yet decided; empty where none is, or all of it was put off."""
    from workbench.engine.reflection.files import read_pending, reflection_of

    pending = read_pending(ground.files)
    is_open = any(item.decision != "deferred" for item in pending.items)
    return (reflection_of(pending) or "A proposal") if is_open else ""

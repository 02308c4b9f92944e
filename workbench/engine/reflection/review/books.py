"""The books of a reflection: the proposal, the log and what was rejected, as they are after a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.history.plan import Action
from workbench.engine.reflection import rejections
from workbench.engine.reflection.files import read_log
from workbench.engine.reflection.review.record import updated_record
from workbench.engine.reflection.review.remains import without_items

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.markdown.review import PendingReflection
    from workbench.engine.memory.draft import Draft
    from workbench.engine.reflection.review.record import Decided


def keep_books(
    draft: Draft, pending: PendingReflection, reflection: str, decided: Decided, now: datetime
) -> None:
    """Draft the proposal without what was decided, the record of it, and what was rejected."""
    gone = [item.id for item in (*decided.applied, *decided.rejected)]
    left = without_items(pending, gone) if gone else pending.render()
    taken = f"took {len(gone)} decided items out" if len(gone) != 1 else f"took {gone[0]} out"
    if left is None:
        draft.delete(pending.path, f"{reflection} is decided")
    else:
        draft.write(pending.path, left, Action.EDIT, taken)
    # First, so that a rejection of this very batch stands beside what was approved in another form.
    if decided.applied and (known := draft.read(layout.REJECTED)) is not None:
        kept = rejections.withdraw_approved(known, decided.applied)
        draft.write(layout.REJECTED, kept, Action.EDIT, "took out what was approved since")
    if decided.rejected:
        known = draft.read(layout.REJECTED)
        kept = rejections.remember(known, decided.rejected, reflection, now.isoformat(timespec="seconds"))
        draft.write(layout.REJECTED, kept, Action.EDIT, f"remembered {len(decided.rejected)} rejected")
    log = read_log(draft)
    record = updated_record(log, pending, reflection, decided, render_time(now))
    known_record = log.record(reflection)
    # Deferring the same items again is nothing new, and only the time would change.
    if known_record is None or known_record.body != record.body:
        draft.write(log.path, log.put(record).render(), Action.EDIT, f"{reflection} {record.outcome}")

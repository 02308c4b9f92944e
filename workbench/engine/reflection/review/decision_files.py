"""The files of a reflection after a decision: the proposal without what was decided, the log, and what was rejected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.history.plan import Action
from workbench.engine.markdown.outline import read_headings
from workbench.engine.markdown.source import is_blank
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import rejections
from workbench.engine.reflection.files import read_log
from workbench.engine.reflection.review.record import updated_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from workbench.engine.markdown.review import PendingReflection
    from workbench.engine.memory.draft import Draft
    from workbench.engine.reflection.review.record import Decided


# What looks like an item but cannot be read as one: somebody’s handwriting, which is not thrown away.
_UNREAD_ITEM: Final = lazy_pattern(r"^[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]+\[.?\][ \t]", re.MULTILINE)


def write_decision(
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


def without_items(pending: PendingReflection, item_ids: Iterable[str]) -> bytes | None:
    """Return the file without some items and without headings that are bare by that; None where nothing waits.

    Args:
        pending: The proposal.
        item_ids: Items to take out.
    """
    gone = list(item_ids)
    held = {item.section for item in pending.items if item.id in gone}
    left = pending.remove(gone) if gone else pending
    text = left.render().decode("utf-8", "surrogateescape")
    if not left.items and not _UNREAD_ITEM.search(text):
        return None
    source = left.source
    for heading in reversed(read_headings(source)):
        body = source.lines_of(heading.section)[1:]
        if heading.level == 2 and heading.text in held and all(is_blank(line) for line in body):
            source = source.splice(heading.section.start, heading.section.end, ())
    return source.render()

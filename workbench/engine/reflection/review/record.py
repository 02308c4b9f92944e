"""The record of a reflection in `reflection-log.md`: what was decided about each item, brought up to date."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.reflection_records import ReflectionRecord
from workbench.engine.reflection.account import READ_FIELD, read_account
from workbench.engine.reflection.items import BY_HAND, PROPOSED, is_by_hand
from workbench.engine.reflection.verdicts import read_verdicts, verdict_line, without_verdicts
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.reflection_records import ReflectionLog
    from workbench.engine.markdown.review import PendingReflection, ReviewItem

ITEMS: Final = "items"


@dataclass(frozen=True)
class Decided:
    """What one application decided.

    Args:
        applied: Items that were carried out.
        rejected: Items that were turned down.
        deferred: Items that come again.
        staying: How many items stay in the file, deferred ones included.
    """

    applied: tuple[ReviewItem, ...]
    rejected: tuple[ReviewItem, ...]
    deferred: tuple[ReviewItem, ...]
    staying: int

    def __bool__(self) -> bool:
        return bool(self.applied or self.rejected or self.deferred)


def updated_record(
    log: ReflectionLog, pending: PendingReflection, reflection: str, decided: Decided, time: str
) -> ReflectionRecord:
    """Return a reflection’s record with what was decided now beside what was decided before.

    The outcome is `approved` where every item was, `rejected` where every item was, else `partial`. The field
    `items` says how many of how many were approved; `read`, the mark of what the reflection has read, is taken
    over from the proposal and kept. `proposed` says so where all of it was proposed by hand, and nothing was read.

    Args:
        log: The log as it stands.
        pending: The proposal, before anything is taken out of it.
        reflection: `r-012`.
        decided: What was decided now.
        time: ISO 8601.
    """
    known = log.record(reflection)
    lines = {verdict.id: verdict.line for verdict in read_verdicts(known.body)} if known else {}
    for decision, items in (
        ("approved", decided.applied),
        ("rejected", decided.rejected),
        ("deferred", decided.deferred),
    ):
        lines |= {item.id: verdict_line(item, decision) for item in items}
    decisions = Counter(verdict.decision for verdict in read_verdicts("\n".join(lines.values())))
    approved, rejected = decisions["approved"], decisions["rejected"]
    # Deferred ones are counted among those that stay.
    total = approved + rejected + decided.staying
    outcome = "partial"
    if approved == total:
        outcome = "approved"
    elif rejected == total:
        outcome = "rejected"
    fields = dict(known.fields) if known else {}
    fields[ITEMS] = f"{approved}/{total}"
    mark = read_account(pending.meta).mark
    if mark and READ_FIELD not in fields:
        fields[READ_FIELD] = mark
    if not mark and known is None and pending.items and all(map(is_by_hand, pending.items)):
        fields[PROPOSED] = BY_HAND
    # What somebody wrote beside the lines stays.
    beside = [line for line in without_verdicts(known.body).split("\n") if line.strip()] if known else []
    body = "\n".join([*beside, *lines.values()])
    return ReflectionRecord(reflection, time, outcome, body, tuple(fields.items()))

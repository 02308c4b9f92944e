"""The record of a reflection in `reflection-log.md`: what was decided about each item, brought up to date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.engine.documents import ReflectionRecord
from workbench.engine.reflection.account import READ_FIELD, read_account
from workbench.engine.reflection.items import RESOLVE
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.review.item_parts import field_of
from workbench.engine.stores.wording import clip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents import PendingReflection, ReflectionLog, ReviewItem

ITEMS: Final = "items"
_LINE: Final = re.compile(r"- `([^`\n]+)` (approved|rejected|deferred): ")
_TEXT_CHARACTERS: Final = 160


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
    over from the proposal and kept.

    Args:
        log: The log as it stands.
        pending: The proposal, before anything is taken out of it.
        reflection: `r-012`.
        decided: What was decided now.
        time: ISO 8601.
    """
    known = log.record(reflection)
    lines = _lines_of(known) if known else {}
    for decision, items in (
        ("approved", decided.applied),
        ("rejected", decided.rejected),
        ("deferred", decided.deferred),
    ):
        lines |= {item.id: _line(item, decision) for item in items}
    words = [_LINE.match(line) for line in lines.values()]
    decisions = [word[2] for word in words if word]
    approved = decisions.count("approved")
    # Deferred ones are counted among those that stay.
    total = len(decisions) - decisions.count("deferred") + decided.staying
    outcome = "partial"
    if approved == total:
        outcome = "approved"
    elif decisions.count("rejected") == total:
        outcome = "rejected"
    fields = dict(known.fields) if known else {}
    fields[ITEMS] = f"{approved}/{total}"
    mark = read_account(pending.meta).mark
    if mark and READ_FIELD not in fields:
        fields[READ_FIELD] = mark
    preface = _preface(known) if known else []
    body = "\n".join([*preface, *lines.values()])
    return ReflectionRecord(reflection, time, outcome, body, tuple(fields.items()))


def _line(item: ReviewItem, decision: str) -> str:
    target = f" `{clip(item.target.replace('`', ''), 200)}`" if item.target.strip() else ""
    said = clip(item.text, _TEXT_CHARACTERS)
    if decision == "approved" and kind_of(item.kind) is Kind.CONTRADICTION:
        said = f"{said} ({clip(field_of(item, RESOLVE), 10)})"
    return f"- `{item.id}` {decision}: {clip(item.kind, 40)}{target}{' ' if said else ''}{said}"


def _lines_of(record: ReflectionRecord) -> dict[str, str]:
    return {match[1]: line for line in record.body.split("\n") if (match := _LINE.match(line))}


def _preface(record: ReflectionRecord) -> Iterable[str]:
    """Return what somebody wrote into a record beside its lines."""
    return [line for line in record.body.split("\n") if not _LINE.match(line) and line.strip()]

"""The record of a reflection in `reflection-log.md`: a line for what was decided on each item, brought up to date."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.reflection_records import ReflectionRecord
from workbench.engine.memory.wording import clip
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.files import READ_FIELD, read_account
from workbench.engine.reflection.items import BY_HAND, PROPOSED, RESOLVE, field_of, is_by_hand
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.reflection_records import ReflectionLog
    from workbench.engine.markdown.review import PendingReflection, ReviewItem

ITEMS: Final = "items"
_LINE: Final = lazy_pattern(
    r"^[ \t]*[-*+][ \t]+(?:`(?P<id>[^`\n]+)`|(?P<bare>r-\d+\.\d+))[ \t]+"
    r"(?P<decision>approved|rejected|deferred|undecided|waiting)[ \t]*:[ \t]*(?P<rest>.*)$",
    re.MULTILINE,
)
_REST: Final = lazy_pattern(
    rf"(?P<kind>{'|'.join(sorted(Kind, key=len, reverse=True))})\b"
    r"(?:\s+(?:for\s+)?(?:\[\[(?P<link>[^\]\n]+)\]\]|`(?P<code>[^`\n]+)`))?:?\s*(?P<text>.*)$"
)
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line.

    Args:
        id: Of the item, `r-012.3`.
        decision: approved, rejected, deferred, undecided or waiting.
        kind: Of the item; None where the line names none.
        target: What it would have changed; empty where the line does not say.
        text: What it proposed.
        line: As it stands in the record.
    """

    id: str
    decision: str
    kind: Kind | None
    target: str
    text: str
    line: str


def verdict_line(item: ReviewItem, decision: str) -> str:
    """Return the line that says what was decided on an item; of a contradiction, which side holds."""
    target = f" `{clip(item.target.replace('`', ''), 200)}`" if item.target.strip() else ""
    said = clip(item.text, _TEXT_CHARACTERS)
    if decision == "approved" and kind_of(item.kind) is Kind.CONTRADICTION:
        said = f"{said} ({clip(field_of(item, RESOLVE), 10)})"
    return f"- `{item.id}` {decision}: {clip(item.kind, 40)}{target}{' ' if said else ''}{said}"


def read_verdicts(body: str) -> tuple[Verdict, ...]:
    """Return the lines of a record that say what was decided."""
    return tuple(map(_verdict, _LINE.finditer(body)))


def without_verdicts(body: str) -> str:
    """Return what else a record says."""
    return _LINE.sub("", body).strip()


def _verdict(match: re.Match[str]) -> Verdict:
    item, decision, rest = match["id"] or match["bare"], match["decision"], match["rest"].strip()
    operation = _REST.match(rest)
    if operation is None:
        return Verdict(item, decision, None, "", rest, match[0])
    target = operation["link"] or operation["code"] or ""
    return Verdict(item, decision, kind_of(operation["kind"]), target, operation["text"], match[0])

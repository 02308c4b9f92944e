"""Applying a proposal: one plan of everything that was decided in it, and the same plan only shown.

`memory/meta/pending-reflection.md` is the sole thing that is applied; it is read again each time. Items that were
carried out or rejected leave it. Undecided, deferred and waiting ones stay; deferred ones come again with the next
reflection. Where nothing is left, the file goes: no file, nothing waits.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.errors import DocumentError, NotFound
from workbench.engine.history.plan import Action, Plan, common_pattern
from workbench.engine.history.revert import item_trailers
from workbench.engine.markdown.outline import read_headings
from workbench.engine.markdown.source import is_blank
from workbench.engine.memory.draft import Draft
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import rejections
from workbench.engine.reflection.files import read_log, read_pending, reflection_of
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.review.deciding import plan_decide, still_needed
from workbench.engine.reflection.review.item_changes import Confirming
from workbench.engine.reflection.review.item_reading import asked_core_item, is_item_id, read_item
from workbench.engine.reflection.review.record import Decided, read_verdicts, updated_record
from workbench.engine.reflection.review.rehearsal import Rehearsal, rehearse
from workbench.engine.results.reviews import Applied, FilePreview, ReviewPreview
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.review import PendingReflection, ReviewItem
    from workbench.engine.reflection.review.plan_context import PlanContext


@dataclass(frozen=True)
class _Prepared:
    """Everything that applying would write, and what it comes to."""

    pending: PendingReflection
    reflection: str
    rehearsal: Rehearsal
    decided: Decided
    undecided: tuple[str, ...]
    draft: Draft


def plan_apply(view: FileView, context: PlanContext) -> Plan[Applied]:
    """Plan to carry out what was approved, remember what was rejected, and account for all of it.

    The commit belongs to the actor `reflection:r-012` (see `checked_reflection`) with the approval `approved`. Its
    trailers name each decided item with what it alone changed, so that it can be taken back alone.

    Args:
        view: The files.
        context: What planners need.

    Returns:
        A plan without changes where nothing is decided, or all that is approved waits.

    Raises:
        NotFound: No proposal waits.
        DocumentError: The file does not say which reflection it is of.
    """
    prepared = _prepare(view, context)
    reflection, decided, rehearsal = prepared.reflection, prepared.decided, prepared.rehearsal
    changes = prepared.draft.changes()
    paths = [change.path for change in changes]
    ids = dict.fromkeys(one for carried in rehearsal.carried for one in carried.ids)
    warnings = dict.fromkeys(
        [f"{carried.item.id}: {warning}" for carried in rehearsal.carried for warning in carried.warnings]
        + [f"{problem.where}: {problem.message} {problem.remedy}" for problem in prepared.pending.problems]
    )
    outcome = Applied(
        commit=None,
        files=tuple(paths),
        ids=tuple(ids),
        reflection=reflection,
        outcome=_outcome(prepared) if decided else "",
        applied=rehearsal.applied,
        rejected=_ids(decided.rejected),
        deferred=_ids(decided.deferred),
        undecided=prepared.undecided,
        waiting=dict(rehearsal.waiting),
        warnings=tuple(warnings),
    )
    file = common_pattern(paths) if paths else layout.PENDING_REFLECTION
    plan = prepared.draft.plan(Action.EDIT, file, _told(prepared), outcome)
    known = read_log(view).record(reflection)
    aside = {each.id for each in read_verdicts(known.body) if each.decision == "deferred"} if known else set()
    return replace(plan, trailers=_trailers(prepared, aside) if changes else ())


def preview(view: FileView, context: PlanContext, decisions: Mapping[str, str]) -> ReviewPreview:
    """Return what applying would do now; raises as `plan_apply`, and as `plan_decide` of the decisions.

    Args:
        decisions: What would be decided first, by item id.
    """
    decided = Draft(view)
    if decisions:
        decided.lay(plan_decide(view, decisions))
    prepared = _prepare(decided, context)
    files = tuple(
        FilePreview(change.path, _text(view.read(change.path)), _text(change.content))
        for change in prepared.draft.changes()
    )
    return ReviewPreview(
        applied=prepared.rehearsal.applied,
        rejected=_ids(prepared.decided.rejected),
        deferred=_ids(prepared.decided.deferred),
        undecided=prepared.undecided,
        waiting=dict(prepared.rehearsal.waiting),
        files=files,
        core_tokens=prepared.rehearsal.core_tokens,
        notes=still_needed(prepared.pending.items, _ids(prepared.decided.rejected)),
    )


def checked_reflection(pending: PendingReflection) -> str:
    """Return which reflection a proposal is of.

    Raises:
        DocumentError: It does not say so.
    """
    reflection = reflection_of(pending)
    if not reflection:
        raise DocumentError(
            "The proposal does not say which reflection it is of.",
            where=pending.path,
            remedy="Write <!-- reflection: r-012 | created: 2026-02-03T03:00:00Z --> below its title.",
        )
    return reflection


def _prepare(view: FileView, context: PlanContext) -> _Prepared:
    pending = read_pending(view)
    if not pending.items:
        raise NotFound(
            "No reflection waits for decisions.",
            where=layout.PENDING_REFLECTION,
            remedy="Let one propose something with: workbench reflect",
        )
    reflection = checked_reflection(pending)
    rehearsal = rehearse(view, pending.items, context, reflection)
    applied = set(rehearsal.applied)
    rejected = _of(pending, "rejected")
    decided = Decided(
        tuple(item for item in pending.items if item.id in applied),
        rejected,
        _of(pending, "deferred"),
        len(pending.items) - len(applied) - len(rejected),
    )
    draft = rehearsal.draft
    if decided:
        write_decision(draft, pending, reflection, decided, context.now)
    return _Prepared(pending, reflection, rehearsal, decided, _ids(_of(pending, "undecided")), draft)


def _trailers(prepared: _Prepared, aside: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return what names each decided item; those that were set aside before are none."""
    trailers: list[tuple[str, str]] = []
    for carried in prepared.rehearsal.carried:
        trailers.extend(item_trailers(carried.item.id, "approved", carried.changes))
    for decision, items in (
        ("rejected", prepared.decided.rejected),
        ("deferred", [item for item in prepared.decided.deferred if item.id not in aside]),
    ):
        for item in items:
            # A number that somebody made up cannot stand in a trailer; the log names it all the same.
            if is_item_id(item.id):
                trailers.extend(item_trailers(item.id, decision, {}))
    return tuple(trailers)


def _told(prepared: _Prepared) -> str:
    decided = prepared.decided
    parts = [
        f"{verb} {len(items)} item{'s' if len(items) != 1 else ''}"
        for verb, items in (
            ("applied", decided.applied),
            ("rejected", decided.rejected),
            ("deferred", decided.deferred),
        )
        if items
    ]
    return f"{', '.join(parts)} of {prepared.reflection}" if parts else "nothing is decided"


def _outcome(prepared: _Prepared) -> str:
    record = read_log(prepared.draft).record(prepared.reflection)
    return record.outcome if record else ""


def _of(pending: PendingReflection, decision: str) -> tuple[ReviewItem, ...]:
    return tuple(item for item in pending.items if item.decision == decision)


def _ids(items: tuple[ReviewItem, ...]) -> tuple[str, ...]:
    return tuple(item.id for item in items)


def _text(content: bytes | None) -> str | None:
    return content.decode("utf-8", "replace") if content is not None else None


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


_LETTING_GO: Final = frozenset({Kind.ARCHIVE, Kind.DEMOTION})
_SCORED: Final = ("episode", "entity", "procedure")


def still_relevant(items: Iterable[ReviewItem]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the memories that items rest on, of a fact that of its entity, each with its items.

    What is let go of is not relevant by that, nor is the old side of an update. Lines of logs have no score; core and
    vault memories need none, but a line of core memory that a person says still holds.

    Args:
        items: Those that were applied.
    """
    found: dict[str, tuple[str, ...]] = {}
    for item in items:
        if item.kind in _LETTING_GO:
            continue
        if (asked := asked_core_item(item)) and isinstance(read_item(item), Confirming):
            found[asked] = (item.id,)
        for proof in item.evidence[1:] if item.kind == Kind.SUPERSESSION else item.evidence:
            if proof.id.partition(":")[0] in _SCORED:
                memory = proof.id.partition("#^")[0]
                found[memory] = tuple(dict.fromkeys((*found.get(memory, ()), item.id)))
    return found

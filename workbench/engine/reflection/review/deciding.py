"""What a person decides about a proposal: the boxes they tick and the words they change, nothing else."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast, get_args

from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.markdown.review import Decision, PendingReflection, ReviewItem
from workbench.engine.memory.wording import clean_line, clean_memory, clip
from workbench.engine.reflection import items
from workbench.engine.reflection.files import read_pending
from workbench.engine.reflection.kinds import FORMS, SECTIONS, Kind, kind_of
from workbench.engine.reflection.review.item_reading import asked_core_item, is_date, read_item
from workbench.engine.reflection.review.rehearsal import declined_needs
from workbench.engine.results.memories import Changed

DECISIONS: Final[tuple[str, ...]] = get_args(Decision)
EDITABLE: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.FACT: (items.SINCE,),
    Kind.ENTITY: (items.ALIASES, items.SUMMARY),
    Kind.RELATION: (items.SINCE,),
    Kind.SUPERSESSION: (items.HELD_SINCE, items.UNTIL, items.SINCE),
    Kind.CONTRADICTION: (items.THIS, items.THAT, items.RESOLVE),
    Kind.PROCEDURE: (items.WHEN, items.STEPS),
    Kind.QUESTION: (items.ANSWER,),
}
"""The fields of an item that a person may fill in or change, by its kind; its text may always be reworded."""

_DAYS: Final = (items.SINCE, items.UNTIL, items.HELD_SINCE)
_LINES: Final = (items.STEPS, items.ANSWER)
_NEAR: Final = 3
_NAMED: Final = 3
_SHOWN: Final = 60
_APPROVED: Final[Decision] = "approved"
_REJECTED: Final[Decision] = "rejected"
_TAKEN_ALONG: Final = ("undecided", _REJECTED)
_VERBS: Final = {"undecided": "took back the decision on"}


def plan_decide(
    view: FileView, decisions: Mapping[str, str], resolved: Mapping[str, str] | None = None
) -> Plan[Changed]:
    """Plan to tick the boxes of items; what an approved one needs is approved with it, even what was rejected before.

    What was rejected and written is no item any more; it becomes one again by that. What was set aside stays so.

    Args:
        view: The files.
        decisions: undecided, approved, rejected or deferred, by item id.
        resolved: Of contradictions among them, which side holds, by item id: this, that, both or ask.

    Raises:
        NotFound: An id is none of the proposal's, or there is no proposal.
        InvalidInput: A word is no decision, or resolves nothing.
    """
    pending = read_pending(view)
    chosen = [_known(pending, item_id) for item_id in decisions]
    words = [_checked(item_id, word) for item_id, word in decisions.items()]
    checked = [(item.id, word) for item, word in zip(chosen, words, strict=True)]
    fields = {item_id: {items.RESOLVE: side} for item_id, side in (resolved or {}).items()}
    known = _with_declined(view, pending, checked)
    edited = known
    for item in chosen:
        for name, text in fields.get(item.id, {}).items():
            edited = edited.set_fields(item.id, {name: _field(item, name, text)})
    told = (
        f"{_edited(chosen[0], None, fields[chosen[0].id])}, {words[0]}"
        if len(chosen) == 1 and chosen[0].id in fields
        else _told(checked, chosen[0].text if chosen else "")
    )
    needed = _needed(known, checked)
    also = [(item.id, _APPROVED) for item in needed]
    ids = (*decisions, *(item.id for item in needed))
    warnings = (*_accepted_too(needed), *_left_accepted(known, checked))
    rejected = [item_id for item_id, word in checked if word == _REJECTED]
    warnings += still_needed(edited.decide(checked).items, rejected)
    return _plan(pending, edited.decide([*checked, *also]), ids, told, warnings)


def plan_edit_item(
    view: FileView,
    item_id: str,
    *,
    text: str | None,
    fields: Mapping[str, str] | None,
    decision: str | None,
) -> Plan[Changed]:
    """Plan other words for one item, and with them a decision on it.

    Args:
        view: The files.
        item_id: Which.
        text: What it shall propose instead.
        fields: Text by field; a blank one takes the field out.
        decision: undecided, approved, rejected or deferred.

    Raises:
        NotFound: It is none of the proposal's items.
        InvalidInput: It has no such field, or the words make no sense there.
    """
    pending = read_pending(view)
    item = _known(pending, item_id)
    edited, warnings, ids = pending, list[str](), [item_id]
    if text is not None:
        wording = clean_memory(text, what="What an item proposes")
        warnings += wording.warnings
        edited = edited.reword(item.id, wording.text)
    if fields:
        edited = edited.set_fields(item.id, {name: _field(item, name, fields[name]) for name in fields})
        answered = edited.item(item.id)
        if answered is not None and asked_core_item(answered):
            # What cannot be taken as an answer is refused while it can still be reworded.
            read_item(answered)
    told = _edited(item, text, fields or {})
    if decision is not None:
        checked = (item.id, _checked(item.id, decision))
        edited = _with_declined(view, edited, [checked])
        needed = _needed(edited, [checked])
        edited = edited.decide([checked, *((each.id, _APPROVED) for each in needed)])
        told = f"{told}, {decision}"
        warnings += (*_accepted_too(needed), *_left_accepted(pending, [checked]))
        ids += [each.id for each in needed]
    return _plan(pending, edited, tuple(ids), told, tuple(warnings))


def _needed(pending: PendingReflection, decided: Sequence[tuple[str, Decision]]) -> list[ReviewItem]:
    """Return the items that approved ones need, directly or by others, in the order of the file.

    Those that are decided on with them, were approved already or were set aside are left out.
    """
    words = dict(decided)
    ahead = [item_id for item_id, word in decided if word == _APPROVED]
    found: set[str] = set()
    items = {item.id: item for item in pending.items}
    while ahead:
        for need in items[ahead.pop()].needs:
            item = items.get(need)
            if item is not None and item.id not in {*found, *words} and item.decision in _TAKEN_ALONG:
                found.add(item.id)
                ahead.append(item.id)
    return [item for item in pending.items if item.id in found]


def _with_declined(
    view: FileView, pending: PendingReflection, decided: Sequence[tuple[str, Decision]]
) -> PendingReflection:
    """Return the proposal with the entities that approved items need and that were rejected, and written so, before."""
    approved = {item_id for item_id, word in decided if word == _APPROVED}
    approved |= {item.id for item in _needed(pending, decided)}
    gone = declined_needs(view, pending.items, approved)
    for item in gone.values():
        section = FORMS[Kind.ENTITY].section
        later = SECTIONS[SECTIONS.index(section) + 1 :]
        pending = pending.add(replace(item, section=section), later)
    return pending


def still_needed(items: Sequence[ReviewItem], rejected: Collection[str]) -> tuple[str, ...]:
    """Say of rejected items how many that need them still wait, and what becomes of those.

    Args:
        items: All items of the file, as they are decided on.
        rejected: Ids of those to tell of.
    """
    told = []
    for item in (item for item in items if item.id in rejected):
        waiting = sum(item.id in each.needs and each.decision in ("undecided", "deferred") for each in items)
        if waiting:
            needs = (
                "1 change that needs it still waits"
                if waiting == 1
                else f"{waiting} changes that need it still wait"
            )
            one = "accepting it" if waiting == 1 else "accepting one of them"
            told.append(f"{needs}; {one} accepts “{clip(item.text, _SHOWN)}” after all.")
    return tuple(told)


def _left_accepted(pending: PendingReflection, decided: Sequence[tuple[str, Decision]]) -> tuple[str, ...]:
    """Say what stays approved though nothing that is approved needs it any longer."""
    words = {item.id: item.decision for item in pending.items} | dict(decided)
    dropped = [item for item in pending.items if item.decision == _APPROVED != words[item.id]]
    needed = {need for item in pending.items if words[item.id] == _APPROVED for need in item.needs}
    left = {need for item in dropped for need in item.needs if words.get(need) == _APPROVED} - needed
    return tuple(f"“{clip(item.text, _SHOWN)}” stays accepted." for item in pending.items if item.id in left)


def _accepted_too(needed: Sequence[ReviewItem]) -> tuple[str, ...]:
    if not needed:
        return ()
    named = ", ".join(
        f"“{clip(item.text, _SHOWN)}”{' (declined before)' if item.decision == _REJECTED else ''}"
        for item in needed[:_NAMED]
    )
    more = f" and {len(needed) - _NAMED:,} more" if len(needed) > _NAMED else ""
    return (f"With it goes what it needs: {named}{more}.",)


def _plan(
    before: PendingReflection,
    after: PendingReflection,
    ids: tuple[str, ...],
    told: str,
    warnings: tuple[str, ...] = (),
) -> Plan[Changed]:
    content = after.render()
    changes = (FileChange(before.path, content, Action.EDIT, told),) if content != before.render() else ()
    outcome = Changed(None, ids=ids, warnings=warnings)
    return Plan(Action.EDIT, before.path, told, changes, outcome=outcome)


def _known(pending: PendingReflection, item_id: str) -> ReviewItem:
    if not pending.items:
        raise NotFound(
            "No reflection waits for decisions.",
            where=pending.path,
            remedy="Let one propose something with: workbench reflect",
        )
    item = pending.item(item_id)
    if item is not None:
        return item
    near = difflib.get_close_matches(item_id, [each.id for each in pending.items], _NEAR, 0.6)
    raise NotFound(
        f"There is no item {clip(item_id, 40)} to decide on.",
        where=pending.path,
        remedy=f"Did you mean {', '.join(near)}?" if near else "See `workbench review` for the list.",
    )


def _checked(item_id: str, word: str) -> Decision:
    if word not in DECISIONS:
        raise InvalidInput(
            f"“{clip(word, 40)}” is no decision.",
            where=item_id,
            remedy="Say approved, rejected, deferred or undecided.",
        )
    return cast("Decision", word)


def _field(item: ReviewItem, name: str, text: str) -> str:
    kind = kind_of(item.kind)
    allowed = EDITABLE.get(kind, ()) if kind else ()
    if name not in allowed:
        has = f"It has {', '.join(allowed)}." if allowed else "Its text alone can be changed."
        raise InvalidInput(f"A {item.kind} has no field “{clip(name, 40)}”.", where=item.id, remedy=has)
    if not text.strip():
        return ""
    if name == items.RESOLVE and text.strip().casefold() not in items.RESOLUTIONS:
        raise InvalidInput(
            f"“{clip(text, 40)}” resolves nothing.", where=item.id, remedy="Say this, that, both or ask."
        )
    if name == items.RESOLVE:
        return text.strip().casefold()
    if name in _DAYS:
        return _date(item, name, text.strip())
    what = f"The field “{name}”"
    return (clean_memory(text, what=what) if name in _LINES else clean_line(text, what=what)).text


def _date(item: ReviewItem, name: str, text: str) -> str:
    if is_date(text):
        return text
    raise InvalidInput(
        f"“{clip(text, 40)}” is no date for “{name}”.",
        where=item.id,
        remedy="Write it as 2026-02-03, 2026-02 or 2026.",
    )


def _edited(item: ReviewItem, text: str | None, fields: Mapping[str, str]) -> str:
    """Return one line that tells how an item was edited."""
    resolved = fields.get(items.RESOLVE, "").strip().casefold()
    if resolved and resolved != "ask":
        holds = items.field_of(item, resolved) or item.text
        return f"let {resolved} hold of {item.id} “{_quoted(holds)}”"
    if answer := fields.get(items.ANSWER, "").strip():
        return f"answered {item.id} “{_quoted(item.text)}”: {_quoted(answer)}"
    if text is not None:
        return f"reworded {item.id} as “{_quoted(text)}”"
    return f"changed {', '.join(fields) or 'nothing'} of {item.id} “{_quoted(item.text)}”"


def _quoted(text: str) -> str:
    return clip(" ".join(text.split()), _SHOWN)


def _told(decisions: Sequence[tuple[str, Decision]], text: str) -> str:
    """Say in a line what was decided: `approved r-012.1, r-012.2; rejected r-012.4`; of one item, what it says.

    Args:
        text: What the first item says.
    """
    if len(decisions) == 1:
        ((item_id, word),) = decisions
        return f"{_VERBS.get(word, word)} {item_id} “{_quoted(text)}”"
    by_word: dict[str, list[str]] = {}
    for item_id, word in decisions:
        by_word.setdefault(word, []).append(item_id)
    parts = []
    for decided, ids in by_word.items():
        verb = _VERBS.get(decided, decided)
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        parts.append(f"{verb} {', '.join(ids[:_NAMED])}{more}")
    return "; ".join(parts) or "decided nothing"

"""Core memory rewritten as single changes that keep within its cap, whichever of them are approved (§10.3, phase 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.reflection import items as forms
from workbench.engine.reflection.core_room import Room
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_context import context_changes
from workbench.engine.reflection.rules.core_corrections import core_corrections
from workbench.engine.reflection.rules.core_demotion import demotions
from workbench.engine.reflection.rules.core_identity import identity_changes
from workbench.engine.reflection.rules.core_persona import persona_changes
from workbench.engine.reflection.rules.core_promotion import promotions
from workbench.engine.reflection.rules.words import content_words, likeness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Snapshot
    from workbench.engine.reflection.work import Work

_SAME = 0.7


def rewrite_core(
    snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
) -> tuple[ReviewItem, ...]:
    """Return changes of core memory, one for each place, the surest first.

    All growth together keeps within the cap, so that any of the items may be approved or rejected. Where there is no
    room for a new item, it takes the place of a stale one, if there is one in its block.

    Args:
        snapshot: Its core memory and passages.
        agenda: Not needed by rules; what is newest decides.
        items: Of consolidation: their supersessions correct core memory.
        work: Told of progress.
    """
    del agenda
    asked = {proof.id for item in items if item.kind == Kind.QUESTION for proof in item.evidence}
    stale = [item for item in demotions(snapshot, work) if item.target not in asked]
    work.step(1, 2)
    chosen = _within_cap(snapshot, _wanted(snapshot, items, work), stale)
    work.step(2, 2)
    return chosen


def statements_for_core(
    snapshot: Snapshot, items: Sequence[ReviewItem], work: Work
) -> tuple[ReviewItem, ...]:
    """Return what core memory will be proposed to say, so that it is not proposed elsewhere too.

    Args:
        snapshot: As for `rewrite_core`.
        items: The conflicts found so far.
        work: Asked whether to go on.
    """
    return _within_cap(snapshot, _wanted(snapshot, items, work), ())


def _wanted(snapshot: Snapshot, items: Sequence[ReviewItem], work: Work) -> tuple[ReviewItem, ...]:
    wanted = (
        *core_corrections(snapshot, items),
        *identity_changes(snapshot, work),
        *promotions(snapshot, items, work),
        *context_changes(snapshot, work),
        *persona_changes(snapshot, work),
    )
    return _one_for_each_place(wanted, items)


def _one_for_each_place(wanted: Iterable[ReviewItem], items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Return the first change of each item and of each wording, none that a question or update puts in doubt."""
    doubted = [
        content_words(text)
        for item in items
        if item.kind == Kind.CONTRADICTION
        for label, text in item.fields
        if label in (forms.THIS, forms.THAT)
    ]
    places: set[str] = set()
    said: list[frozenset[str]] = []
    kept: list[ReviewItem] = []
    for item in wanted:
        words = content_words(item.text)
        changes = item.target.count(":") > 1
        if changes and item.target in places:
            continue
        if any(likeness(words, other) >= _SAME for other in (*said, *doubted)):
            continue
        places.add(item.target)
        said.append(words)
        kept.append(item)
    return tuple(kept)


def _within_cap(
    snapshot: Snapshot, wanted: Sequence[ReviewItem], stale: Sequence[ReviewItem]
) -> tuple[ReviewItem, ...]:
    room = Room(snapshot)
    changed = {item.target for item in wanted}
    free = {item.target: item for item in stale if item.target not in changed}
    kept: list[ReviewItem] = []
    for item in wanted:
        if room.take(item):
            kept.append(item)
            continue
        instead = next((_instead(item, old) for old in free.values() if _fits(item, old)), None)
        if instead is not None and room.take(instead):
            kept.append(instead)
            del free[instead.target]
    return (*kept, *free.values())


def _fits(item: ReviewItem, old: ReviewItem) -> bool:
    """Return whether a new item may stand where an old one stood: in the same block."""
    return (
        item.kind == Kind.CORE_CHANGE
        and item.target.count(":") == 1
        and old.target.startswith(f"{item.target}:")
    )


def _instead(item: ReviewItem, old: ReviewItem) -> ReviewItem:
    return forms.core_change(
        old.target,
        item.text,
        (*item.evidence, *old.evidence),
        reason=f"{item.reason} It takes the place of an item that is stale, as core memory has no room.",
        before=old.before,
    )

"""Bringing journalled accesses into the scores file, in batches and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.decay.journal import Access, Page, tally
from workbench.engine.decay.records import SCORED_STORES, Accesses, MemoryFacts, Reckoning, compose
from workbench.engine.decay.scores_file import (
    change,
    checked_of,
    entry_of,
    folded_of,
    with_folded,
)
from workbench.engine.decay.statuses import Transition, describe, transition_of
from workbench.engine.documents.decay_scores import DecayScores, EntryAccesses, ScoreEntry, latest
from workbench.engine.history.plan import Action, Plan
from workbench.engine.settings.sections import DecaySettings

Lookup = Callable[[str], MemoryFacts | None]
"""Tells a memory's facts by its id; None where there is no such memory (any more)."""


@dataclass(frozen=True)
class Folded:
    """What a fold did, and how far the journal may be dropped once its commit stands.

    Args:
        journal: The id of the journal that was read.
        offset: The offset up to which it is in the scores file now.
        ids: The memories whose entries changed.
        accesses: How many accesses were folded in.
        transitions: The memories whose status changed.
    """

    journal: str = ""
    offset: int = 0
    ids: tuple[str, ...] = ()
    accesses: int = 0
    transitions: tuple[Transition, ...] = ()


def fold_is_due(waiting: Sequence[Access], now: datetime, settings: DecaySettings) -> bool:
    """Tell whether waiting accesses are many or old enough to be folded in.

    Args:
        waiting: Accesses that the scores file does not hold yet.
        now: Aware.
        settings: Say how many and how old.
    """
    if not waiting:
        return False
    oldest = min(access.moment for access in waiting)
    return len(waiting) >= settings.fold_accesses or now - oldest >= timedelta(minutes=settings.fold_minutes)


def pending(scores: DecayScores, page: Page) -> dict[str, Accesses]:
    """Return the accesses that count beyond what the scores file holds, by memory id."""
    return tally(page.after(folded_of(scores)))


@dataclass(frozen=True)
class FoldedEntries:
    """Entries with waiting accesses counted in, the transitions this makes, and how many waited."""

    entries: Mapping[str, ScoreEntry]
    transitions: tuple[Transition, ...]
    accesses: int


def plan_scores(
    scores: DecayScores,
    page: Page,
    fold: FoldedEntries,
    extra: Mapping[str, object],
    reckoning: Reckoning,
) -> Plan[Folded]:
    """Plan to write folded entries and log their transitions; nothing at all where there are neither.

    Args:
        scores: The scores file as it is.
        page: What stood in the journal.
        fold: What to write.
        extra: Further keys of the file's outer object to set with it.
        reckoning: The moment and the constants.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    outcome = Folded(page.journal, page.end, tuple(fold.entries), fold.accesses, fold.transitions)
    if not fold.accesses and not fold.transitions:
        return Plan(Action.DECAY, layout.DECAY_SCORES, "nothing to fold in", outcome=outcome)
    if fold.transitions:
        action, summary = Action.DECAY, describe(fold.transitions)
    else:
        accesses = f"{fold.accesses} access{'es' if fold.accesses != 1 else ''}"
        memories = f"{len(fold.entries)} {'memories' if len(fold.entries) != 1 else 'memory'}"
        action, summary = Action.EDIT, f"folded in {accesses} of {memories}"
    if fold.accesses:
        extra = {**extra, "folded": with_folded(folded_of(scores), page.journal, page.end)}
    file = change(scores, fold.entries, action=action, summary=summary, now=reckoning.now, extra=extra)
    return Plan(action, layout.DECAY_SCORES, summary, (file,) if file else (), outcome=outcome)


def fold_entries(scores: DecayScores, page: Page, lookup: Lookup, reckoning: Reckoning) -> FoldedEntries:
    """Count waiting accesses into the entries of the memories they belong to.

    An access of a fact without a score of its own counts for its entity; accesses of memories that are gone are
    dropped.

    Args:
        scores: The scores file as it is.
        page: What stands in the journal.
        lookup: Tells a memory's facts by its id.
        reckoning: For the scores that are written along.
    """
    waiting = page.after(folded_of(scores))
    owners = {memory_id: _owner(memory_id, lookup) for memory_id in {access.id for access in waiting}}
    owned = [(owner, replace(access, id=owner.id)) for access in waiting if (owner := owners[access.id])]
    tallies = tally([access for _, access in owned])
    told_apart = _by_change(access for _, access in owned)
    checked = checked_of(scores)
    entries = {}
    transitions = []
    for facts in {owner.id: owner for owner, _ in owned}.values():
        standing = scores.entries.get(facts.id)
        record = compose(facts, standing, tallies[facts.id], reckoning)
        entry = entry_of(record, standing, reckoning)
        known = (standing or entry_of(compose(facts, None, None, reckoning), None, reckoning)).accesses
        others, changes = told_apart[facts.id]
        if changes or known.changes:
            last = latest(known.last, *(render_time(access.moment) for access in others))
            count = known.count + len(others)
            entry = entry.with_accesses(EntryAccesses(count, last, {**known.changes, **changes}))
        entries[facts.id] = entry
        if transition := transition_of(facts, standing, record, checked, reckoning):
            transitions.append(transition)
    return FoldedEntries(entries, tuple(transitions), len(waiting))


def _by_change(accesses: Iterable[Access]) -> dict[str, tuple[list[Access], dict[str, str]]]:
    """Return each memory's accesses that came with no change, and the times of those that did by their change."""
    found: dict[str, tuple[list[Access], dict[str, str]]] = {}
    for access in accesses:
        others, changes = found.setdefault(access.id, ([], {}))
        if access.change and access.change not in changes:
            changes[access.change] = render_time(access.moment)
        else:
            others.append(access)
    return found


def _owner(memory_id: str, lookup: Lookup) -> MemoryFacts | None:
    for candidate in dict.fromkeys((memory_id, memory_id.partition("#^")[0])):
        facts = lookup(candidate)
        if facts is not None and facts.store in SCORED_STORES:
            return facts
    return None

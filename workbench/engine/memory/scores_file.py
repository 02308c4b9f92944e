"""The scores file in plans: entries, folded accesses, and changes of status over time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.clock import in_zone, parse_time, render_time
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.history.state_files import write_state
from workbench.engine.markdown.decay_scores import DecayScores, EntryAccesses, ScoreEntry, latest_moment
from workbench.engine.memory import decay
from workbench.engine.memory.access_journal import Access, JournalPage, count_accesses
from workbench.engine.memory.decay import (
    SCORED_STORES,
    Accesses,
    DecayContext,
    DecayRecord,
    MemoryFacts,
    Transition,
    decay_record,
    describe_transitions,
    score_now,
    transition_of,
    written_status,
)
from workbench.engine.settings.sections import DecaySettings

MOST_WATERMARKS = 8

Lookup = Callable[[str], MemoryFacts | None]
"""Returns a memory's facts by its id; None if there is no such memory."""

MARK = "decay-checked"


def read_scores(view: FileView) -> DecayScores:
    """Return the scores file; an empty one if there is none."""
    return DecayScores.parse(view.read(layout.DECAY_SCORES) or b"", layout.DECAY_SCORES)


def folded_of(scores: DecayScores) -> dict[str, int]:
    """Return the watermark: for each journal by id, the offset up to which it is included."""
    found = scores.extra.get("folded")
    if not isinstance(found, Mapping):
        return {}
    return {str(journal): end for journal, end in found.items() if type(end) is int}


def with_folded(folded: Mapping[str, int], journal: str, offset: int) -> dict[str, int]:
    """Return the watermark advanced for one journal; the least recently folded journals are dropped."""
    moved = {known: end for known, end in folded.items() if known != journal}
    moved[journal] = offset
    return dict(list(moved.items())[-MOST_WATERMARKS:])


def checked_of(scores: DecayScores) -> datetime | None:
    """Return the moment up to which status transitions are logged; None if never."""
    found = scores.extra.get("checked")
    try:
        return parse_time(found) if isinstance(found, str) else None
    except InvalidInput:
        return None


def entry_of(record: DecayRecord, standing: ScoreEntry | None, context: DecayContext) -> ScoreEntry:
    """Return the scores file's entry for a record.

    Args:
        record: The inputs of the memory's score.
        standing: Its current entry, whose further keys are kept.
        context: For the score and status written for readers.
    """
    score = score_now(record, context)
    extra: dict[str, Any] = dict(standing.extra) if standing else {}
    extra.pop("archived", None)
    if record.archived:
        extra["archived"] = True
    vault = record.type_weight == decay.UNENDING
    entry = ScoreEntry(
        store=record.store,
        base_relevance=record.base,
        created=render_time(record.created),
        last_accessed=render_time(record.last_accessed),
        access_count=record.access_count,
        type_weight=1.0 if vault else record.type_weight,
        current_score=written_score(score.value),
        status=written_status(score.status),
        pinned=record.pinned,
        extra=tuple(extra.items()),
    )
    known = standing.accesses if standing else None
    if known is None or not known.changes:
        return entry
    more = record.access_count - known.count - len(known.changes)
    last = entry.last_accessed if more > 0 else known.last
    return entry.with_accesses(EntryAccesses(known.count + max(0, more), last, known.changes))


def rescored(entry: ScoreEntry, record: DecayRecord, context: DecayContext) -> ScoreEntry:
    """Return an entry with its present score and status, all else unchanged."""
    score = score_now(record, context)
    return dataclasses.replace(
        entry, current_score=written_score(score.value), status=written_status(score.status)
    )


def written_score(value: float) -> float:
    """Return a score rounded to four significant digits; only archived memories are written as 0."""
    return float(f"{value:.4g}")


def change_of_scores(
    before: DecayScores,
    entries: Mapping[str, ScoreEntry] | Mapping[str, ScoreEntry | None],
    *,
    action: Action,
    summary: str,
    now: datetime,
    extra: Mapping[str, Any] | None = None,
) -> FileChange | None:
    """Return the change of the scores file that sets or removes entries; None if nothing differs.

    Args:
        before: The current file, from `read_scores`.
        entries: New entries by memory id; None removes one.
        action: Its action in the audit log.
        summary: The audit line's summary.
        now: Written as the file's last update.
        extra: Keys of the outer object to set.

    Raises:
        DocumentError: The file's outer structure is broken.
    """
    differing = {
        memory_id: entry for memory_id, entry in entries.items() if entry != before.entries.get(memory_id)
    }
    if not differing and not extra:
        return None
    after = before.update(differing, last_updated=render_time(now), extra=extra)
    if not before.content and action is Action.EDIT:
        action = Action.CREATE
    return FileChange(layout.DECAY_SCORES, after.render(), action, summary)


@dataclass(frozen=True)
class FoldedAccesses:
    """The result of a fold, with the offset up to which the journal may be dropped after its commit.

    Args:
        journal: The journal's id.
        offset: The offset up to which the scores file now includes it.
        ids: The memories whose entries changed.
        accesses: Number of accesses folded in.
        transitions: The memories whose status changed.
    """

    journal: str = ""
    offset: int = 0
    ids: tuple[str, ...] = ()
    accesses: int = 0
    transitions: tuple[Transition, ...] = ()


def fold_is_due(waiting: Sequence[Access], now: datetime, settings: DecaySettings) -> bool:
    """Return True if the waiting accesses are numerous or old enough to be folded in.

    Args:
        waiting: Accesses not yet in the scores file.
        now: Aware.
        settings: They give the limits.
    """
    if not waiting:
        return False
    oldest = min(access.moment for access in waiting)
    return len(waiting) >= settings.fold_accesses or now - oldest >= timedelta(minutes=settings.fold_minutes)


def pending_accesses(scores: DecayScores, page: JournalPage) -> dict[str, Accesses]:
    """Return the accesses not yet in the scores file, by memory id."""
    return count_accesses(page.after(folded_of(scores)))


@dataclass(frozen=True)
class FoldedEntries:
    """Entries with waiting accesses counted in, the resulting transitions, and the number of accesses."""

    entries: Mapping[str, ScoreEntry]
    transitions: tuple[Transition, ...]
    accesses: int


def plan_scores(
    scores: DecayScores,
    page: JournalPage,
    fold: FoldedEntries,
    extra: Mapping[str, object],
    context: DecayContext,
) -> Plan[FoldedAccesses]:
    """Plan to write folded entries and log their transitions; empty if there are neither.

    Args:
        scores: The current scores file.
        page: The content of the journal.
        fold: The entries to write.
        extra: Further keys of the file's outer object to set.
        context: The moment and the constants.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    outcome = FoldedAccesses(page.journal, page.end, tuple(fold.entries), fold.accesses, fold.transitions)
    if not fold.accesses and not fold.transitions:
        return Plan(Action.DECAY, layout.DECAY_SCORES, "nothing to fold in", outcome=outcome)
    if fold.transitions:
        action, summary = Action.DECAY, describe_transitions(fold.transitions)
    else:
        accesses = f"{fold.accesses} access{'es' if fold.accesses != 1 else ''}"
        memories = f"{len(fold.entries)} {'memories' if len(fold.entries) != 1 else 'memory'}"
        action, summary = Action.EDIT, f"folded in {accesses} of {memories}"
    if fold.accesses:
        extra = {**extra, "folded": with_folded(folded_of(scores), page.journal, page.end)}
    file = change_of_scores(
        scores, fold.entries, action=action, summary=summary, now=context.now, extra=extra
    )
    return Plan(action, layout.DECAY_SCORES, summary, (file,) if file else (), outcome=outcome)


def fold_entries(
    scores: DecayScores, page: JournalPage, lookup: Lookup, context: DecayContext
) -> FoldedEntries:
    """Count waiting accesses into the entries of their memories.

    An access to a fact without a score of its own counts for its entity; accesses to deleted memories are dropped.

    Args:
        scores: The current scores file.
        page: The content of the journal.
        lookup: Returns a memory's facts by its id.
        context: For the scores written for readers.
    """
    waiting = page.after(folded_of(scores))
    owners = {memory_id: _owner(memory_id, lookup) for memory_id in {access.id for access in waiting}}
    owned = [(owner, replace(access, id=owner.id)) for access in waiting if (owner := owners[access.id])]
    tallies = count_accesses([access for _, access in owned])
    told_apart = _by_change(access for _, access in owned)
    checked = checked_of(scores)
    entries = {}
    transitions = []
    for facts in {owner.id: owner for owner, _ in owned}.values():
        standing = scores.entries.get(facts.id)
        record = decay_record(facts, standing, tallies[facts.id], context)
        entry = entry_of(record, standing, context)
        known = (standing or entry_of(decay_record(facts, None, None, context), None, context)).accesses
        others, changes = told_apart[facts.id]
        if changes or known.changes:
            last = latest_moment(known.last, *(render_time(access.moment) for access in others))
            count = known.count + len(others)
            entry = entry.with_accesses(EntryAccesses(count, last, {**known.changes, **changes}))
        entries[facts.id] = entry
        if transition := transition_of(facts, standing, record, checked, context):
            transitions.append(transition)
    return FoldedEntries(entries, tuple(transitions), len(waiting))


def _by_change(accesses: Iterable[Access]) -> dict[str, tuple[list[Access], dict[str, str]]]:
    """Return each memory's accesses without a change, and the times of the others by change."""
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


def plan_transitions(
    view: FileView, page: JournalPage, memories: Mapping[str, MemoryFacts], context: DecayContext
) -> Plan[FoldedAccesses]:
    """Plan to log every status transition since the last one logged; to be carried out as `system:decay`.

    Journalled accesses are folded in at the same time; the file stores the offset, so that a crash before the journal
    is dropped counts nothing twice. If no status has changed and no access waits, the file is left alone.

    Args:
        view: The files.
        page: The content of the journal.
        memories: All memories by id.
        context: The moment and the constants.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    scores = read_scores(view)
    fold = fold_entries(scores, page, memories.get, context)
    checked = checked_of(scores)
    entries = dict(fold.entries)
    transitions = list(fold.transitions)
    for facts in memories.values():
        if facts.store not in SCORED_STORES or facts.id in fold.entries:
            continue
        standing = scores.entries.get(facts.id)
        record = decay_record(facts, standing, None, context)
        transition = transition_of(facts, standing, record, checked, context)
        if transition is None:
            continue
        transitions.append(transition)
        # This does not create entries: without one, the status follows from the moment of the check.
        if standing is not None:
            entries[facts.id] = rescored(standing, record, context)
    whole = FoldedEntries(entries, tuple(transitions), fold.accesses)
    return plan_scores(scores, page, whole, {"checked": render_time(context.now)}, context)


def check_is_due(folder: Path, now: datetime, zone: tzinfo) -> bool:
    """Return True if a calendar day has begun since transitions were last checked here.

    Args:
        folder: This workspace's state directory.
        now: Aware.
        zone: The workspace's time zone.
    """
    try:
        last = parse_time((folder / MARK).read_text("utf-8"))
    except (OSError, InvalidInput, UnicodeDecodeError):
        return True
    return in_zone(last, zone).date() != now.astimezone(zone).date()


def mark_checked(folder: Path, now: datetime) -> None:
    """Record that transitions were checked; without the record they are checked again."""
    write_state(folder / MARK, render_time(now).encode())

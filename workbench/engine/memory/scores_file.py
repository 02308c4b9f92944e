"""The scores file in plans: decisions about decay, folded accesses, and changes of status over time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any, assert_never

from workbench.engine import layout
from workbench.engine.clock import in_zone, parse_time, render_time
from workbench.engine.errors import InvalidInput
from workbench.engine.file_access import write_state
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.markdown.decay_scores import DecayScores, EntryAccesses, ScoreEntry, latest_moment
from workbench.engine.memory.access_journal import Access, JournalPage, count_accesses
from workbench.engine.memory.decay import (
    ARCHIVED,
    SCORED_STORES,
    UNENDING,
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
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.wording import clip
from workbench.engine.settings.sections import DecaySettings
from workbench.engine.values import dataclass

# Each device has journals of its own.
MOST_WATERMARKS = 32

MARK = "decay-checked"

_MOST_NAMED = 3


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


def _checked_of(scores: DecayScores) -> datetime | None:
    """Return the moment up to which status transitions are logged; None if never."""
    found = scores.extra.get("checked")
    try:
        return parse_time(found) if isinstance(found, str) else None
    except InvalidInput:
        return None


def entry_of(record: DecayRecord, standing: ScoreEntry | None, context: DecayContext) -> ScoreEntry:
    """Return the scores file's entry for a record.

    Args:
        standing: Its current entry, whose further keys are kept.
    """
    score = score_now(record, context)
    extra: dict[str, Any] = dict(standing.extra) if standing else {}
    extra.pop("archived", None)
    if record.archived:
        extra["archived"] = True
    vault = record.type_weight == UNENDING
    entry = ScoreEntry(
        store=record.store,
        base_relevance=record.base,
        created=render_time(record.created),
        last_accessed=render_time(record.last_accessed),
        access_count=record.access_count,
        type_weight=1.0 if vault else record.type_weight,
        current_score=_written_score(score.value),
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
    return replace(entry, current_score=_written_score(score.value), status=written_status(score.status))


def _written_score(value: float) -> float:
    """Return a score rounded to four significant digits; only archived memories are written as 0."""
    return float(f"{value:.4g}")


def _change_of_scores(
    before: DecayScores,
    entries: Mapping[str, ScoreEntry] | Mapping[str, ScoreEntry | None],
    *,
    action: Action,
    summary: str,
    now: datetime,
    extra: Mapping[str, Any] | None = None,
) -> FileChange | None:
    """Return the change that sets entries, or removes those that are None; None if nothing differs."""
    differing = {
        memory_id: entry for memory_id, entry in entries.items() if entry != before.entries.get(memory_id)
    }
    if not differing and not extra:
        return None
    after = before.update(differing, last_updated=render_time(now), extra=extra)
    if not before.content and action is Action.EDIT:
        action = Action.CREATE
    return FileChange(layout.DECAY_SCORES, after.render(), action, summary)


def write_entries(
    draft: Draft, entries: Mapping[str, ScoreEntry | None], action: Action, summary: str, now: datetime
) -> None:
    """Set or remove entries of the scores file in a draft; see `change_of_scores`."""
    file = _change_of_scores(read_scores(draft), entries, action=action, summary=summary, now=now)
    if file is not None and file.content is not None:
        draft.write(file.path, file.content, file.action, file.summary)


class Decision(Enum):
    """A decision of a person or an agent about a memory's decay, with its action and its verb in the audit log.

    Archiving hides a memory from search (design document §8.3): score 0, status archived. It keeps a pin, so that
    restoring brings it back. Reinforcing counts an access at once, bypassing the journal (§9.4).
    """

    PIN = (Action.PIN, "pinned")
    UNPIN = (Action.UNPIN, "unpinned")
    ARCHIVE = (Action.ARCHIVE, "archived")
    RESTORE = (Action.RESTORE, "restored")
    REINFORCE = (Action.EDIT, "reinforced")

    @property
    def action(self) -> Action:
        return self.value[0]

    @property
    def verb(self) -> str:
        return self.value[1]


def decide(
    draft: Draft, decision: Decision, memories: Sequence[MemoryFacts], context: DecayContext
) -> tuple[str, ...]:
    """Carry out a decision in a draft; the audit log names the memories by their titles too.

    Arguments and errors as for `plan_decision`.

    Returns:
        The ids of the memories that it changes.
    """
    entries = _decided_entries(read_scores(draft), decision, memories, context)
    # “Why did you forget about X?” is answered by searching for X in the audit log.
    named = [f"{facts.id} “{clip(facts.title, 40)}”" for facts in memories if facts.id in entries]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    summary = f"{decision.verb} {', '.join(named[:_MOST_NAMED])}{more}"
    write_entries(draft, entries, decision.action, summary, context.now)
    return tuple(entries)


def plan_decision(
    view: FileView, decision: Decision, memories: Sequence[MemoryFacts], context: DecayContext
) -> Plan[tuple[str, ...]]:
    """Plan to carry out a decision.

    Args:
        memories: The memories that it is about; those that it does not change are skipped.

    Returns:
        A plan with the ids of the memories that it changes.

    Raises:
        InvalidInput: One of them has no score; or it cannot be unpinned, as it is in the vault or its own text pins it.
        DocumentError: The scores file's outer structure is broken.
    """
    scores = read_scores(view)
    entries = _decided_entries(scores, decision, memories, context)
    ids = tuple(entries)
    if not ids:
        return Plan(decision.action, layout.DECAY_SCORES, "nothing to change", outcome=())
    summary = f"{decision.verb} {ids[0] if len(ids) == 1 else f'{len(ids)} memories'}"
    file = _change_of_scores(scores, entries, action=decision.action, summary=summary, now=context.now)
    return Plan(decision.action, layout.DECAY_SCORES, summary, (file,) if file else (), outcome=ids)


def _decided_entries(
    scores: DecayScores, decision: Decision, memories: Sequence[MemoryFacts], context: DecayContext
) -> dict[str, ScoreEntry]:
    entries = {}
    for facts in memories:
        standing = scores.entries.get(facts.id)
        record = decay_record(facts, standing, None, context)
        decided = _decided(decision, facts, record, context)
        if decided != record:
            entries[facts.id] = entry_of(decided, standing, context)
    return entries


def _decided(
    decision: Decision, facts: MemoryFacts, record: DecayRecord, context: DecayContext
) -> DecayRecord:
    match decision:
        case Decision.PIN:
            is_pinned = facts.store == "vault" or facts.pinned
            return record if is_pinned else replace(record, pinned=True, archived=False)
        case Decision.UNPIN:
            _check_may_unpin(facts)
            return replace(record, pinned=False)
        case Decision.ARCHIVE:
            return replace(record, archived=True)
        case Decision.RESTORE:
            back = replace(record, archived=False)
            # Below the archive threshold, it would stay hidden without an access.
            return _accessed(back, context) if score_now(back, context).status == ARCHIVED else back
        case Decision.REINFORCE:
            return _accessed(record, context)
    assert_never(decision)


def _check_may_unpin(facts: MemoryFacts) -> None:
    if facts.store == "vault":
        raise InvalidInput(
            "Memories in the vault never decay.", where=facts.id, remedy="Move it to another store first."
        )
    if facts.pinned:
        raise InvalidInput(
            "This memory’s own text marks it as pinned.",
            where=facts.id,
            remedy="Edit the memory and take the mark out.",
        )


def _accessed(record: DecayRecord, context: DecayContext) -> DecayRecord:
    last = max(record.last_accessed, context.now)
    return replace(record, access_count=record.access_count + 1, last_accessed=last)


def drop_entries(draft: Draft, memory_ids: Collection[str], now: datetime) -> None:
    """Remove the entries of deleted memories and of their facts and relations in a draft.

    The summary does not name them: deleted content may not survive in it.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    wanted = set(memory_ids)
    known = read_scores(draft).entries
    gone = {each: None for each in known if each in wanted or each.partition("#^")[0] in wanted}
    summary = f"dropped {len(gone)} {'entry' if len(gone) == 1 else 'entries'}"
    write_entries(draft, gone, Action.EDIT, summary, now)


@dataclass(frozen=True)
class FoldedAccesses:
    """The result of a fold, with the offset up to which the journal may be dropped after its commit.

    Args:
        offset: The offset up to which the scores file now includes it.
        ids: The memories whose entries changed.
        accesses: Number of accesses folded in.
        transitions: The memories whose status changed.
    """

    journal: str
    offset: int
    ids: tuple[str, ...]
    accesses: int
    transitions: tuple[Transition, ...]


def fold_is_due(waiting: Sequence[Access], now: datetime, settings: DecaySettings) -> bool:
    """Return True if the waiting accesses are numerous or old enough to be folded in."""
    if not waiting:
        return False
    oldest = min(access.moment for access in waiting)
    return len(waiting) >= settings.fold_accesses or now - oldest >= timedelta(minutes=settings.fold_minutes)


def pending_accesses(scores: DecayScores, page: JournalPage) -> dict[str, Accesses]:
    """Return the accesses not yet in the scores file, by memory id."""
    return count_accesses(page.after(folded_of(scores)))


def plan_transitions(
    view: FileView, page: JournalPage, memories: Mapping[str, MemoryFacts], context: DecayContext
) -> Plan[FoldedAccesses]:
    """Plan to log every status transition since the last one logged; to be carried out as `system:decay`.

    Journalled accesses are folded in at the same time; the file stores the offset, so that a crash before the journal
    is dropped counts nothing twice. If no status has changed and no access waits, the file is left alone.

    An access to a fact without a score of its own counts for its entity; accesses to deleted memories are dropped.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    scores = read_scores(view)
    waiting = page.after(folded_of(scores))
    checked = _checked_of(scores)
    entries: dict[str, ScoreEntry] = {}
    transitions: list[Transition] = []
    accesses = _by_owner(waiting, memories)
    for facts in (*(memories[owner] for owner in accesses), *memories.values()):
        if facts.store not in SCORED_STORES or facts.id in entries:
            continue
        standing = scores.entries.get(facts.id)
        if facts.id in accesses:
            own = accesses[facts.id]
            record = decay_record(facts, standing, count_accesses(own)[facts.id], context)
            entries[facts.id] = _with_accesses(facts, standing, record, own, context)
        else:
            record = decay_record(facts, standing, None, context)
        transition = transition_of(facts, standing, record, checked, context)
        if transition is None:
            continue
        transitions.append(transition)
        # This does not create entries: without one, the status follows from the moment of the check.
        if standing is not None and facts.id not in accesses:
            entries[facts.id] = rescored(standing, record, context)
    outcome = FoldedAccesses(page.journal, page.end, tuple(entries), len(waiting), tuple(transitions))
    if not waiting and not transitions:
        return Plan(Action.DECAY, layout.DECAY_SCORES, "nothing to fold in", outcome=outcome)
    if transitions:
        action, summary = Action.DECAY, describe_transitions(transitions)
    else:
        told = f"{len(waiting)} access{'es' if len(waiting) != 1 else ''}"
        action = Action.EDIT
        summary = f"folded in {told} of {len(entries)} {'memories' if len(entries) != 1 else 'memory'}"
    extra: dict[str, object] = {"checked": render_time(context.now)}
    if waiting:
        extra["folded"] = with_folded(folded_of(scores), page.journal, page.end)
    file = _change_of_scores(scores, entries, action=action, summary=summary, now=context.now, extra=extra)
    return Plan(action, layout.DECAY_SCORES, summary, (file,) if file else (), outcome=outcome)


def _by_owner(waiting: Iterable[Access], memories: Mapping[str, MemoryFacts]) -> dict[str, list[Access]]:
    """Return the accesses by the memory whose score they count for."""
    found: dict[str, list[Access]] = {}
    for access in waiting:
        for candidate in (access.id, access.id.partition("#^")[0]):
            facts = memories.get(candidate)
            if facts is not None and facts.store in SCORED_STORES:
                found.setdefault(facts.id, []).append(replace(access, id=facts.id))
                break
    return found


def _with_accesses(
    facts: MemoryFacts,
    standing: ScoreEntry | None,
    record: DecayRecord,
    accesses: Iterable[Access],
    context: DecayContext,
) -> ScoreEntry:
    """Return a memory's entry with accesses counted in, those by changes of memory apart from the others."""
    entry = entry_of(record, standing, context)
    known = (standing or entry_of(decay_record(facts, None, None, context), None, context)).accesses
    changes: dict[str, str] = {}
    others: list[str] = []
    for access in accesses:
        time = render_time(access.moment)
        if access.change and access.change not in changes:
            changes[access.change] = time
        else:
            others.append(time)
    if not changes and not known.changes:
        return entry
    last = latest_moment(known.last, *others)
    return entry.with_accesses(EntryAccesses(known.count + len(others), last, {**known.changes, **changes}))


def check_is_due(folder: Path, now: datetime, zone: tzinfo) -> bool:
    """Return True if a calendar day has begun since transitions were last checked here."""
    try:
        last = parse_time((folder / MARK).read_text("utf-8"))
    except (OSError, InvalidInput, UnicodeDecodeError):
        return True
    return in_zone(last, zone).date() != now.astimezone(zone).date()


def mark_checked(folder: Path, now: datetime) -> None:
    """Record that transitions were checked; without the record they are checked again."""
    write_state(folder / MARK, render_time(now).encode())

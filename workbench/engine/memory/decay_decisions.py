"""Decisions of people and agents about a memory's decay: pin, archive, restore, reinforce, drop."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.markdown.decay_scores import DecayScores, ScoreEntry
from workbench.engine.memory import decay
from workbench.engine.memory.decay import DecayContext, DecayRecord, MemoryFacts, decay_record, score_now
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.lookup import LocatedMemory
from workbench.engine.memory.scores_file import change_of_scores, entry_of, read_scores
from workbench.engine.memory.wording import clip
from workbench.engine.settings.sections import Settings

Decision = Callable[[DecayRecord], DecayRecord]

# A memory without a source was written on purpose, by a person or at a person's request.
_UNSTATED_SOURCE = "user-explicit"
_UNSEEN: Mapping[str, datetime] = MappingProxyType({})
_MOST_NAMED = 3


def plan_pin(view: FileView, memories: Sequence[MemoryFacts], context: DecayContext) -> Plan[tuple[str, ...]]:
    """Plan to protect memories from decay; archived ones are restored.

    Args:
        view: The files.
        memories: The memories to pin.
        context: The moment and the constants.

    Returns:
        A plan with the ids that were not pinned before.

    Raises:
        InvalidInput: One of them has no score.
        DocumentError: The scores file's outer structure is broken.
    """
    return _plan(
        view,
        [facts for facts in memories if facts.store != "vault" and not facts.pinned],
        context,
        Action.PIN,
        "pinned",
        lambda record: dataclasses.replace(record, pinned=True, archived=False),
    )


def plan_unpin(
    view: FileView, memories: Sequence[MemoryFacts], context: DecayContext
) -> Plan[tuple[str, ...]]:
    """Plan to let pinned memories decay again, counting from their last access.

    Arguments, outcome and errors as for `plan_pin`, and:

    Raises:
        InvalidInput: A memory is in the vault, or its own text pins it.
    """
    for facts in memories:
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
    return _plan(
        view,
        memories,
        context,
        Action.UNPIN,
        "unpinned",
        lambda record: dataclasses.replace(record, pinned=False),
    )


def plan_archive(
    view: FileView, memories: Sequence[MemoryFacts], context: DecayContext
) -> Plan[tuple[str, ...]]:
    """Plan to hide memories from search (design document §8.3): score 0, status archived.

    A pin is kept, so that restoring brings it back. Arguments, outcome and errors as for `plan_pin`.
    """
    return _plan(
        view,
        memories,
        context,
        Action.ARCHIVE,
        "archived",
        lambda record: dataclasses.replace(record, archived=True),
    )


def plan_restore(
    view: FileView, memories: Sequence[MemoryFacts], context: DecayContext
) -> Plan[tuple[str, ...]]:
    """Plan to restore memories archived by decision or by a low score.

    If a memory’s score is below the archive threshold, restoring counts as an access, or it would stay hidden.
    Arguments, outcome and errors as for `plan_pin`; memories that are not archived are skipped.
    """

    def restored(record: DecayRecord) -> DecayRecord:
        back = dataclasses.replace(record, archived=False)
        sunk = score_now(back, context).status == decay.ARCHIVED
        return _accessed(back, context) if sunk else back

    return _plan(view, memories, context, Action.RESTORE, "restored", restored)


def plan_reinforce(
    view: FileView, memories: Sequence[MemoryFacts], context: DecayContext
) -> Plan[tuple[str, ...]]:
    """Plan to count an access of memories at once, bypassing the journal (design document §9.4).

    Arguments, outcome and errors as for `plan_pin`.
    """
    return _plan(
        view, memories, context, Action.EDIT, "reinforced", lambda record: _accessed(record, context)
    )


def plan_drop(view: FileView, memory_ids: Collection[str], context: DecayContext) -> Plan[tuple[str, ...]]:
    """Plan to remove the entries of deleted memories and of their facts and relations.

    The summary does not name them: deleted content may not survive in it.

    Args:
        view: The files.
        memory_ids: The memories; those without an entry are skipped.
        context: The moment.

    Returns:
        A plan with the ids that had an entry.

    Raises:
        DocumentError: The scores file's outer structure is broken.
    """
    scores = read_scores(view)
    wanted = set(memory_ids)
    gone: dict[str, ScoreEntry | None] = {
        known: None for known in scores.entries if known in wanted or known.partition("#^")[0] in wanted
    }
    summary = f"dropped {len(gone)} {'entry' if len(gone) == 1 else 'entries'}"
    return _as_plan(scores, gone, context, Action.EDIT, summary)


def _accessed(record: DecayRecord, context: DecayContext) -> DecayRecord:
    return dataclasses.replace(
        record,
        access_count=record.access_count + 1,
        last_accessed=max(record.last_accessed, context.now),
    )


def _plan(
    view: FileView,
    memories: Sequence[MemoryFacts],
    context: DecayContext,
    action: Action,
    verb: str,
    decide: Decision,
) -> Plan[tuple[str, ...]]:
    scores = read_scores(view)
    entries: dict[str, ScoreEntry | None] = {}
    for facts in memories:
        standing = scores.entries.get(facts.id)
        record = decay_record(facts, standing, None, context)
        decided = decide(record)
        if decided != record:
            entries[facts.id] = entry_of(decided, standing, context)
    ids = tuple(entries)
    summary = f"{verb} {ids[0]}" if len(ids) == 1 else f"{verb} {len(ids)} memories"
    return _as_plan(scores, entries, context, action, summary)


def _as_plan(
    scores: DecayScores,
    entries: dict[str, ScoreEntry | None],
    context: DecayContext,
    action: Action,
    summary: str,
) -> Plan[tuple[str, ...]]:
    ids = tuple(entries)
    if not ids:
        return Plan(action, layout.DECAY_SCORES, "nothing to change", outcome=())
    file = change_of_scores(scores, entries, action=action, summary=summary, now=context.now)
    return Plan(action, layout.DECAY_SCORES, summary, (file,) if file else (), outcome=ids)


class _Planner(Protocol):
    def __call__(
        self, view: FileView, memories: Sequence[MemoryFacts], context: DecayContext
    ) -> Plan[tuple[str, ...]]: ...


def decay_context(now: datetime, settings: Settings) -> DecayContext:
    """Return the context for scores at `now` (aware, in the workspace's zone)."""
    return DecayContext(now, now.tzinfo or settings.zone, settings.decay)


def memory_facts(memory: LocatedMemory, first_seen: Mapping[str, datetime] = _UNSEEN) -> MemoryFacts:
    """Return the facts in a memory's text that affect its score.

    Args:
        memory: The memory.
        first_seen: When memories entered the history, by id, for those whose files do not say.
    """
    return MemoryFacts(
        str(memory.id),
        memory.id.store,
        memory.source or _UNSTATED_SOURCE,
        memory.created,
        first_seen.get(str(memory.id)),
        pinned=memory.pinned,
        title=memory.title,
    )


def pin(draft: Draft, memories: Sequence[LocatedMemory], context: DecayContext) -> tuple[str, ...]:
    """Pin memories in a draft; return the ids that were not pinned before."""
    return _join(draft, plan_pin, "pinned", memories, context, _UNSEEN)


def archive(
    draft: Draft,
    memories: Sequence[LocatedMemory],
    context: DecayContext,
    first_seen: Mapping[str, datetime] = _UNSEEN,
) -> tuple[str, ...]:
    """Archive memories in a draft; return the ids that were not archived before."""
    return _join(draft, plan_archive, "archived", memories, context, first_seen)


def restore(
    draft: Draft,
    memories: Sequence[LocatedMemory],
    context: DecayContext,
    first_seen: Mapping[str, datetime] = _UNSEEN,
) -> tuple[str, ...]:
    """Restore memories in a draft; return the ids that were archived."""
    return _join(draft, plan_restore, "restored", memories, context, first_seen)


def drop(draft: Draft, memory_ids: Sequence[str], context: DecayContext) -> tuple[str, ...]:
    """Drop the entries of memories and their facts from a draft; return the ids that had one."""
    plan = plan_drop(draft, memory_ids, context)
    _lay(draft, plan)
    return plan.outcome


def _join(
    draft: Draft,
    planner: _Planner,
    verb: str,
    memories: Sequence[LocatedMemory],
    context: DecayContext,
    first_seen: Mapping[str, datetime],
) -> tuple[str, ...]:
    plan = planner(draft, [memory_facts(memory, first_seen) for memory in memories], context)
    # “Why did you forget about X?” is answered by searching for X in the audit log.
    named = [f"{m.id} “{clip(m.title, 40)}”" for m in memories if str(m.id) in plan.outcome]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    _lay(draft, plan, f"{verb} {', '.join(named[:_MOST_NAMED])}{more}")
    return plan.outcome


def _lay(draft: Draft, plan: Plan[tuple[str, ...]], summary: str = "") -> None:
    for change in plan.changes:
        if change.content is not None:
            draft.write(change.path, change.content, change.action, summary or change.summary)

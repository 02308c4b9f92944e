"""Decay decisions about located memories, joined to the draft of a larger plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from workbench.engine.decay.pins import plan_archive, plan_drop, plan_pin, plan_restore
from workbench.engine.decay.records import MemoryFacts, Reckoning
from workbench.engine.history.plan import FileView, Plan
from workbench.engine.settings.sections import Settings
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.locate import Placed
from workbench.engine.stores.wording import clip

# What does not say where it comes from was written on purpose, by a person or at a person's word.
_UNSTATED_SOURCE = "user-explicit"
_UNSEEN: Mapping[str, datetime] = MappingProxyType({})
_MOST_NAMED = 3


class _Planner(Protocol):
    def __call__(
        self, view: FileView, memories: Sequence[MemoryFacts], reckoning: Reckoning
    ) -> Plan[tuple[str, ...]]: ...


def reckoning_at(now: datetime, settings: Settings) -> Reckoning:
    """Return what scores are reckoned with; `now` is aware, in the workspace's zone."""
    return Reckoning(now, now.tzinfo or settings.zone, settings.decay)


def memory_facts(placed: Placed, first_seen: Mapping[str, datetime] = _UNSEEN) -> MemoryFacts:
    """Return what a memory's own text says that matters to its score.

    Args:
        placed: The memory.
        first_seen: When memories came into the history, by id, as far as their files do not say.
    """
    return MemoryFacts(
        str(placed.id),
        placed.id.store,
        placed.source or _UNSTATED_SOURCE,
        placed.created,
        first_seen.get(str(placed.id)),
        pinned=placed.pinned,
        title=placed.title,
    )


def pin(draft: Draft, memories: Sequence[Placed], reckoning: Reckoning) -> tuple[str, ...]:
    """Draft that memories never decay; return the ids that were not pinned before."""
    return _join(draft, plan_pin, "pinned", memories, reckoning, _UNSEEN)


def archive(
    draft: Draft,
    memories: Sequence[Placed],
    reckoning: Reckoning,
    first_seen: Mapping[str, datetime] = _UNSEEN,
) -> tuple[str, ...]:
    """Draft that memories are hidden; return the ids that were not before."""
    return _join(draft, plan_archive, "archived", memories, reckoning, first_seen)


def restore(
    draft: Draft,
    memories: Sequence[Placed],
    reckoning: Reckoning,
    first_seen: Mapping[str, datetime] = _UNSEEN,
) -> tuple[str, ...]:
    """Draft that hidden memories come back; return the ids that were hidden."""
    return _join(draft, plan_restore, "restored", memories, reckoning, first_seen)


def drop(draft: Draft, memory_ids: Sequence[str], reckoning: Reckoning) -> tuple[str, ...]:
    """Draft that the entries of memories, and of facts of them, go; return the ids that had one."""
    plan = plan_drop(draft, memory_ids, reckoning)
    _lay(draft, plan)
    return plan.outcome


def _join(
    draft: Draft,
    planner: _Planner,
    verb: str,
    memories: Sequence[Placed],
    reckoning: Reckoning,
    first_seen: Mapping[str, datetime],
) -> tuple[str, ...]:
    plan = planner(draft, [memory_facts(placed, first_seen) for placed in memories], reckoning)
    # “Why did you forget about X?” is answered by looking for X in the audit log.
    named = [f"{m.id} “{clip(m.title, 40)}”" for m in memories if str(m.id) in plan.outcome]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    _lay(draft, plan, f"{verb} {', '.join(named[:_MOST_NAMED])}{more}")
    return plan.outcome


def _lay(draft: Draft, plan: Plan[tuple[str, ...]], summary: str = "") -> None:
    for change in plan.changes:
        if change.content is not None:
            draft.write(change.path, change.content, change.action, summary or change.summary)

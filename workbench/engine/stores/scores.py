"""Decay decisions about located memories, joined to the draft of a larger plan."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from workbench.engine.decay.pins import plan_archive, plan_drop, plan_pin, plan_restore
from workbench.engine.decay.records import MemoryFacts, Reckoning
from workbench.engine.decay.scores_file import read_scores
from workbench.engine.history.plan import FileView, Plan
from workbench.engine.settings import Settings
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.locate import Placed


class _Planner(Protocol):
    def __call__(
        self, view: FileView, memories: Sequence[MemoryFacts], reckoning: Reckoning
    ) -> Plan[tuple[str, ...]]: ...


def reckoning_at(now: datetime, settings: Settings) -> Reckoning:
    """Return what scores are reckoned with; `now` is aware, in the workspace's zone."""
    return Reckoning(now, now.tzinfo or settings.zone, settings.decay)


def memory_facts(placed: Placed) -> MemoryFacts:
    """Return what a memory's own text says that matters to its score."""
    return MemoryFacts(
        str(placed.id),
        placed.id.store,
        placed.source,
        placed.created,
        pinned=placed.pinned,
        title=placed.title,
    )


def pin(draft: Draft, memories: Sequence[Placed], reckoning: Reckoning) -> tuple[str, ...]:
    """Draft that memories never decay; return the ids that did before."""
    return _join(draft, plan_pin, memories, reckoning)


def archive(draft: Draft, memories: Sequence[Placed], reckoning: Reckoning) -> tuple[str, ...]:
    """Draft that memories are hidden; return the ids that were not before."""
    return _join(draft, plan_archive, memories, reckoning)


def restore(draft: Draft, memories: Sequence[Placed], reckoning: Reckoning) -> tuple[str, ...]:
    """Draft that hidden memories come back; return the ids that were hidden."""
    return _join(draft, plan_restore, memories, reckoning)


def drop(draft: Draft, memory_ids: Sequence[str], reckoning: Reckoning) -> tuple[str, ...]:
    """Draft that the entries of memories, and of facts of them, go; return the ids that had one."""
    plan = plan_drop(draft, memory_ids, reckoning)
    _lay(draft, plan)
    return plan.outcome


def noted(view: FileView, memory_id: str) -> dict[str, Any]:
    """Return the further keys of a memory's entry in the scores file; empty where it has none."""
    entry = read_scores(view).entries.get(memory_id)
    return dict(entry.extra) if entry is not None else {}


def _join(
    draft: Draft, planner: _Planner, memories: Sequence[Placed], reckoning: Reckoning
) -> tuple[str, ...]:
    plan = planner(draft, [memory_facts(placed) for placed in memories], reckoning)
    _lay(draft, plan)
    return plan.outcome


def _lay(draft: Draft, plan: Plan[tuple[str, ...]]) -> None:
    for change in plan.changes:
        if change.content is not None:
            draft.write(change.path, change.content, change.action, change.summary)

"""Takes proposals out of the file once the reflection that took them up was decided on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from workbench.engine import layout
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.proposals.file import read_proposals, without

T = TypeVar("T")


def clearing(plan: Plan[T], view: FileView, numbers: Iterable[int]) -> Plan[T]:
    """Return a plan that takes some proposals out of the file as well; those that are gone already do not matter.

    Args:
        plan: Carries out a person's decisions.
        view: The files.
        numbers: Of the proposals that were decided by them.
    """
    pending = read_proposals(view)
    gone = [number for number in numbers if pending.proposal(number) is not None]
    if not gone or any(change.path == layout.PENDING_MEMORIES for change in plan.changes):
        return plan
    told = f"decided in a reflection: {', '.join(f'proposal #{number}' for number in gone)}"
    change = FileChange(layout.PENDING_MEMORIES, without(pending, gone).render(), Action.EDIT, told)
    return replace(plan, changes=(*plan.changes, change))

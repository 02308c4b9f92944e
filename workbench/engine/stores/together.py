"""Several plans of one kind made into one, so that what was done at once is one commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.engine.history.plan import FileView, Plan
from workbench.engine.results.memories import Changed
from workbench.engine.stores.drafting import Draft


def plan_together(
    view: FileView, planners: Sequence[Callable[[FileView], Plan[Changed]]], summary: str
) -> Plan[Changed]:
    """Plan what several planners want, each seeing what those before it want.

    Args:
        view: The files.
        planners: One or more.
        summary: The one line of the whole, used where there is more than one.
    """
    draft = Draft(view)
    plans = []
    for planner in planners:
        plan = planner(draft)
        for change in plan.changes:
            if change.content is None:
                draft.delete(change.path, change.summary)
            else:
                draft.write(change.path, change.content, change.action, change.summary)
        plans.append(plan)
    ids = tuple(dict.fromkeys(one for plan in plans for one in plan.outcome.ids))
    warnings = tuple(dict.fromkeys(one for plan in plans for one in plan.outcome.warnings))
    first = plans[0]
    line = summary if len(plans) > 1 else first.summary
    return draft.plan(first.action, first.file, line, Changed(None, ids=ids, warnings=warnings))

"""Meta-reflection by a model: what the books of reflection say to this one (design document §10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Guidance
from workbench.engine.reflection.model_mind import material
from workbench.engine.reflection.model_mind.inquiry import lines_of
from workbench.engine.reflection.model_mind.schemas import items_schema, list_of, record

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Agenda
    from workbench.engine.reflection.model_mind.inquiry import Inquiry

_LINES: Final = list_of({"type": "string"})
_MOST_LINES: Final = 8
_MILESTONES: Final = "evolution:Milestones"


def look_back(inquiry: Inquiry, agenda: Agenda, known: Guidance) -> Guidance:
    """Return themes, revised assumptions, open questions and insights as the model sees them.

    Args:
        inquiry: Of the cycle.
        agenda: Of the survey.
        known: What rules found: it says whether a milestone is due, and gives it where the model does not.

    Raises:
        NoAnswer: The model gave none.
    """
    snapshot = inquiry.snapshot
    sizes, shown = inquiry.sizes, inquiry.shown()
    data = {
        **material.about(snapshot),
        "milestone": known.milestone,
        **material.past_rows(snapshot, shown, sizes.passages),
        "areas": material.area_rows(snapshot, agenda, shown, sizes.near),
    }
    schema = record(themes=_LINES, revised=_LINES, persistent=_LINES, items=items_schema((Kind.INSIGHT,)))
    most = min(inquiry.allowance(), sizes.answer)
    answer = inquiry.questions.ask("look_back", data, schema, most=most)
    items = inquiry.read_items(answer, shown, (Kind.INSIGHT,))
    if not any(item.target == _MILESTONES for item in items):
        items = (*(item for item in known.items if item.target == _MILESTONES), *items)
    return Guidance(
        lines_of(answer, "themes", _MOST_LINES),
        lines_of(answer, "revised", _MOST_LINES),
        lines_of(answer, "persistent", _MOST_LINES),
        items,
        known.milestone,
    )

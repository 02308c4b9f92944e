"""Survey by a model: which of the areas that rules found matter, and in what order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.model import Agenda
from workbench.engine.reflection.model_mind import material
from workbench.engine.reflection.model_mind.asking import NoAnswer
from workbench.engine.reflection.model_mind.inquiry import clipped_line, listed
from workbench.engine.reflection.model_mind.schemas import list_of, problem_with, record

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Area
    from workbench.engine.reflection.model_mind.inquiry import Inquiry

_CHOICE: Final = record(area={"type": "integer"}, why={"type": "string"})
_MOST: Final = 12


def survey(inquiry: Inquiry, agenda: Agenda) -> Agenda:
    """Return an agenda with the areas first that the model chose, in its order and with its reasons.

    The model sees the areas, not every passage: so a survey costs one question, however much is new.

    Args:
        inquiry: Of the cycle.
        agenda: Of rules; at least one area.

    Raises:
        NoAnswer: The model gave none.
    """
    sizes, shown = inquiry.sizes, inquiry.shown()
    data = {
        **material.about(inquiry.snapshot),
        "areas": material.area_rows(inquiry.snapshot, agenda, shown, sizes.passages),
        "core": material.core_rows(inquiry.snapshot, shown, sizes.core),
    }
    answer = inquiry.questions.ask(
        "survey", data, record(areas=list_of(_CHOICE)), most=min(inquiry.allowance(), sizes.answer)
    )
    chosen: dict[int, str] = {}
    for choice in listed(answer, "areas")[:_MOST]:
        number = choice.get("area") if not problem_with(choice, _CHOICE) else None
        if isinstance(number, int) and 0 < number <= len(agenda.areas):
            chosen.setdefault(number - 1, clipped_line(choice["why"]))
    if not chosen:
        raise NoAnswer("The model chose none of the areas that it was shown.")
    heaviest = max(area.weight for area in agenda.areas)
    first = [
        _raised(agenda.areas[at], why, heaviest * (2 - place / len(chosen)))
        for place, (at, why) in enumerate(chosen.items())
    ]
    return Agenda((*first, *(area for at, area in enumerate(agenda.areas) if at not in chosen)))


def _raised(area: Area, why: str, weight: float) -> Area:
    return replace(area, weight=weight, reason=why or area.reason)

"""The summary in a model's words: plain prose before the items, which decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from workbench.engine.providers.chat import CUT_SHORT
from workbench.engine.reflection.kinds import SECTIONS
from workbench.engine.reflection.model import Summary
from workbench.engine.reflection.model_mind import material
from workbench.engine.reflection.model_mind.asking import NoAnswer
from workbench.engine.reflection.model_mind.inquiry import clipped_line
from workbench.engine.reflection.model_mind.schemas import list_of, one_of, problem_with, record

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Guidance
    from workbench.engine.reflection.model_mind.inquiry import Inquiry

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_LONGEST_OPENING: Final = 1_200
_LONGEST_SECTION: Final = 600


def summarise(inquiry: Inquiry, items: tuple[ReviewItem, ...], guidance: Guidance, known: Summary) -> Summary:
    """Return the model's words for the opening and for sections that have items.

    Args:
        inquiry: Of the cycle.
        items: What is proposed, numbered; at least one.
        guidance: Of meta-reflection.
        known: What rules say; it stays for the sections that the model says nothing about.

    Raises:
        NoAnswer: The model gave none.
    """
    headings = [section for section in SECTIONS if any(item.section == section for item in items)]
    sizes, shown = inquiry.sizes, inquiry.shown()
    data = {
        **material.about(inquiry.snapshot),
        "themes": list(guidance.themes),
        "items": material.proposed_rows(inquiry.snapshot, items, shown, sizes.passages + sizes.near),
    }
    section = record(heading=one_of(headings), text=_TEXT)
    schema = record(opening=_TEXT, sections=list_of(section))
    most = min(inquiry.allowance(), sizes.answer)
    answer = inquiry.questions.ask("summarise", data, schema, most=most)
    if answer.value is None:
        raise NoAnswer(CUT_SHORT)
    said = answer.value
    opening = said.get("opening")
    if not isinstance(opening, str) or not opening.strip():
        raise NoAnswer("The model’s summary has no opening.")
    sections = said.get("sections")
    prose = {
        one["heading"]: clipped_line(one["text"], _LONGEST_SECTION)
        for one in (sections if isinstance(sections, list) else ())
        if not problem_with(one, section) and one["text"].strip()
    }
    return Summary(clipped_line(opening, _LONGEST_OPENING), {**known.prose, **prose})

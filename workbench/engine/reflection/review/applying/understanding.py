"""What is understood better now: insights approved, and questions answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action
from workbench.engine.memory.remember import plan_remember
from workbench.engine.memory.wording import clean_line, clean_memory, clip, text_key
from workbench.engine.reflection.files import read_evolution
from workbench.engine.requests import RememberRequest

if TYPE_CHECKING:
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.item_changes import Answering, NewInsight


def note_insight(step: Step, change: NewInsight) -> None:
    """Add an insight to its section of `evolution.md`, which is made where it is missing."""
    evolution = read_evolution(step.draft)
    section = clean_line(change.section, what="A section", limit=80).text
    wording = clean_memory(change.text, what="An insight")
    step.warnings.extend(wording.warnings)
    added = evolution.add(
        section, wording.text, lambda block: step.draft.was_given(f"{layout.EVOLUTION}#^{block}")
    )
    told = f"added “{clip(wording.text, 60)}” to {clip(section)}"
    step.draft.write(evolution.path, added.render(), Action.EDIT, told)


def remember_answer(step: Step, change: Answering) -> None:
    """Remember a question with the person’s answer, and close the open question of the entity it is about.

    Raises:
        InvalidInput: There is no answer, or it cannot be kept.
        NotFound: There is no such entity.
    """
    if not change.answer:
        raise InvalidInput("It has no answer yet.", remedy="Write one behind “answer:”.")
    context = step.context
    # An answer alone (“Yes, until May”) says nothing to a reader a year later.
    text = f"{clean_memory(change.question).text} {clean_memory(change.answer).text}"
    request = RememberRequest(
        text,
        store="episodic",
        entities=(change.about,) if change.about else (),
        confidence="high",
        source="user-explicit",
        origins=step.evidence(),
    )
    plan = plan_remember(
        step.draft,
        request,
        context.route(change.answer),
        now=context.now,
        settings=context.settings,
        lookup=context.lookup,
        scores=context.standing,
    )
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)
    if change.about:
        _close_question(step, change)


def _close_question(step: Step, change: Answering) -> None:
    files = step.files
    file = files.require(change.about)
    for question in file.questions:
        if text_key(question.text) == text_key(change.question):
            files.save(file.remove_item(question.span), f"answered “{clip(change.question, 60)}”")
            return

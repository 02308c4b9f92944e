"""Memories hidden, brought back and protected, and ways of working, as approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action
from workbench.engine.markdown.pages import Procedure
from workbench.engine.memory.decay import DecayContext
from workbench.engine.memory.forget import plan_archive, plan_restore
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.scores_file import Decision, decide
from workbench.engine.memory.stores import procedure_path
from workbench.engine.memory.wording import NAME_CHARACTERS, clean_line, clip, text_key
from workbench.engine.reflection.review.applying.core import called_now, pin_core_item

if TYPE_CHECKING:
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.item_changes import (
        Archiving,
        NewProcedure,
        OtherSteps,
        Pinning,
        Restoring,
    )


def archive(step: Step, change: Archiving) -> None:
    """Hide a memory, with the items of core memory that say it.

    Raises:
        NotFound: There is no such memory.
        InvalidInput: It is free text, which has no score.
    """
    context = step.context
    memory = called_now(step, change.memory) if change.memory.startswith("core:") else change.memory
    outcome = step.draft.lay(
        plan_archive(step.draft, [memory], context.now, context.settings, context.first_seen)
    )
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def restore(step: Step, change: Restoring) -> None:
    """Bring an archived memory back.

    Raises:
        NotFound: There is no such memory, not even archived.
        BudgetExceeded: It belongs into core memory, which is full.
    """
    context = step.context
    plan = plan_restore(step.draft, [change.memory], context.now, context.settings, context.first_seen)
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def pin(step: Step, change: Pinning) -> None:
    """Protect a memory from fading. Raises `NotFound`, and `InvalidInput` for free text."""
    context = step.context
    if change.memory.startswith("core:"):
        pin_core_item(step, change.memory)
        return
    placed = locate_memory(step.draft, change.memory, context.zone)
    decay = DecayContext.at(context.now, context.settings)
    step.ids.extend(decide(step.draft, Decision.PIN, [placed.facts()], decay))


def learn(step: Step, change: NewProcedure) -> None:
    """Write a procedure down.

    Raises:
        InvalidInput: It exists already, or a text of it cannot be kept.
    """
    path = procedure_path(change.procedure)
    if step.draft.read(path) is not None:
        raise InvalidInput(
            f"{change.procedure} exists already.", where=path, remedy="Reject the item, or choose another id."
        )
    title = clean_line(change.title, what="The title of a procedure", limit=NAME_CHARACTERS).text
    made = Procedure.create(
        path,
        title=title,
        learned=step.today,
        trigger=_when(change.when),
        steps=_steps(change.steps),
        learned_from=step.evidence(),
    )
    step.draft.write(path, made.render(), Action.CREATE, f"learned “{clip(title)}”")
    step.ids.append(change.procedure)


def change_steps(step: Step, change: OtherSteps) -> None:
    """Replace the steps of a procedure; its notes stay, and the evidence joins what it was learned from.

    Raises:
        NotFound: There is no such procedure.
        InvalidInput: A step cannot be kept.
    """
    path = procedure_path(change.procedure)
    known = Procedure.parse(step.draft.require(path, f"procedure {change.procedure}"), path)
    changed = known.set_steps(_steps(change.steps))
    when = _when(change.when)
    if when and text_key(when) != text_key(known.trigger):
        changed = changed.set_trigger(when)
    for memory in step.evidence():
        changed = changed.add_learned_from(memory)
    step.draft.write(path, changed.render(), Action.EDIT, f"changed the steps of “{clip(known.title)}”")
    step.ids.append(change.procedure)


def _when(text: str) -> str:
    return clean_line(text, what="The trigger").text if text.strip() else ""


def _steps(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean_line(text, what="A step").text for text in texts)

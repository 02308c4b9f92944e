"""Reflection by the agent's own model: hands out the next question, and takes its answer in."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine import results
from workbench.engine.errors import Locked, Stale
from workbench.engine.reflection.handing_out import AgentMind, AgentModel, Unanswered, answer_of
from workbench.engine.roles import Capability, require
from workbench.engine.services.reflection_input import keep_answers, read_answers

if TYPE_CHECKING:
    from workbench.engine.reflection.handing_out import Answers, Task
    from workbench.engine.reflection.model import Work
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.services.reflections import Reflections

_ACTOR = "bot:reflection"


class HandedReflection:
    """A reflection that an agent thinks, task by task; what it answers is checked as any model's answer is."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, reflections: Reflections) -> None:
        self._context = context
        self._mutator = mutator
        self._reflections = reflections

    def hand_out(self) -> results.reviews.HandedOut | results.reviews.Reflected:
        """Return the next task for the agent's own model; where nothing is left to ask, write the proposal.

        Asking again without an answer gives the same task.

        Raises:
            Refused: A proposal waits for decisions.
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        return self._go_on(read_answers(self._context))

    def take_in(
        self, answer: Mapping[str, Any] | str
    ) -> results.reviews.HandedOut | results.reviews.Reflected:
        """Take in the answer to the task that was handed out, and go on to the next.

        Args:
            answer: `{"task", "model", "answer"}`, or the object in `answer` alone; as JSON or read already.

        Returns:
            The next task; after the last one, what was proposed.

        Raises:
            InvalidInput: It is for another task, or not in the form that was asked for; the task stays open.
            Refused: A proposal waits for decisions.
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        require(self._context.role, Capability.WRITE_MEMORY, doing="reflect")
        answers = read_answers(self._context)
        if answers.open is None:
            going_on = self._go_on(answers)
            if isinstance(going_on, results.reviews.Reflected):
                return going_on
            answers = read_answers(self._context)
        if answers.open is not None:
            answers.given[answers.open.id] = answer_of(answer, answers.open)
            answers.open = None
            self._keep(answers)
        return self._go_on(answers)

    def _go_on(self, answers: Answers) -> results.reviews.HandedOut | results.reviews.Reflected:
        """Run the cycle with what was answered so far, up to the first question without an answer."""
        self._mutator.attribution("reflection", actor=_ACTOR)
        mind: list[AgentMind] = []

        def think(work: Work) -> AgentMind:
            mind.append(AgentMind(AgentModel(answers.given, lambda: str(work.phase))))
            return mind[0]

        try:
            return self._reflections.reflect(mind=think)
        except Unanswered as waiting:
            answers.open = waiting.task
            self._keep(answers)
            return _handed_out(waiting.task, mind[0].tasks - len(mind[0].chat.asked))

    def _keep(self, answers: Answers) -> None:
        """Keep what was answered, with purges kept off: it may quote what one of them takes away."""
        with contextlib.suppress(Stale, Locked), self._mutator.without_purges(_ACTOR):
            keep_answers(self._context, answers)


def _handed_out(task: Task, remaining: int) -> results.reviews.HandedOut:
    material = tuple(results.reviews.Material(id_, text) for id_, text in task.material)
    return results.reviews.HandedOut(
        task.id, task.phase, task.instructions, material, task.schema, max(0, remaining)
    )

"""One question to the model: within the budget, recorded, and given up as soon as the cycle is called off.

Each phase may take a share of a cycle's output, and each part of a question a share of a model's context.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatCancelled, ChatMessage
from workbench.engine.reflection.model import Exchange
from workbench.engine.reflection.model_mind.showing import as_data
from workbench.engine.results.reviews import Phase
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.reflection.model import Work

NO_BUDGET: Final = "The cycle’s budget of output tokens was used up."
_MOST_FAILURES: Final = 2
# Other vocabularies than the one that is counted with take more tokens for the same text.
_MORE_TOKENS: Final = 1.15
LEAST_ANSWER: Final = 150
"""Output tokens below which asking is not worth it."""

PLENTY: Final = 500
"""Output tokens that one window of passages is to have at least, where there is the choice."""

_SHARES: Final = {
    Phase.SURVEY: 0.08,
    Phase.META_REFLECTION: 0.12,
    Phase.CONSOLIDATE: 0.56,
    Phase.REWRITE_CORE: 0.14,
    Phase.SUMMARISE: 0.10,
}
# Tokens of a prompt and of the schema that some servers have to be told in words.
_PROMPT_TOKENS: Final = 2_900
_LONGEST_ANSWER: Final = 4_000
# Other vocabularies than the one that is counted with take more tokens for the same text.
_MARGIN: Final = 0.8


class NoAnswer(Exception):
    """The model gave nothing that can be used; its text is the reason, one sentence."""


@dataclass(frozen=True)
class Answer:
    """What the model said to one question.

    Args:
        value: The object; None where it came cut.
        text: As it came.
    """

    value: dict[str, Any] | None
    text: str


@dataclass
class Questions:
    """Asks the model on behalf of one cycle.

    Args:
        chat: The model.
        work: The account of the cycle.
        context_tokens: Of question and answer together.
        gave_up: Why the model is not asked any more in this cycle; empty while it is.
    """

    chat: ChatModel
    work: Work
    context_tokens: int
    gave_up: str = ""
    _failures: int = field(default=0, init=False)

    def ask(self, prompt: str, data: Mapping[str, Any], schema: Mapping[str, Any], *, most: int) -> Answer:
        """Ask one question.

        Args:
            prompt: Name of its file.
            data: What the model is shown.
            schema: Of the answer.
            most: Output tokens that it may take.

        Returns:
            The answer; one that was cut short comes without a value.

        Raises:
            NoAnswer: There is no budget, no answer, or none that can be used.
            Cancelled: The cycle was called off.
        """
        self.work.check()
        if self.gave_up:
            raise NoAnswer(self.gave_up)
        messages = [ChatMessage("system", instructions(prompt)), ChatMessage("user", as_data(data))]
        asked = sum(count_tokens(message.content) for message in messages) + count_tokens(as_data(schema))
        most = min(most, self.context_tokens - int(asked * _MORE_TOKENS))
        if most < LEAST_ANSWER:
            raise NoAnswer(
                NO_BUDGET if self.work.left < LEAST_ANSWER else "The model’s context is too small."
            )
        sent = Exchange(
            self.work.phase,
            self.chat.name,
            tuple((message.role, message.content) for message in messages),
            "",
        )
        try:
            reply = self.chat.complete_json(
                messages,
                schema=schema,
                schema_name=f"reflection_{prompt}",
                max_tokens=most,
                cancelled=self.work.cancelled,
            )
        except ChatCancelled:
            self.work.exchanges.append(replace(sent, problem="The cycle was called off."))
            self.work.check()
            raise NoAnswer("The cycle was called off.") from None
        except ProviderError as error:
            self.work.exchanges.append(replace(sent, problem=error.message))
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                self.gave_up = error.message
            raise NoAnswer(error.message) from error
        self._failures = 0
        self.work.spend(_output_tokens(reply.completion_tokens, reply.text, most))
        self.work.exchanges.append(
            replace(
                sent,
                model=reply.model or self.chat.name,
                answer=reply.text,
                problem=reply.problem,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
            )
        )
        self.work.check()
        if reply.value is None and not reply.truncated:
            raise NoAnswer(reply.problem)
        return Answer(reply.value, reply.text)

    def note(self, problem: str) -> None:
        """Say in the account of the last answer what of it could not be used."""
        last = self.work.exchanges[-1]
        self.work.exchanges[-1] = replace(last, problem=" ".join(filter(None, (last.problem, problem))))


def _output_tokens(told: int | None, text: str, most: int) -> int:
    """Return what an answer took: as the server counts, thoughts included, as far as that can be true."""
    return min(told, most) if told is not None and told > 0 else count_tokens(text)


@cache
def instructions(prompt: str) -> str:
    """Return a prompt with what holds for all of them."""
    folder = resources.files("workbench.engine.reflection.model_mind").joinpath("prompts")
    return "\n".join(folder.joinpath(f"{name}.md").read_text("utf-8") for name in ("common", prompt))


def allowance(work: Work, phase: Phase) -> int:
    """Return the output tokens that a phase may still take: what is left but for the shares of the phases after it.

    What a phase leaves over is so handed on to the next.
    """
    phases = list(_SHARES)
    later = sum(_SHARES[other] for other in phases[phases.index(phase) + 1 :])
    return max(0, work.left - round(work.cap * later))


@dataclass(frozen=True)
class InputSizes:
    """Tokens that the parts of a question may take.

    Args:
        context: All that the model takes at once, its answer included.
        passages: New passages of one window.
        near: What is known already near them.
        core: Core memory, where it only serves as background.
        answer: Kept free.
        frame: What stands around a passage: its handle, time, speaker and keys.
    """

    context: int
    passages: int
    near: int
    core: int
    answer: int
    frame: int = 45

    @classmethod
    def of(cls, context: int) -> InputSizes:
        """Share out a context of so many tokens."""
        free = max(800, context - _PROMPT_TOKENS)
        answer = min(_LONGEST_ANSWER, free // 4)
        rest = (free - answer) * _MARGIN
        return cls(context, int(rest * 0.5), int(rest * 0.37), int(rest * 0.13), answer)

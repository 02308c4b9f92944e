"""How much of a cycle's output each phase may take, and how much of a model's context each part of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.results.reviews import Phase
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.reflection.work import Work

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

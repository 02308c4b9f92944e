"""What a running phase reports to and asks: progress, cancellation, the token budget and what was done instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Final

from workbench.engine.errors import Cancelled as Cancelled
from workbench.engine.results.reviews import Phase, Progress
from workbench.engine.values import dataclass

RULES: Final = "rules"
"""What a phase that asked no model, or had no use of its answer, was done by."""


@dataclass(frozen=True)
class PhaseAccount:
    """What one phase took.

    Args:
        phase: Which.
        mind: What did it: `rules`, or a model's name.
        tokens: Output tokens: a model's as the server counts them, those of the items' words for rules.
        seconds: Wall time.
        fallback: Why rules did it though a model was to; None where that did not happen.
    """

    phase: Phase
    mind: str
    tokens: int = 0
    seconds: float = 0.0
    fallback: str | None = None


@dataclass(frozen=True)
class Exchange:
    """One question to a model with its answer, to be inspected afterwards.

    Args:
        phase: Which.
        model: As the server names it.
        messages: Role and content of each.
        answer: Its words as they came; empty where none came.
        problem: Why the answer could not be used, empty where it could.
        prompt_tokens: As the server counted, else None.
        completion_tokens: The same for what it answered.
    """

    phase: Phase
    model: str
    messages: tuple[tuple[str, str], ...]
    answer: str
    problem: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass
class Work:
    """The account of one cycle while it runs; the only thing about it that changes.

    Args:
        cap: Output tokens that the cycle may take (design document §10.2).
        report: Told of progress, on the thread that runs the cycle.
        cancelled: Asked often.
    """

    cap: int = 8000
    report: Callable[[Progress], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False
    phase: Phase = Phase.SURVEY
    spent: int = 0
    accounts: list[PhaseAccount] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    unread: int | None = None
    """Index of the first passage that there was no budget left to read; None where all were read."""

    def begin(self, phase: Phase, mind: str) -> None:
        """Enter a phase."""
        self.phase = phase
        self.accounts.append(PhaseAccount(phase, mind))
        self.step(0, 0)

    def step(self, done: int, total: int) -> None:
        """Report progress within the phase.

        Raises:
            Cancelled: The cycle was called off.
        """
        self.check()
        self.report(Progress(self.phase, done, total, self.spent, self.cap))

    def check(self) -> None:
        """Raise `Cancelled` where the cycle was called off."""
        if self.cancelled():
            raise Cancelled("The reflection was called off; nothing was written.")

    @property
    def left(self) -> int:
        """Return the output tokens that may still be spent."""
        return max(0, self.cap - self.spent)

    def spend(self, tokens: int) -> None:
        """Count output tokens against the cycle and the phase."""
        self.spent += tokens
        self.accounts[-1] = replace(self.accounts[-1], tokens=self.accounts[-1].tokens + tokens)

    def fell_back(self, reason: str) -> None:
        """Note that rules did this phase, or part of it, and why."""
        last = self.accounts[-1]
        self.accounts[-1] = replace(last, mind=RULES, fallback=last.fallback or reason)

    def done_by(self, mind: str) -> None:
        """Note that another mind than the announced one did this phase, as there was nothing to ask it."""
        self.accounts[-1] = replace(self.accounts[-1], mind=mind)

    def took(self, seconds: float) -> None:
        """Note the wall time of the phase that ends."""
        self.accounts[-1] = replace(self.accounts[-1], seconds=seconds)

"""Owns what the Inbox shows: what was read last, with every decision on top that is on its way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.engine.results.memories import HeldBackList
from workbench.engine.results.reviews import Proposals
from workbench.tui.decisions import UnderWay
from workbench.tui.held import HeldChoice, held
from workbench.tui.in_order import InOrder
from workbench.tui.panes.base import Pane
from workbench.tui.verdicts import Verdict, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.engine.results.reviews import Proposal, ReflectionDue, Review, ReviewItem
    from workbench.tui.bench import Bench, Outcome
    from workbench.tui.decisions import Step
    from workbench.tui.held import Held
    from workbench.tui.verdicts import Waiting


@dataclass(frozen=True)
class WhatWaits:
    """Everything that waits, as it was read; what cannot be read is empty, with the reason beside it.

    Args:
        review: What a reflection proposes.
        due: Whether one is due, where it proposes nothing.
        problem: Why the reflection’s proposal cannot be read.
        proposals: What agents propose.
        held_back: What was held back as a secret.
        held_problem: Why that cannot be read.
    """

    review: Review | None = None
    due: ReflectionDue | None = None
    problem: WorkbenchError | None = None
    proposals: Proposals = field(default_factory=lambda: Proposals(()))
    held_back: HeldBackList = field(default_factory=lambda: HeldBackList(()))
    held_problem: WorkbenchError | None = None


class WasRead(Message):
    """What waits was read; `number` counts everything asked for before."""

    def __init__(self, number: int, waits: WhatWaits) -> None:
        super().__init__()
        self.number = number
        self.waits = waits


class WasDone(Message):
    """An action is over: what it did, or why not."""

    def __init__(self, number: int, outcome: Outcome | None, error: WorkbenchError | None = None) -> None:
        super().__init__()
        self.number = number
        self.outcome = outcome
        self.error = error


class Broke(Message):
    """Something went wrong that nobody expected."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Desk:
    """What lies before a person: decisions show at once, are written in order, and are read back when all are.

    Args:
        bench: The engine.
        tell: Takes messages, from any thread.
    """

    def __init__(self, bench: Bench, tell: Callable[[Message], object]) -> None:
        self._bench = bench
        self._tell = tell
        self.in_order = InOrder(lambda error: tell(Broke(error)))
        self._under_way = UnderWay()
        self._waiting: set[int] = set()
        self._reading = False
        self._read_again = False
        self._read_last = WhatWaits()
        self.review: Review | None = None
        self.due: ReflectionDue | None = None
        self.items: tuple[ReviewItem, ...] = ()
        self._decided: dict[int, Verdict | HeldChoice] = {}
        self.waiting: tuple[Waiting, ...] = ()
        self.held: tuple[Held, ...] = ()

    @property
    def problem(self) -> WorkbenchError | None:
        """Return why what the reflection proposes cannot be read."""
        return self._read_last.problem

    @property
    def held_problem(self) -> WorkbenchError | None:
        """Return why what was held back cannot be read."""
        return self._read_last.held_problem

    @property
    def proposals(self) -> Proposals:
        """Return what agents propose, as it was read."""
        return self._read_last.proposals

    @property
    def by_number(self) -> Mapping[int, Proposal]:
        """Return the proposals of agents by their numbers."""
        return {each.number: each for each in self.proposals.proposals}

    @property
    def at_once(self) -> tuple[Held | Waiting, ...]:
        """Return all on which a decision takes effect at once."""
        return (*self.held, *self.waiting)

    @property
    def busy(self) -> bool:
        """Tell whether anything that was asked for is not over."""
        return bool(self._waiting)

    # --- reading --------------------------------------------------------------------------------------------

    @property
    def is_reading(self) -> bool:
        """Return True until what is read has been taken in."""
        return self._reading

    def read(self) -> None:
        """Read what waits, now or as soon as everything that was asked for is written."""
        if self._waiting or self._reading:
            self._read_again = True
            return
        self._reading, self._read_again = True, False
        self.in_order.look(self._read)

    def _read(self, number: int) -> None:
        waits = self._read_review(WhatWaits(proposals=self._proposals()))
        self._tell(WasRead(number, self._read_held(waits)))

    def _proposals(self) -> Proposals:
        try:
            return self._bench.proposals()
        except WorkbenchError as error:
            return Proposals((), (error.told,))

    def _read_review(self, waits: WhatWaits) -> WhatWaits:
        try:
            review = self._bench.review()
            return replace(waits, review=review, due=None if review.items else self._bench.reflection_due())
        except WorkbenchError as error:
            return replace(waits, problem=error)

    def _read_held(self, waits: WhatWaits) -> WhatWaits:
        try:
            return replace(waits, held_back=self._bench.held_back())
        except WorkbenchError as error:
            return replace(waits, held_problem=error)

    def take_in(self, message: WasRead) -> None:
        """Be told what was read."""
        self._reading = False
        self._under_way = self._under_way.after(message.number)
        self._decided = {at: each for at, each in self._decided.items() if at > message.number}
        self._read_last = message.waits
        if message.waits.review is not None:
            # What was read before stands as long as nothing else can be.
            self.review, self.due = message.waits.review, message.waits.due
        self._lay_out()
        if self._read_again:
            self.read()

    def _lay_out(self) -> None:
        verdicts = [each for each in self._decided.values() if isinstance(each, Verdict)]
        choices = [each for each in self._decided.values() if isinstance(each, HeldChoice)]
        self.items = self._under_way.over(self.review.items) if self.review is not None else ()
        self.waiting = waiting(self.proposals.proposals, verdicts)
        self.held = held(self._read_last.held_back.held, choices)

    # --- acting ---------------------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """Show what a person decided, and write it after everything before it."""
        number = self.do(lambda: self._bench.decide(step))
        self._under_way = self._under_way.begin(number, step)
        self._lay_out()

    def settle(self, verdict: Verdict) -> None:
        """Show what is decided about proposals of agents, and carry it out after everything before it."""
        number = self.do(lambda: self._bench.settle(verdict))
        self._decided[number] = verdict
        self._lay_out()

    def choose(self, choice: HeldChoice) -> None:
        """Show what is decided about secrets, and carry it out after everything before it."""
        number = self.do(lambda: self._bench.choose(choice))
        self._decided[number] = choice
        self._lay_out()

    def do(self, action: Callable[[], Outcome | None]) -> int:
        """Do something after everything that was asked for before; returns its number."""

        def act(number: int) -> None:
            try:
                outcome = action()
            except WorkbenchError as error:
                self._tell(WasDone(number, None, error))
                return
            self._tell(WasDone(number, outcome))

        number = self.in_order.submit(act)
        self._waiting.add(number)
        self._tell(Pane.Working(1))
        return number

    def over(self, message: WasDone) -> None:
        """Be told that an action is over; the last one has the proposal read again."""
        self._waiting.discard(message.number)
        self._tell(Pane.Working(-1))
        if message.error is not None:
            self._under_way = self._under_way.without(message.number)
            self._decided.pop(message.number, None)
            self._lay_out()
        if not self._waiting:
            self.read()

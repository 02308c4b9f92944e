"""Owns what the Inbox shows: what was read last, with every decision on top that is on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.engine.results import HeldBackList, Proposals
from workbench.tui.decisions import UnderWay
from workbench.tui.held import held
from workbench.tui.in_order import InOrder
from workbench.tui.panes.base import Pane
from workbench.tui.verdicts import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.engine.results import Proposal, ReflectionDue, Review, ReviewItem
    from workbench.tui.bench import Bench, Outcome
    from workbench.tui.decisions import Step
    from workbench.tui.held import Held, HeldChoice
    from workbench.tui.verdicts import Verdict, Waiting


class WasRead(Message):
    """What waits was read, or the reflection’s proposal could not be; `number` counts everything asked for before."""

    def __init__(
        self,
        number: int,
        review: Review | None,
        due: ReflectionDue | None,
        proposals: Proposals,
        held_back: HeldBackList,
        error: WorkbenchError | None = None,
        held_error: WorkbenchError | None = None,
    ) -> None:
        super().__init__()
        self.number = number
        self.review = review
        self.due = due
        self.proposals = proposals
        self.held_back = held_back
        self.error = error
        self.held_error = held_error


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
        self.review: Review | None = None
        self.due: ReflectionDue | None = None
        self.problem: WorkbenchError | None = None
        self.items: tuple[ReviewItem, ...] = ()
        self._verdicts: dict[int, Verdict] = {}
        self.proposals = Proposals(())
        self.waiting: tuple[Waiting, ...] = ()
        self._choices: dict[int, HeldChoice] = {}
        self._held_back = HeldBackList(())
        self.held_problem: WorkbenchError | None = None
        self.held: tuple[Held, ...] = ()

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

    def read(self) -> None:
        """Read what waits, now or as soon as everything that was asked for is written."""
        if self._waiting or self._reading:
            self._read_again = True
            return
        self._reading, self._read_again = True, False
        self.in_order.look(self._read)

    def _read(self, number: int) -> None:
        proposals = self._read_proposals()
        held_back, held_error = HeldBackList(()), None
        try:
            held_back = self._bench.held_back()
        except WorkbenchError as error:
            held_error = error
        review, due, problem = None, None, None
        try:
            review = self._bench.review()
            due = None if review.items else self._bench.reflection_due()
        except WorkbenchError as error:
            review, problem = None, error
        self._tell(WasRead(number, review, due, proposals, held_back, problem, held_error))

    def _read_proposals(self) -> Proposals:
        try:
            return self._bench.proposals()
        except WorkbenchError as error:
            return Proposals((), (error.told,))

    def take_in(self, message: WasRead) -> None:
        """Be told what was read."""
        self._reading = False
        self._under_way = self._under_way.after(message.number)
        self._verdicts = {at: each for at, each in self._verdicts.items() if at > message.number}
        self._choices = {at: each for at, each in self._choices.items() if at > message.number}
        self.proposals, self._held_back = message.proposals, message.held_back
        self.problem, self.held_problem = message.error, message.held_error
        if message.review is not None:
            self.review, self.due = message.review, message.due
        self._lay_out()
        if self._read_again:
            self.read()

    def _lay_out(self) -> None:
        self.items = self._under_way.over(self.review.items) if self.review is not None else ()
        self.waiting = waiting(self.proposals.proposals, self._verdicts.values())
        self.held = held(self._held_back.held, self._choices.values())

    # --- acting ---------------------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """Show what a person decided, and write it after everything before it."""
        number = self.do(lambda: self._bench.decide(step))
        self._under_way = self._under_way.begin(number, step)
        self._lay_out()

    def settle(self, verdict: Verdict) -> None:
        """Show what is decided about proposals of agents, and carry it out after everything before it."""
        number = self.do(lambda: self._bench.settle(verdict))
        self._verdicts[number] = verdict
        self._lay_out()

    def choose(self, choice: HeldChoice) -> None:
        """Show what is decided about secrets, and carry it out after everything before it."""
        number = self.do(lambda: self._bench.choose(choice))
        self._choices[number] = choice
        self._lay_out()

    def do(self, action: Callable[[], Outcome]) -> int:
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
            self._verdicts.pop(message.number, None)
            self._choices.pop(message.number, None)
            self._lay_out()
        if not self._waiting:
            self.read()

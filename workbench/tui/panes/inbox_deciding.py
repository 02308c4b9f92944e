"""Takes decisions in the Inbox: what a key is about, what shows at once, and what is written behind it in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from workbench.tui.decisions import (
    APPROVED,
    DEFERRED,
    REJECTED,
    UNDECIDED,
    Edit,
    Step,
    reach,
    tally,
    wants_answer,
    wants_choice,
)
from workbench.tui.panes.desk import WasDone
from workbench.tui.panes.inbox_reading import InboxReading
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.inbox import OVERVIEW

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.engine.results import ReviewItem
    from workbench.tui.bench import Outcome

_VERBS = {APPROVED: "Approve", REJECTED: "Reject", DEFERRED: "Defer", UNDECIDED: "Reopen"}


class InboxDeciding(InboxReading):
    """The half of the Inbox in which a key is a decision."""

    # --- what a decision is about ---------------------------------------------------------------------------

    def chosen(self) -> tuple[ReviewItem, ...]:
        """Return the items that an action is about: marked ones, or all that the row under the cursor stands for."""
        keys = self.list.chosen_keys
        items = tuple(item for key in keys if (item := self.rows.item(key)) is not None)
        if items:
            return items
        below = {item.id: item for key in keys for item in self.rows.under(key)}
        return tuple(below.values())

    def subject_keys(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.chosen())

    def _to_decide(self, decision: str) -> tuple[ReviewItem, ...]:
        """Return the items that a decision is about; a heading speaks only for what is still open below it."""
        chosen = self.chosen()
        by_name = any(self.rows.item(key) is not None for key in self.list.chosen_keys)
        if by_name or decision == UNDECIDED:
            return chosen
        return tuple(item for item in chosen if item.decision == UNDECIDED)

    def may_decide(self) -> bool:
        """Tell whether decisions can be made through this door, and say why where they cannot."""
        role = self.bench.place().role
        if role == "person":
            return True
        self.app.notify(
            f"Only a person decides, and this bench is open as {role}. Run workbench in a terminal of your own.",
            severity="warning",
        )
        return False

    # --- deciding -------------------------------------------------------------------------------------------

    def action_approve(self) -> None:
        item = self.item
        if item is not None and not self.list.marks.keys:
            if wants_choice(item):
                self.app.notify("Say which holds: < this, > that, = both; or d to be asked later.", timeout=6)
                return
            if wants_answer(item):
                self.action_edit_here()
                return
        self._decide(APPROVED)

    def action_reject(self) -> None:
        self._decide(REJECTED)

    def action_defer(self) -> None:
        self._decide(DEFERRED)

    def action_undecide(self) -> None:
        self._decide(UNDECIDED)

    def _decide(self, decision: str) -> None:
        chosen = self._to_decide(decision)
        if not self.may_decide():
            return
        if not reach(chosen, decision).touched:
            self.app.notify(f"Nothing here is left to be {decision}.", timeout=3)
        elif self.list.cursor_key == OVERVIEW and not self.list.marks.keys:
            verb = _VERBS[decision]
            self.app.push_screen(
                ConfirmScreen(
                    f"{verb} all {len(chosen)}?",
                    "It can be undone, and nothing is applied before you say so with A.",
                    verb,
                    started_by=verb[0].lower(),
                ),
                lambda sure: self._take(chosen, decision) if sure else None,
            )
        else:
            self._take(chosen, decision)

    def _take(self, chosen: Sequence[ReviewItem], decision: str) -> None:
        """Decide on items, and go on to what is still undecided."""
        reached = reach(chosen, decision)
        if reached.decide:
            was_open = any(item.decision == UNDECIDED for item in chosen)
            self.list.clear_marks()
            self.begin(
                Step(dict.fromkeys(reached.decide, decision)), go_on=was_open and decision != UNDECIDED
            )
        if left_out := reached.left_out():
            self.app.notify(left_out, timeout=6)

    def _settle(self, resolution: str) -> None:
        """Say which of two statements holds."""
        item = self.item
        if item is not None and self.may_decide():
            step = Step({item.id: APPROVED}, Edit(item.id, fields={"resolve": resolution}))
            self.begin(step, go_on=item.decision == UNDECIDED)

    def action_take_this(self) -> None:
        self._settle("this")

    def action_take_that(self) -> None:
        self._settle("that")

    def action_take_both(self) -> None:
        self._settle("both")

    def begin(self, step: Step, *, go_on: bool) -> None:
        """Have the engine write a step, and show it at once.

        Args:
            step: What a person decided.
            go_on: Whether to go on to the next item that waits.
        """
        self.desk.take(step)
        self.draw()
        if go_on:
            self.action_next_undecided()

    def action_next_undecided(self) -> None:
        """Go to the next item that waits; where none does, say how to go on."""
        if following := self.rows.next_undecided(self.list.cursor_key):
            self.list.go_to(following)
        elif self.desk.items and not tally(self.desk.items).undecided:
            self.app.notify("Everything is decided. A shows what will be written.", timeout=6)

    def action_edit_here(self) -> None:
        """Write in the item under the cursor."""
        raise NotImplementedError

    # --- having it written ----------------------------------------------------------------------------------

    def act(self, action: Callable[[], Outcome], after: Callable[[], object] | None = None) -> None:
        """Have the engine do something, after every decision that was made before."""

        def act() -> Outcome:
            outcome = action()
            if after is not None:
                self.app.call_from_thread(after)
            return outcome

        self.desk.do(act)

    @on(WasDone)
    def _was_done(self, event: WasDone) -> None:
        event.stop()
        self.desk.over(event)
        if event.error is not None:
            self.draw()
        # A decision shows by itself; what else was done is told.
        if event.error is not None or (event.outcome is not None and event.outcome.summary):
            self.post_message(self.Done(event.outcome, event.error))

    async def finish(self) -> None:
        """Wait until every decision is written."""
        await self.desk.in_order.finish()

    async def on_unmount(self) -> None:
        await self.finish()

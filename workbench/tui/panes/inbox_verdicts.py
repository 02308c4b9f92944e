"""Decides in the Inbox on what agents propose: a verdict takes effect at once, in one commit, and is undone by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.identifiers import MEMORY_STORES
from workbench.tui.decisions import RESOLUTIONS, THAT, THIS
from workbench.tui.panes.inbox_deciding import InboxDeciding
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.pick import WordScreen
from workbench.tui.verdicts import Verdict, numbered, settling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.verdicts import Waiting

_BOTH = next(each for each in RESOLUTIONS if each not in (THIS, THAT))
_MAY_SETTLE = frozenset({"person", "main"})


class InboxVerdicts(InboxDeciding):
    """The part of the Inbox in which a key is a verdict on what agents propose."""

    # --- what a verdict is about ----------------------------------------------------------------------------

    def chosen_proposals(self) -> tuple[Waiting, ...]:
        """Return the proposals that a key is about: marked ones, the one under the cursor, or those of its agent that
        are undecided.
        """
        keys = self.list.chosen_keys
        named = tuple(each for key in keys if (each := self.rows.waiting(key)) is not None)
        if named:
            return named
        agents = (agent for key in keys if (agent := self.rows.agent(key)) is not None)
        return tuple(each for agent in agents for each in agent.held if each.is_open)

    def on_agents(self) -> bool:
        """Tell whether what is chosen is of agents, and not of a reflection."""
        keys = self.list.chosen_keys
        return any(self.rows.waiting(key) is not None or self.rows.agent(key) is not None for key in keys)

    def subject_keys(self) -> tuple[str, ...]:
        return (*(each.key for each in self.chosen_proposals()), *super().subject_keys())

    def may_settle(self) -> bool:
        """Tell whether this door may decide on proposals, and say who may where it may not."""
        role = self.bench.place().role
        if role in _MAY_SETTLE:
            # What the setting proposals.mode says is known to the engine, which tells it.
            return True
        self.app.notify(
            f"This bench is open as {role}, which may propose and look, not decide. Run workbench in a terminal of "
            "your own, or ask the main agent.",
            severity="warning",
        )
        return False

    # --- verdicts -------------------------------------------------------------------------------------------

    def action_approve(self) -> None:
        if self._leave_to_items():
            super().action_approve()
        elif self.may_settle():
            self._store(self.chosen_proposals())

    def action_reject(self) -> None:
        if self._leave_to_items():
            super().action_reject()
        elif self.may_settle():
            self._refuse(self.chosen_proposals())

    def action_defer(self) -> None:
        if self._leave_to_items():
            super().action_defer()
            return
        chosen = tuple(each for each in self.chosen_proposals() if each.is_open)
        if not self.may_settle():
            return
        if chosen:
            self.give(Verdict(defer=tuple(each.proposal for each in chosen)))
        else:
            self.app.notify("Nothing here is left to be deferred.", timeout=3)

    def action_undecide(self) -> None:
        if self._leave_to_items():
            super().action_undecide()
        else:
            self.app.notify(
                "A verdict on an agent’s proposal takes effect at once; u takes it back.", timeout=6
            )

    def action_take_this(self) -> None:
        self._choose(THIS)

    def action_take_that(self) -> None:
        self._choose(THAT)

    def action_take_both(self) -> None:
        self._choose(_BOTH)

    def action_store_elsewhere(self) -> None:
        """Ask for another store, and store it there."""
        waiting = self.waiting
        if waiting is None or not self.may_settle():
            return
        proposal = waiting.proposal

        def chosen(store: str | None) -> None:
            if store:
                self.give(Verdict(keep=(proposal,), store=store))

        stores = [each for each in MEMORY_STORES if each != proposal.store]
        self.app.push_screen(WordScreen(stores, f"Store #{proposal.number} where?"), chosen)

    def give(self, verdict: Verdict, *, go_on: bool = True) -> None:
        """Have a verdict carried out, and show it at once.

        Args:
            verdict: What a person decided.
            go_on: Whether to go on to the next that waits.
        """
        self.list.clear_marks()
        self.desk.settle(verdict)
        self.draw()
        if go_on:
            self.action_next_undecided()

    # --- inner parts ----------------------------------------------------------------------------------------

    def _leave_to_items(self) -> bool:
        """Tell whether a key is about items of a reflection; of both at once it is about neither."""
        if not self.on_agents():
            return True
        if self.list.marks.keys and self.chosen():
            self.app.notify(
                "Marked are both proposals of agents, which are stored at once, and items of a reflection, which are "
                "not. The key was taken for the agents’ alone.",
                timeout=8,
            )
        return False

    def _store(self, chosen: Sequence[Waiting]) -> None:
        ready = tuple(each.proposal for each in chosen if not each.proposal.conflicts_with)
        left = len(chosen) - len(ready)
        if left and not ready:
            self.app.notify(
                "Say which holds: < this, > that, = both; or d to leave it to the reflection.", timeout=6
            )
            return
        if not ready:
            self.app.notify("Nothing here is left to be stored.", timeout=3)
            return
        verdict = Verdict(keep=ready)
        told = f" Left for you: {left} in contradiction, to be settled with <, > or =." if left else ""
        if len(ready) == 1 and not told:
            self.give(verdict)
            return
        self.app.push_screen(
            ConfirmScreen(
                f"Store {numbered(ready)}?",
                f"It takes effect at once, in one commit, which u takes back.{told}",
                "Store",
                started_by="a",
            ),
            lambda sure: self.give(verdict) if sure else None,
        )

    def _refuse(self, chosen: Sequence[Waiting]) -> None:
        if not chosen:
            self.app.notify("Nothing here is left to be refused.", timeout=3)
            return
        refused = tuple(each.proposal for each in chosen)

        def answered(reason: str | None) -> None:
            if reason is not None:
                self.give(Verdict(refuse=refused, reason=reason.strip()))

        question = f"Why refuse {numbered(refused)}? Enter alone refuses without a reason."
        hint = "a few words; they stand in the audit log"
        self.app.push_screen(AskScreen(question, hint, lambda _text: "", optional=True), answered)

    def _choose(self, choice: str) -> None:
        """Say which of two statements holds."""
        waiting = self.waiting
        if waiting is None:
            self._settle(choice)
        elif self.may_settle():
            self.give(settling(waiting.proposal, self.desk.by_number, choice))

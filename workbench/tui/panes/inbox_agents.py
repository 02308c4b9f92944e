"""Shows in the Inbox what agents propose, and decides on it: at once, in one commit, which one undo takes back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import work

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import MEMORY_STORES
from workbench.tui.decisions import RESOLUTIONS, THAT, THIS
from workbench.tui.panes.inbox_deciding import SETTLING, InboxDeciding
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.pick import WordScreen
from workbench.tui.verdicts import Verdict, contradicted_memories, key_of, numbered, settling
from workbench.tui.views.proposed import UNREADABLE, entity_link
from workbench.tui.views.proposed_detail import Around, agent_lines, proposal_lines, unreadable_lines
from workbench.tui.views.review_item import link_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.reviews import Proposal
    from workbench.tui.verdicts import Waiting

_BOTH = next(each for each in RESOLUTIONS if each not in (THIS, THAT))
_MAY_SETTLE = frozenset({"person", "main"})


class InboxAgents(InboxDeciding):
    """The part of the Inbox for what agents propose."""

    @property
    def waiting(self) -> Waiting | None:
        """Return the proposal of an agent under the cursor."""
        return self.rows.waiting(self.list.cursor_key)

    def around(self, key: str) -> Around | None:
        """Return what memory says about a proposal, once it was found."""
        about = self.about.get(key)
        return about if isinstance(about, Around) else None

    # --- showing --------------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        now, by_number = self.bench.now(), self.desk.by_number
        if waiting := self.rows.waiting(key):
            self.detail.show(partial(proposal_lines, waiting, by_number, self.around(key), now), key)
            self.look_around(key, partial(self._find_around, waiting.proposal))
        elif agent := self.rows.agent(key):
            self.detail.show(partial(agent_lines, agent), key)
        elif key == UNREADABLE:
            problems = self.desk.proposals.problems
            self.detail.show(partial(unreadable_lines, problems, layout.PENDING_MEMORIES), key)
        else:
            super().show_detail(key)

    @work(thread=True, exclusive=True, group="related")
    def _find_around(self, proposal: Proposal) -> None:
        reading = self._readings
        repeats = (proposal.repeats,) if proposal.repeats and not proposal.repeats.startswith("#") else ()
        asked = (*contradicted_memories(proposal), *repeats)
        about = (entity_link(each) for each in proposal.entities)
        said = {link: self._said(link) for link in (*map(link_of, asked), *about) if link}
        found = {link.id: link for link in self.found_by(proposal.content)}
        for known in (*said, *proposal.origins):
            found.pop(known, None)
        around = Around(said, tuple(found.values()))
        self.post_message(self.Found(key_of(proposal.number), reading, around))

    def _said(self, memory_id: str) -> str:
        """Return what a memory says; empty where there is none."""
        try:
            return self.bench.memory(memory_id).text
        except WorkbenchError:
            # An entity may be new with the proposal, and a memory may be gone since: the detail says so.
            return ""

    def sources(self) -> list[str]:
        if (waiting := self.waiting) is None:
            return super().sources()
        found = [link for each in waiting.proposal.origins if (link := link_of(each))]
        return [*found, f"file:{layout.PENDING_MEMORIES}#L{waiting.proposal.line}"]

    def history_link(self) -> str:
        return super().history_link() if self.waiting is None else f"history:{layout.PENDING_MEMORIES}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the proposals that are chosen."""
        means = self._means(action) if self.on_agents() else None
        if means is None and action == "store_elsewhere":
            return False
        return super().check_action(action, parameters) if means is None else means

    def _means(self, action: str) -> bool | None:
        """Tell whether an action means something for proposals; None for one that is about more than them."""
        waiting = self.waiting
        if action in SETTLING:
            return waiting is not None and bool(waiting.proposal.conflicts_with)
        if action in ("edit_here", "store_elsewhere", "open_source", "show_history"):
            return waiting is not None and not self.is_writing
        if action in ("approve", "reject", "defer", "undecide", "copy_id"):
            return not self.is_writing
        return self.is_damaged() if action == "edit_in_editor" else None

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

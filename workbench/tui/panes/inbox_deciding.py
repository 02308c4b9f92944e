"""Shows in the Inbox what a reflection proposes, and takes decisions on it, which are written behind it in order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import on, work

from workbench.engine.errors import WorkbenchError
from workbench.tui import navigation
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
from workbench.tui.panes.inbox_reading import MOST_RELATED, InboxReading
from workbench.tui.rewording import rewording
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.inbox import OVERVIEW, SECTION_KEY
from workbench.tui.views.proposal import overview_lines, section_lines
from workbench.tui.views.review_item import Related, link_of, review_item_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from workbench.engine.results.reviews import ReviewItem
    from workbench.tui.bench import Link, Outcome

_VERBS = {APPROVED: "Approve", REJECTED: "Reject", DEFERRED: "Defer", UNDECIDED: "Reopen"}

SETTLING = frozenset({"take_this", "take_that", "take_both"})
_ON_ITEMS = frozenset(
    {"approve", "reject", "defer", "undecide", "next_undecided", "apply_decisions", "copy_id"}
)


class InboxDeciding(InboxReading):
    """The part of the Inbox for the items of a reflection; every other source passes on what is not its own."""

    @property
    def item(self) -> ReviewItem | None:
        """Return the item under the cursor."""
        return self.rows.item(self.list.cursor_key)

    # --- showing --------------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        review, item = self.desk.review, self.rows.item(key)
        if review is None:
            self.detail.show(lambda _width: ())
        elif item is not None:
            about = self.about.get(item.id)
            related = about if isinstance(about, Related) else None
            self.detail.show(partial(review_item_lines, item, review.core_tokens, related), key)
            self.look_around(item.id, partial(self._find_related, item))
        elif key == OVERVIEW:
            self.detail.show(partial(overview_lines, review, self.desk.items, self.bench.now()), key)
        elif key.startswith(SECTION_KEY):
            heading = key.removeprefix(SECTION_KEY)
            prose = (review.prose or {}).get(heading, "")
            self.detail.show(partial(section_lines, heading, prose, self.rows.under(key)), key)
        else:
            self.detail.show(lambda _width: ())

    @work(thread=True, exclusive=True, group="related")
    def _find_related(self, item: ReviewItem) -> None:
        reading = self._readings
        found = {link.id: link for link in (*self._linked(item), *self.found_by(item.after or item.before))}
        for known in (item.target, link_of(item.target), *(proof.id for proof in item.evidence)):
            found.pop(known, None)
        related = Related(tuple(found.values())[:MOST_RELATED])
        self.post_message(self.Found(item.id, reading, related))

    def _linked(self, item: ReviewItem) -> Iterator[Link]:
        """Yield what the target of an item is linked with."""
        link = link_of(item.target)
        if not link:
            return
        try:
            memory = self.bench.memory(link)
        except WorkbenchError:
            # What an item proposes may not be there yet; that is no error.
            return
        yield from (*memory.links_from[: MOST_RELATED // 2], *memory.links_to[: MOST_RELATED // 2])

    def sources(self) -> list[str]:
        """Return the links to where what the cursor is on was learned."""
        return [link_of(proof.id) for proof in self.item.evidence] if self.item is not None else []

    def history_link(self) -> str:
        """Return the link to the history of what the cursor is on; empty where it has none."""
        item, review = self.item, self.desk.review
        if item is None or review is None:
            return ""
        # What is new has no history yet; that of the proposal tells who proposed it.
        path = navigation.path_of(link_of(item.target)) if item.before else ""
        return f"history:{path or review.path}"

    def action_open_source(self) -> None:
        if links := self.sources():
            chosen = self.detail.focused_link
            self.post_message(self.GoTo(chosen if chosen in links else links[0]))

    def action_show_history(self) -> None:
        if link := self.history_link():
            self.post_message(self.GoTo(link))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the item under the cursor."""
        item = self.item
        if action in SETTLING:
            return item is not None and "this" in (item.fields or {})
        if action == "edit_here":
            return item is not None and rewording(item) is not None
        if action == "open_source":
            return item is not None and bool(item.evidence)
        if action == "show_history":
            return item is not None
        if action == "next_undecided":
            return bool(self.desk.items or self.desk.at_once) and not self.is_writing
        if action in _ON_ITEMS:
            return bool(self.desk.items) and not self.is_writing
        if action == "edit_in_editor":
            return bool(self.desk.items) or self.is_damaged()
        return super().check_action(action, parameters)

    def is_damaged(self) -> bool:
        """Tell whether something of what the reflection proposes cannot be read."""
        review = self.desk.review
        return self.desk.problem is not None or bool(review is not None and review.problems)

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

    def act(self, action: Callable[[], Outcome | None], after: Callable[[], object] | None = None) -> None:
        """Have the engine do something, after every decision that was made before."""

        def act() -> Outcome | None:
            outcome = action()
            if after is not None and outcome is not None:
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

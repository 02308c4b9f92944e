"""The Inbox pane: what agents and reflections propose to be learned, one by one, for a person to decide."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.editor import edit_in_editor
from workbench.tui.keymap import bindings
from workbench.tui.panes.inbox_held import InboxHeld
from workbench.tui.rewording import rewording
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.verdicts import PROPOSAL_KEY, Verdict, reworded
from workbench.tui.views.core import total_line
from workbench.tui.views.proposed_detail import context_lines as proposed_context_lines
from workbench.tui.views.review_item import context_lines
from workbench.tui.widgets.parts_editor import PartsEditor

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.tui.bench import Bench
    from workbench.tui.rewording import Rewording

# Longer texts are not counted while one types: it would be felt.
_MOST_COUNTED = 8_000


class InboxPane(InboxHeld):
    """What was held back, what agents propose, the items of a reflection by section, and the one to decide on."""

    BINDINGS: ClassVar = bindings(
        commands.Approve, commands.Reject, commands.Defer, commands.Undecide, commands.TakeThis, commands.TakeThat,
        commands.TakeBoth, commands.NextUndecided, commands.EditHere, commands.EditInEditor, commands.ApplyDecisions,
        commands.OpenSource, commands.ShowHistory, commands.Reflect, commands.CancelReflection, commands.StoreElsewhere,
        commands.StoreWithout, commands.Reveal,
    )  # fmt: skip

    class SourceRead(Message):
        """The proposal’s file was read, to be edited whole."""

        def __init__(self, source: str, error: WorkbenchError | None = None) -> None:
            super().__init__()
            self.source = source
            self.error = error

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._drafts: dict[str, Rewording] = {}

    def compose_detail(self) -> ComposeResult:
        yield from super().compose_detail()
        yield PartsEditor()

    # --- writing --------------------------------------------------------------------------------------------

    def drafts(self) -> int:
        open_draft = self.query_one(PartsEditor).draft if self.is_mounted else None
        kept = {item_id for item_id, draft in self._drafts.items() if draft.touched}
        return len(kept | ({open_draft.item_id} if open_draft is not None and open_draft.touched else set()))

    def action_edit_here(self) -> None:
        draft = context = None
        if waiting := self.waiting:
            if self.may_settle():
                draft = self._drafts.get(waiting.key) or reworded(waiting.proposal)
                around = self.around(waiting.key)
                context = partial(proposed_context_lines, waiting, self.desk.by_number, around)
        elif (item := self.item) and self.may_decide():
            draft = self._drafts.get(item.id) or rewording(item)
            context = partial(context_lines, item)
        if draft is not None and context is not None:
            self.add_class("-reading", "-editing")
            # The classes only show with the next layout; what is typed until then must find the editor already.
            self.query_one(".pane-detail").display = True
            self.query_one(PartsEditor).open(draft, context)
            self._count(draft)
            self.refresh_bindings()

    def _stop_writing(self) -> None:
        self.remove_class("-reading", "-editing")
        self.query_one(".pane-detail").styles.clear_rule("display")
        self.query_one(PartsEditor).close()
        self.focus_list()

    @on(PartsEditor.Typed)
    def _typed(self, event: PartsEditor.Typed) -> None:
        event.stop()
        self._count(event.draft)

    def _count(self, draft: Rewording) -> None:
        """Draw what core memory would take with the text, where it is meant to stand there."""
        kind, block, name = (*self.rows.target(draft.item_id).split(":", 2), "", "")[:3]
        if kind == "core" and (text := draft.parts[0].text).strip() and len(text) <= _MOST_COUNTED:
            # What is wrong with a text is said when it is saved.
            with suppress(WorkbenchError):
                core = self.bench.preview_core(block, f"core:{block}:{name}" if name else None, text)
                self.query_one(PartsEditor).show_bar(partial(total_line, core))

    @on(PartsEditor.Saved)
    def _saved(self, event: PartsEditor.Saved) -> None:
        event.stop()
        self._drafts.pop(event.draft.item_id, None)
        self._stop_writing()
        if event.draft.item_id.startswith(PROPOSAL_KEY):
            self._store_reworded(event.draft)
        else:
            self.begin(event.draft.step(), go_on=event.draft.answers)

    def _store_reworded(self, draft: Rewording) -> None:
        """Store a proposal with other words; it is refused where it says something else than when one began."""
        waiting = next((each for each in self.desk.waiting if each.key == draft.item_id), None)
        if waiting is None:
            self.app.notify("This proposal waits no longer: it was decided elsewhere.", severity="warning")
            return
        text, seen = draft.parts[0].text.strip(), draft.parts[0].original
        self.give(Verdict(keep=(replace(waiting.proposal, content=seen),), text=text))

    @on(PartsEditor.Left)
    def _left(self, event: PartsEditor.Left) -> None:
        event.stop()
        self._drafts.pop(event.draft.item_id, None)
        if event.draft.touched:
            self._drafts[event.draft.item_id] = event.draft
        self._stop_writing()
        self.draw()

    def action_edit_in_editor(self) -> None:
        if self.may_decide():
            self.desk.in_order.look(self._read_source)

    def _read_source(self, _number: int) -> None:
        try:
            self.post_message(self.SourceRead(self.bench.review_source()))
        except WorkbenchError as error:
            self.post_message(self.SourceRead("", error))

    @on(SourceRead)
    def _source_read(self, event: SourceRead) -> None:
        event.stop()
        error, written = event.error, None
        if error is None:
            try:
                written = edit_in_editor(self.app, event.source, suffix=".md")
            except WorkbenchError as problem:
                error = problem
        if error is not None:
            self.post_message(self.Done(None, error))
        elif written is not None and written != event.source:
            self.act(partial(self.bench.set_review_source, written, event.source))

    # --- applying, reflecting -------------------------------------------------------------------------------

    def action_apply_decisions(self) -> None:
        from workbench.tui.screens.apply import UNDO, ApplyScreen

        def done(link: str | None) -> None:
            if link and link.startswith(UNDO):
                commit = link.removeprefix(UNDO)
                self.act(partial(self.bench.undo, sure=True, expected=commit))
            elif link:
                self.post_message(self.GoTo(link))
            self.reload()

        if self.may_decide():
            self.app.push_screen(ApplyScreen(self.bench, self.desk.in_order), done)

    def action_reflect(self) -> None:
        review = self.desk.review
        if review is None or not review.items:
            self._reflect(renew=False)
            return
        self.app.push_screen(
            ConfirmScreen(
                f"{review.id} is already waiting. Reflect anyway?",
                "What it holds stays, with your decisions; new findings join it, and what you deferred is asked "
                "again.",
                "Begin",
                started_by="R",
            ),
            lambda sure: self._reflect(renew=True) if sure else None,
        )

    def _reflect(self, *, renew: bool) -> None:
        self.reflection.begin(renew=renew)
        self.reflection_moved()

    def action_cancel_reflection(self) -> None:
        self.reflection.cancel()
        self.reflection_moved()

    # --- what can be done -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer nothing while one writes, and a reflection or its end; each source says what else means something."""
        if not self.is_mounted:
            return False
        if self.has_class("-editing") and action not in ("leave", "zoom_pane"):
            return False
        if action in ("reflect", "cancel_reflection"):
            return self.reflection.running == (action == "cancel_reflection")
        return super().check_action(action, parameters)

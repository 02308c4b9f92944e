"""Edits an item of core memory in place: counts while one types, saves, and says why a text is refused."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from textual import on, work
from textual.containers import Vertical
from textual.message import Message

from workbench.display.budget import budget_line, over_cap_lines, problem_lines
from workbench.engine.errors import BudgetExceeded, WorkbenchError
from workbench.tui.panes.draft import BudgetsMoved, Draft, DraftLeft, DraftSaved
from workbench.tui.views.core import label_width, total_line
from workbench.tui.widgets.item_editor import DraftArea, ItemEditor

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.tui.bench import Bench, CoreMemory
    from workbench.tui.overlays import Overlays

# Texts up to this many characters are counted at once, longer ones behind the typing.
_QUICK = 8_000


class CoreEditor(Vertical):
    """The editor of one item at a time. Posts `BudgetsMoved`, `DraftSaved` and `DraftLeft`.

    Args:
        bench: The engine.
    """

    DEFAULT_CSS = """
    CoreEditor { display: none; height: 1fr; }
    """

    class Counted(Message):
        """What core memory would be with a draft in it."""

        def __init__(self, draft: Draft, preview: CoreMemory | None) -> None:
            super().__init__()
            self.draft = draft
            self.preview = preview

    class RefusedText(Message):
        """The engine did not take the text, and why."""

        def __init__(self, error: WorkbenchError) -> None:
            super().__init__()
            self.error = error

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self._core: CoreMemory | None = None
        self.draft: Draft | None = None
        self._counting = False

    def compose(self) -> ComposeResult:
        yield ItemEditor()

    def take_core(self, core: CoreMemory) -> None:
        """Be told what is saved, which the bars start from."""
        self._core = core

    def open(self, draft: Draft) -> None:
        """Begin or go on with a draft."""
        self.draft = draft
        self.display = True
        verb = "New item in" if draft.item_id is None else "Editing in"
        self.query_one(ItemEditor).open(f"{verb} {draft.block}", draft.text)
        self._count()

    def close(self) -> None:
        """Put the editor away."""
        self.draft = None
        self.display = False
        self.post_message(BudgetsMoved(None))

    @on(ItemEditor.Typed)
    def _typed(self, event: ItemEditor.Typed) -> None:
        event.stop()
        if self.draft is not None:
            self.draft = replace(self.draft, text=event.text)
            self._count()

    def _count(self) -> None:
        """Count the draft; one that takes a moment is counted again afterwards if it was written on meanwhile."""
        draft = self.draft
        if draft is None:
            return
        if len(draft.text) <= _QUICK:
            self._show_bars(draft, self._preview(draft))
        elif not self._counting:
            self._counting = True
            self._count_behind(draft)

    def _preview(self, draft: Draft) -> CoreMemory | None:
        # What is wrong with a draft is said when it is saved.
        with suppress(WorkbenchError):
            return self._bench.preview_core(draft.block, draft.item_id, draft.text)
        return self._core

    @work(thread=True, group="count")
    def _count_behind(self, draft: Draft) -> None:
        self.post_message(self.Counted(draft, self._preview(draft)))

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        event.stop()
        self._counting = False
        if self.draft is not None and self.draft.key == event.draft.key:
            self._show_bars(event.draft, event.preview)
        if self.draft is not None and self.draft != event.draft:
            self._count()

    def _show_bars(self, draft: Draft, preview: CoreMemory | None) -> None:
        """Draw what the block and the whole would take."""
        if preview is None:
            return
        width = label_width(preview.blocks)
        draws = [partial(total_line, preview)]
        block = next((each for each in preview.blocks if each.name == draft.block), None)
        if block is not None and block.budget is not None:
            draws.insert(0, partial(budget_line, block.name, block.tokens, block.budget, label_width=width))
        self.query_one(ItemEditor).show_bars(draws)
        self.post_message(BudgetsMoved(preview))

    @on(DraftArea.Saved)
    def _save(self, event: DraftArea.Saved) -> None:
        event.stop()
        draft = self.draft
        if draft is None:
            return
        if not draft.text.strip():
            problem = "An item needs some text. To remove it, leave with esc and press f."
            self.query_one(ItemEditor).show_problem(partial(problem_lines, problem))
        elif not draft.touched:
            self.post_message(DraftLeft(draft))
        else:
            cast("Overlays", self.app).in_order.submit(lambda _number: self._write(draft))

    def _write(self, draft: Draft) -> None:
        try:
            if draft.item_id is None:
                outcome = self._bench.add_core(draft.block, draft.text.strip())
            else:
                outcome = self._bench.set_core(draft.item_id, draft.text.strip())
        except WorkbenchError as error:
            self.post_message(self.RefusedText(error))
            return
        self.post_message(DraftSaved(draft, outcome))

    @on(RefusedText)
    def _refused(self, event: RefusedText) -> None:
        event.stop()
        error = event.error
        if isinstance(error, BudgetExceeded) and error.candidates:
            self.query_one(ItemEditor).show_problem(lambda width: over_cap_lines(error, width))
        else:
            problem = f"{error.message} {error.remedy or ''}".strip()
            self.query_one(ItemEditor).show_problem(partial(problem_lines, problem))

    @on(DraftArea.Left)
    def _leave(self, event: DraftArea.Left) -> None:
        event.stop()
        if self.draft is not None:
            self.post_message(DraftLeft(self.draft))

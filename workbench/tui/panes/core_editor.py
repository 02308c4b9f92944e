"""Edits an item of core memory in place: counts while one types, saves, and says why a text is refused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui.views.budget import budget_line
from workbench.tui.views.core import label_width, total_line
from workbench.tui.widgets.item_editor import DraftArea, ItemEditor

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.tui.bench import Bench, CoreBlock, CoreMemory, Outcome

NEW = "new:"


@dataclass(frozen=True)
class Draft:
    """An unsaved text.

    Args:
        key: Id of the item that it is to replace, or `new:` and the block that it is to join.
        block: Name of the block.
        text: What has been written.
        original: What the item said when it was begun.
        tokens: Tokens of the original.
    """

    key: str
    block: str
    text: str
    original: str = ""
    tokens: int = 0

    @property
    def touched(self) -> bool:
        """Tell whether anything would be lost with it."""
        return self.text != self.original


class CoreEditor(Vertical):
    """The editor of one item at a time. Posts `Moved` as budgets move, `Saved` and `Left`.

    Args:
        bench: The engine.
    """

    DEFAULT_CSS = """
    CoreEditor { display: none; height: 1fr; }
    CoreEditor.-open { display: block; }
    """

    class Moved(Message):
        """Blocks would take other tokens with the draft than without; empty when no draft is open."""

        def __init__(self, tokens: dict[str, int]) -> None:
            super().__init__()
            self.tokens = tokens

    class Saved(Message):
        """The draft is memory now."""

        def __init__(self, draft: Draft, outcome: Outcome) -> None:
            super().__init__()
            self.draft = draft
            self.outcome = outcome

    class Left(Message):
        """The editor was left."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class Counted(Message):
        """How many tokens a text takes."""

        def __init__(self, text: str, tokens: int) -> None:
            super().__init__()
            self.text = text
            self.tokens = tokens

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

    def compose(self) -> ComposeResult:
        yield ItemEditor()

    def take_core(self, core: CoreMemory) -> None:
        """Be told what is saved, which the bars start from."""
        self._core = core

    def open(self, draft: Draft) -> None:
        """Begin or go on with a draft."""
        self.draft = draft
        self.add_class("-open")
        verb = "New item in" if draft.key.startswith(NEW) else "Editing in"
        self.query_one(ItemEditor).open(f"{verb} {draft.block}", draft.text)
        self._show_bars(None)
        self._count(draft.text)

    def close(self) -> None:
        """Put the editor away."""
        self.draft = None
        self.remove_class("-open")
        self.query_one(ItemEditor).close()
        self.post_message(self.Moved({}))

    @on(ItemEditor.Typed)
    def _typed(self, event: ItemEditor.Typed) -> None:
        event.stop()
        if self.draft is not None:
            draft = self.draft
            self.draft = Draft(draft.key, draft.block, event.text, draft.original, draft.tokens)
            self._count(event.text)

    @work(thread=True, exclusive=True, group="count")
    def _count(self, text: str) -> None:
        self.post_message(self.Counted(text, self._bench.count_tokens(text) if text.strip() else 0))

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        event.stop()
        if self.draft is not None and self.draft.text == event.text:
            self._show_bars(event.tokens)

    def _block(self) -> CoreBlock | None:
        if self._core is None or self.draft is None:
            return None
        return next((block for block in self._core.blocks if block.name == self.draft.block), None)

    def _show_bars(self, typed: int | None) -> None:
        """Draw what the block and the whole would take; `typed` are the tokens of the draft, if they are known."""
        core, block, draft = self._core, self._block(), self.draft
        if core is None or block is None or draft is None:
            return
        used = block.tokens + (typed - draft.tokens if typed is not None else 0)
        draws = [partial(total_line, core, {block.name: used})]
        if block.budget is not None:
            draws.insert(
                0, partial(budget_line, block.name, used, block.budget, label_width=label_width(core.blocks))
            )
        self.query_one(ItemEditor).show_bars(draws)
        self.post_message(self.Moved({block.name: used}))

    @on(DraftArea.Saved)
    def _save(self, event: DraftArea.Saved) -> None:
        event.stop()
        draft = self.draft
        if draft is None:
            return
        if not draft.text.strip():
            self.query_one(ItemEditor).show_problem(
                "An item needs some text. To remove it, leave with esc and press f."
            )
        elif not draft.touched:
            self.post_message(self.Left(draft))
        else:
            self._write(draft)

    @work(thread=True, exclusive=True, group="act")
    def _write(self, draft: Draft) -> None:
        try:
            if draft.key.startswith(NEW):
                outcome = self._bench.add_core(draft.block, draft.text.strip())
            else:
                outcome = self._bench.set_core(draft.key, draft.text.strip())
        except WorkbenchError as error:
            self.post_message(self.RefusedText(error))
            return
        self.post_message(self.Saved(draft, outcome))

    @on(RefusedText)
    def _refused(self, event: RefusedText) -> None:
        event.stop()
        error = event.error
        self.query_one(ItemEditor).show_problem(f"{error.message} {error.remedy or ''}".strip())

    @on(DraftArea.Left)
    def _leave(self, event: DraftArea.Left) -> None:
        event.stop()
        if self.draft is not None:
            self.post_message(self.Left(self.draft))

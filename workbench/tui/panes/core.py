"""The Core pane: what is always in the agent's mind, against its budget, to correct in place."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.editor import edit_in_editor
from workbench.tui.keymap import bindings
from workbench.tui.palette import PAPER
from workbench.tui.panes.draft import NEW, BudgetsMoved, Draft, DraftLeft, DraftSaved
from workbench.tui.panes.on_memories import ON_MEMORIES, OnMemories
from workbench.tui.query import parse_query
from workbench.tui.views.core import (
    BLOCK_KEY,
    CoreRows,
    block_lines,
    core_score_lines,
    item_lines,
    matching,
    total_line,
)
from workbench.tui.views.memory import known_lines
from workbench.tui.views.teaching import IMPORT, teach
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench, CoreBlock, CoreItem, CoreMemory, Memory
    from workbench.tui.panes.core_editor import CoreEditor

_EMPTY = teach(
    "There is no core memory yet.",
    "Core memory is what the agent carries into every conversation: who you are, what is going on, how to behave, "
    "and what must never be forgotten. It lives in MEMORY.md and is kept short by a budget of tokens.",
    ("workbench init", "lays out MEMORY.md with its four blocks."),
    ('workbench core add identity "…"', "adds an item."),
    IMPORT,
)
_NOTHING_MATCHES = teach(
    "Nothing matches.", "No item holds all of these words.", ("esc", "shows everything again.")
)


# Seconds after core memory is first shown in which the editor is made ready.
_EDITOR_AFTER = 0.4


class CorePane(OnMemories):
    """Blocks with a budget bar each, and their items."""

    title: ClassVar = "Core"
    filter_hint: ClassVar = "words of an item"
    BINDINGS: ClassVar = bindings(commands.NewItem, *ON_MEMORIES)

    class Loaded(Message):
        """Core memory was read."""

        def __init__(self, core: CoreMemory) -> None:
            super().__init__()
            self.core = core

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.core: CoreMemory | None = None
        self._drafts: dict[str, Draft] = {}
        self._preview: CoreMemory | None = None
        self._words: tuple[str, ...] = ()
        self._editor: CoreEditor | None = None
        self._making_editor = asyncio.Lock()

    def compose_head(self) -> ComposeResult:
        yield StatusLine(id="core-total", ground=PAPER)

    def teach(self, width: int) -> Sequence[Line]:
        return _NOTHING_MATCHES(width) if self.core and self.core.blocks else _EMPTY(width)

    # --- what it shows --------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="load")
    def reload(self) -> None:
        try:
            self.post_message(self.Loaded(self.bench.core()))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))

    @on(Loaded)
    def _loaded(self, event: Loaded) -> None:
        event.stop()
        self.core = event.core
        if self._editor is not None:
            self._editor.take_core(event.core)
        if self._editor is None:
            self.set_timer(_EDITOR_AFTER, self._ready_editor)
        self.has_read()
        self._draw()

    def apply_filter(self, text: str) -> None:
        self._words = parse_query(text, (), None).words
        self._draw()

    def _draw(self) -> None:
        """Draw everything from what was read last."""
        if self.core is not None:
            self._draw_list()
            self.show_detail(self.list.cursor_key)

    def _draw_list(self) -> None:
        if self.core is None:
            return
        blocks = matching(self.core, self._words)
        typed = {block.name: block.tokens for block in self._preview.blocks} if self._preview else {}
        rows = CoreRows(blocks, typed, frozenset(key for key, draft in self._drafts.items() if draft.touched))
        # What is wanted may only come with the next reading.
        found = bool(self.wanted_key) and rows.find(self.wanted_key) is not None
        self.list.show(rows, keep=self.wanted_key if found else None)
        self.wanted_key = "" if found else self.wanted_key
        self.filter_bar.set_count(
            sum(len(b.items) for b in blocks), sum(len(b.items) for b in self.core.blocks)
        )
        self.query_one("#core-total", StatusLine).show(self._draw_total)

    def _draw_total(self, width: int) -> Line:
        from workbench.display.ink import gap

        core = self._preview or self.core
        return (gap(2), *total_line(core, width - 3)) if core else ()

    def _find(self, key: str) -> tuple[CoreBlock, CoreItem | None] | None:
        """Return the block and the item that a row is about."""
        for block in self.core.blocks if self.core else ():
            if key == BLOCK_KEY + block.name:
                return block, None
            for item in block.items:
                if item.id == key:
                    return block, item
        return None

    def show_detail(self, key: str) -> None:
        found = self._find(key)
        if found is None:
            self.detail.show(lambda _width: ())
            return
        block, item = found
        if item is None:
            self.detail.show(partial(block_lines, block), key)
            return
        memory = self.known(key)

        def draw(width: int) -> list[Line]:
            known = known_lines(memory, width, score=core_score_lines) if memory is not None else []
            return [*item_lines(item, block, width), *known]

        self.detail.show(draw, key)
        self.ask_about(key)

    def know(self, memory: Memory) -> None:
        if self.list.cursor_key == memory.id:
            self.show_detail(memory.id)
            self.refresh_bindings()

    def findable(self) -> Iterator[tuple[str, str]]:
        for block in self.core.blocks if self.core else ():
            for item in block.items:
                yield f"{block.name}: {item.text}", item.id

    # --- editing --------------------------------------------------------------------------------------------

    def drafts(self) -> int:
        open_draft = self._editor.draft if self._editor is not None else None
        kept = {key for key, draft in self._drafts.items() if draft.touched}
        return len(kept | ({open_draft.key} if open_draft is not None and open_draft.touched else set()))

    async def action_edit_here(self) -> None:
        found = self._find(self.list.cursor_key)
        if found is None:
            return
        block, item = found
        if item is None:
            await self.action_new_item()
            return
        await self._edit(self._drafts.get(item.id) or Draft(item.id, block.name, item.text, item.text))

    async def action_new_item(self) -> None:
        found = self._find(self.list.cursor_key)
        if found is not None:
            key = NEW + found[0].name
            await self._edit(self._drafts.get(key) or Draft(key, found[0].name, ""))

    async def _ready_editor(self) -> CoreEditor:
        """Return the editor; it is made when it is first needed, or a moment after the pane is first seen."""
        async with self._making_editor:
            if self._editor is None:
                from workbench.tui.panes.core_editor import CoreEditor

                editor = CoreEditor(self.bench)
                await self.query_one(".pane-detail").mount(editor)
                self._editor = editor
        if self.core is not None:
            self._editor.take_core(self.core)
        return self._editor

    async def _edit(self, draft: Draft) -> None:
        editor = await self._ready_editor()
        self.add_class("-reading", "-editing")
        # The classes only show with the next layout; what is typed until then must find the editor already.
        self.query_one(".pane-detail").display = True
        editor.open(draft)
        self.refresh_bindings()

    def _stop_editing(self) -> None:
        self.remove_class("-reading", "-editing")
        self.query_one(".pane-detail").styles.clear_rule("display")
        if self._editor is not None:
            self._editor.close()
        self.focus_list()

    @on(BudgetsMoved)
    def _budgets_moved(self, event: BudgetsMoved) -> None:
        event.stop()
        if self._preview != event.preview:
            self._preview = event.preview
            self._draw_list()

    @on(DraftSaved)
    def _saved(self, event: DraftSaved) -> None:
        event.stop()
        self._drafts.pop(event.draft.key, None)
        self.wanted_key = event.outcome.ids[0] if event.outcome.ids else ""
        self._stop_editing()
        self.post_message(self.Done(event.outcome))
        self.reload()

    @on(DraftLeft)
    def _left(self, event: DraftLeft) -> None:
        event.stop()
        self._drafts.pop(event.draft.key, None)
        if event.draft.touched:
            self._drafts[event.draft.key] = event.draft
        self._stop_editing()
        self._draw()

    def action_edit_in_editor(self) -> None:
        found = self._find(self.list.cursor_key)
        if found is not None:
            self._edit_block(found[0].name)

    @work(thread=True, exclusive=True, group="act")
    def _edit_block(self, block: str) -> None:
        try:
            source = self.bench.block_source(block)
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        self.app.call_from_thread(self._write_block, block, source)

    def _write_block(self, block: str, source: str) -> None:
        try:
            written = edit_in_editor(self.app, source, suffix=".md")
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        if written is not None and written != source:
            self.act(partial(self.bench.set_block_source, block, written, source))

    # --- acting ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the row under the cursor."""
        if self.has_class("-editing") and action not in ("leave", "zoom_pane"):
            return False
        if action in ("edit_here", "edit_in_editor", "new_item"):
            return self.is_mounted and self._find(self.list.cursor_key) is not None
        if action == "copy_id":
            return bool(self.memory_here())
        return super().check_action(action, parameters)

    def status_of(self, memory_id: str) -> str:
        found = self._find(memory_id)
        if found is None or found[1] is None:
            return ""
        return "pinned" if found[1].pinned else "active"

    def action_forget(self) -> None:
        self.act(partial(self.bench.remove_core, self.subjects()), self.list.clear_marks)

"""Edits the text of one memory over whatever shows it, and says at once why a text is not taken."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.display.budget import problem_lines
from workbench.display.cells import plain
from workbench.engine.errors import Stale, WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.views.editing import changed_meanwhile, editing_title
from workbench.tui.views.status import fitting_keys
from workbench.tui.widgets.item_editor import DraftArea
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench, Outcome
    from workbench.tui.overlays import Overlays
    from workbench.tui.text_draft import TextDraft

_NO_TEXT = "A memory needs some text. To put it out of sight, leave with esc and press f."


class LongArea(DraftArea, inherit_bindings=False):
    """A text area for many lines: enter begins a new one."""

    BINDINGS: ClassVar = [*TextArea.BINDINGS, *bindings(commands.SaveText, commands.LeaveDraft)]

    def action_save_text(self) -> None:
        self.action_save_draft()


class EditScreen(ModalScreen["Outcome | TextDraft | None"]):
    """A text to write in; gives what came of it, the draft that is kept, or None where nothing was changed.

    Args:
        bench: The engine.
        draft: What to write in.
    """

    class Refused(Message):
        """The engine did not take the text: why, and what the memory says now where it was changed meanwhile."""

        def __init__(self, error: WorkbenchError, now: str | None = None) -> None:
            super().__init__()
            self.error = error
            self.now = now

    class Saved(Message):
        """The text is memory now."""

        def __init__(self, outcome: Outcome) -> None:
            super().__init__()
            self.outcome = outcome

    def __init__(self, bench: Bench, draft: TextDraft) -> None:
        super().__init__()
        self._bench = bench
        self.draft = draft
        self._is_long = "\n" in draft.expected.strip()

    def compose(self) -> ComposeResult:
        with Vertical(classes="card edit-card -long" if self._is_long else "card edit-card"):
            title = plain(editing_title(self.draft.memory_id), 200)
            yield Static(title, classes="dialog-title", markup=False)
            area = (LongArea if self._is_long else DraftArea)(
                self.draft.text,
                soft_wrap=True,
                compact=True,
                show_line_numbers=False,
                highlight_cursor_line=False,
            )
            area.cursor_blink = False
            yield area
            yield Lines(id="edit-problem")
            yield StatusLine(id="edit-keys", ground=RAISED)

    def on_mount(self) -> None:
        area = self.query_one(DraftArea)
        if not self._is_long:
            area.move_cursor(area.document.end)
        area.focus()
        self.bindings_updated_signal.subscribe(self, lambda _screen: self._draw_keys())
        self._draw_keys()

    def _draw_keys(self) -> None:
        keys = cast("Overlays", self.app).shown_keys()
        self.query_one("#edit-keys", StatusLine).show(partial(fitting_keys, keys))

    def _tell(self, draw: Callable[[int], Sequence[Line]]) -> None:
        self.query_one("#edit-problem", Lines).show(draw)

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        if event.text_area.text != self.draft.text:
            self.draft = replace(self.draft, text=event.text_area.text)
            self._tell(lambda _width: ())

    @on(DraftArea.Saved)
    def _save(self, event: DraftArea.Saved) -> None:
        event.stop()
        if not self.draft.touched:
            self.dismiss(None)
        elif not self.draft.text.strip():
            self._tell(partial(problem_lines, _NO_TEXT))
        else:
            draft = self.draft
            cast("Overlays", self.app).in_order.submit(lambda _number: self._write(draft))

    def _write(self, draft: TextDraft) -> None:
        try:
            outcome = self._bench.edit_memory(draft.memory_id, draft.text, draft.expected)
        except Stale as error:
            self.post_message(self.Refused(error, self._text_now()))
        except WorkbenchError as error:
            self.post_message(self.Refused(error))
        else:
            self.post_message(self.Saved(outcome))

    def _text_now(self) -> str | None:
        try:
            return self._bench.memory_text(self.draft.memory_id)
        except WorkbenchError:
            # It is gone; the refusal tells so.
            return None

    @on(Saved)
    def _saved(self, event: Saved) -> None:
        event.stop()
        self.dismiss(event.outcome)

    @on(Refused)
    def _refused(self, event: Refused) -> None:
        event.stop()
        if event.now is None:
            self._tell(partial(problem_lines, event.error.told))
            return
        self.draft = replace(self.draft, expected=event.now)
        self._tell(partial(changed_meanwhile, event.now))

    @on(DraftArea.Left)
    def _leave(self, event: DraftArea.Left) -> None:
        event.stop()
        self.dismiss(self.draft if self.draft.touched else None)

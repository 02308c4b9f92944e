"""Edits one short text in place, with the budgets it moves right below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static, TextArea

from workbench.display.cells import HIDDEN, plain
from workbench.display.ink import BLANK
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

    from workbench.display.ink import Line


_OWN = {commands.SaveDraft.id, commands.NewLine.id, commands.LeaveDraft.id}


class DraftArea(TextArea):
    """A text area in which enter saves and esc leaves."""

    class Saved(Message):
        """The text is meant to be saved."""

    class Left(Message):
        """The text is left as it is, as a draft."""

    BINDINGS: ClassVar = bindings(commands.SaveDraft, commands.NewLine, commands.LeaveDraft)

    async def _on_key(self, event: events.Key) -> None:
        # The keys bound above mean a command here, where a text area would write or indent.
        active = self.screen.active_bindings.get(event.key)
        if active is not None and active.node is self and active.binding.id in _OWN:
            event.stop()
            event.prevent_default()
            await self.run_action(active.binding.action)

    def get_line(self, line_index: int) -> Text:
        """Return a line with what would not print replaced, character by character, so that the cursor is right."""
        line = self.document.get_line(line_index)
        return Text(
            "".join(c if c.isprintable() or c == "\t" else HIDDEN for c in line), end="", no_wrap=True
        )

    def action_save_draft(self) -> None:
        self.post_message(self.Saved())

    def action_new_line(self) -> None:
        self.insert("\n")

    def action_leave_draft(self) -> None:
        self.post_message(self.Left())


class ItemEditor(Vertical):
    """A title, the text, a bar for each budget, and a line for what is wrong."""

    DEFAULT_CSS = """
    ItemEditor { background: $surface; padding: 1 2; height: 1fr; }
    ItemEditor > #editor-title { color: $soft; height: 1; background: $surface; }
    ItemEditor > DraftArea {
        height: auto; min-height: 4; max-height: 14; margin: 1 0; border: none; padding: 0 1;
        background: $background; color: $foreground;
    }
    ItemEditor > DraftArea:focus { border: none; }
    ItemEditor > DraftArea .text-area--cursor-line { background: $background; }
    ItemEditor > #editor-problem { margin: 1 0 0 0; }
    """

    class Typed(Message):
        """The text is another one now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def compose(self) -> ComposeResult:
        yield Static("", id="editor-title", markup=False)
        area = DraftArea(
            "", soft_wrap=True, compact=True, show_line_numbers=False, highlight_cursor_line=False
        )
        area.cursor_blink = False
        yield area
        yield StatusLine(id="editor-bar-0", ground=RAISED)
        yield StatusLine(id="editor-bar-1", ground=RAISED)
        yield Lines(id="editor-problem")

    @property
    def text(self) -> str:
        """Return what has been written."""
        return self.query_one(DraftArea).text

    def open(self, title: str, text: str) -> None:
        """Begin to edit.

        Args:
            title: What it is that one edits.
            text: What it says so far.
        """
        self.query_one("#editor-title", Static).update(plain(title, 200))
        self.clear_problem()
        area = self.query_one(DraftArea)
        area.load_text(text)
        area.move_cursor(area.document.end)
        area.focus()

    def show_bars(self, draws: Sequence[Callable[[int], Line]]) -> None:
        """Draw up to two budgets."""
        for at in range(2):
            bar = self.query_one(f"#editor-bar-{at}", StatusLine)
            bar.show(draws[at] if at < len(draws) else lambda _width: BLANK)

    def show_problem(self, draw: Callable[[int], Sequence[Line]]) -> None:
        """Say why the text was not taken."""
        self.query_one("#editor-problem", Lines).show(draw)

    def clear_problem(self) -> None:
        """Say nothing about the text."""
        self.show_problem(lambda _width: ())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.clear_problem()
        self.post_message(self.Typed(event.text_area.text))

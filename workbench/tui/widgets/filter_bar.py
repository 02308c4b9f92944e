"""The line in which one types what to show; hidden while it is empty and unused."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from workbench.display.cells import plain
from workbench.tui import commands
from workbench.tui.keymap import bindings

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult


class FilterInput(Input, can_focus=False):
    """An input that leaves the keys that move a list to the list; it takes keys only while its bar is shown."""

    BINDINGS: ClassVar = bindings(commands.KeepFilter, commands.ClearFilter)
    PASSED_ON: ClassVar = {
        "up": "move_up", "down": "move_down", "pageup": "page_up", "pagedown": "page_down",
    }  # fmt: skip

    class Passed(Message):
        """A key that moves the list; `action` is the list's own."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Left(Message):
        """The escape key was pressed."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key in self.PASSED_ON:
            event.stop()
            event.prevent_default()
            self.post_message(self.Passed(self.PASSED_ON[event.key]))

    async def action_keep_filter(self) -> None:
        await self.action_submit()

    def action_clear_filter(self) -> None:
        self.post_message(self.Left())


class FilterBar(Horizontal):
    """A filter with a word on how much it shows.

    Args:
        hint: What can be typed, shown while nothing is.
    """

    DEFAULT_CSS = """
    FilterBar { height: 1; display: none; background: $surface; }
    FilterBar.-open { display: block; }
    FilterBar > #filter-sign { width: 2; color: $decide; background: $surface; }
    FilterBar > FilterInput { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    FilterBar > FilterInput:focus { border: none; background: $surface; background-tint: transparent; }
    FilterBar > FilterInput > .input--placeholder { color: $faint; }
    FilterBar > #filter-count { width: auto; padding: 0 2; color: $soft; background: $surface; }
    """

    class Changed(Message):
        """The filter says something else now."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, hint: str) -> None:
        super().__init__()
        self._hint = hint

    def compose(self) -> ComposeResult:
        yield Static("/", id="filter-sign", markup=False)
        yield FilterInput(placeholder=self._hint, compact=True, select_on_focus=False)
        yield Static("", id="filter-count", markup=False)

    @property
    def field(self) -> FilterInput:
        """Return the line that is written in."""
        return self.query_one(FilterInput)

    @property
    def text(self) -> str:
        """Return what the filter says; nothing while it is not there yet, or not any more."""
        return next((field.value for field in self.query(FilterInput)), "")

    def open(self, text: str | None = None) -> None:
        """Show the bar and write in it: what is typed replaces what it said, unless that is given as `text`."""
        self._show(True)
        field = self.field
        if text is not None:
            field.value = plain(text)
        if text is None and not field.has_focus:
            field.select_all()
        else:
            field.cursor_position = len(field.value)
        field.focus()

    def set_text(self, text: str) -> None:
        """Make the filter say something, without writing in it."""
        self.field.value = plain(text)
        self._show(bool(text))

    def close_if_empty(self) -> None:
        """Hide the bar where it says nothing."""
        self._show(bool(self.text))

    def _show(self, shown: bool) -> None:
        self.set_class(shown, "-open")
        self.field.can_focus = shown

    def set_count(self, shown: int, of: int) -> None:
        """Say how many of how many are shown."""
        self.query_one("#filter-count", Static).update(f"{shown:,} of {of:,}" if self.text else f"{of:,}")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

"""A line that is written in: what it is for, the text, and the keys that end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widgets import Input

from workbench.display.cells import cell_width, plain
from workbench.display.ink import Span, gap, ink
from workbench.tui.parts.line import DrawnLines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

# Cells that the text has before its title and its keys get any.
_TEXT_FIRST = 24
_MOST_NAMED = 5


class WrittenLine(Input):
    """An input whose text prints as itself: what is pasted becomes one line of it."""

    DEFAULT_CSS = """
    WrittenLine { height: 1; border: none; padding: 0; background: $panel; }
    WrittenLine:focus { border: none; background: $panel; background-tint: transparent; }
    WrittenLine > .input--placeholder { color: $faint; }
    """

    def __init__(self, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False)

    def write(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.value = plain(text)
        self.cursor_position = len(self.value)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = plain(" ".join(event.text.split()))
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)


class Completion:
    """Completes a text as far as there is one way; then offers each of the ways in turn."""

    def __init__(self) -> None:
        self._offered: tuple[str, ...] = ()

    def next(self, text: str, complete: Callable[[str], Sequence[str]]) -> tuple[str, str]:
        """Return what the text becomes, and a sentence that names the ways.

        Args:
            complete: Returns the whole texts that it may become.
        """
        if text in self._offered:
            return self._offered[(self._offered.index(text) + 1) % len(self._offered)], ""
        offered = tuple(complete(text))
        if not offered:
            return text, f"Nothing here begins with “{text}”." if text else "There is nothing to choose from."
        shared = _shared_beginning(offered)
        goes_on = len(shared) > len(text) and shared.casefold().startswith(text.casefold())
        self._offered = () if len(offered) == 1 or goes_on else offered
        more = f" and {len(offered) - _MOST_NAMED} more" if len(offered) > _MOST_NAMED else ""
        said = f"{', '.join(offered[:_MOST_NAMED])}{more}." if len(offered) > 1 else ""
        return (offered[0] if self._offered else shared), said


def _shared_beginning(texts: Sequence[str]) -> str:
    first, *rest = texts
    shared = len(first)
    for each in rest:
        same = (
            at for at, (a, b) in enumerate(zip(first, each, strict=False)) if a.casefold() != b.casefold()
        )
        shared = min(shared, len(each), next(same, shared))
    return first[:shared]


class PromptLine(Horizontal):
    """One line for one answer, in place of the keys; hidden until it is opened."""

    DEFAULT_CSS = """
    PromptLine { height: 1; display: none; background: $panel; }
    PromptLine > DrawnLines { width: auto; height: 1; }
    PromptLine > WrittenLine { width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__(id="prompt")
        self.line = WrittenLine()
        self.typed: Callable[[str], object] = lambda _text: None
        self._title = DrawnLines(ground="cursor")
        self._keys = DrawnLines(ground="cursor")
        self._said = ("", "")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.line
        yield self._keys

    def open(self, title: str, initial: str, keys: str, *, selected: bool = False) -> None:
        """Show the line.

        Args:
            initial: What it says to begin with.
            keys: What ends it, at the right as long as there is room.
            selected: Whether what it says is selected, so that typing replaces it.
        """
        self._said = (title, keys)
        self.line.write(initial)
        if selected:
            self.line.action_select_all()
        self.display = True
        self._fit()

    def close(self) -> None:
        """Hide the line."""
        self.display = False

    def on_resize(self, _event: events.Resize) -> None:
        self._fit()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.typed(event.value)

    def _fit(self) -> None:
        title, keys = self._said
        width = self.screen.size.width
        title = plain(title, max(1, width - _TEXT_FIRST))
        room = width - cell_width(title) - 3 - _TEXT_FIRST
        keys = keys if cell_width(keys) + 2 <= room else ""
        self._title.styles.width = cell_width(title) + 3
        self._title.show(lambda _width: ((gap(1), ink(title, "decide.strong"), gap(2)),))
        self._keys.styles.width = cell_width(keys) + 2 if keys else 0
        self._keys.show(lambda _width: ((gap(1), Span(keys, "soft"), gap(1)),))

"""Edits the few parts of one proposed change in place, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Static, TextArea

from workbench.display.budget import problem_lines
from workbench.display.cells import plain
from workbench.display.ink import BLANK
from workbench.tui.palette import RAISED
from workbench.tui.rewording import MOST_PARTS, Rewording
from workbench.tui.widgets.item_editor import DraftArea
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line


class PartsEditor(VerticalScroll, can_focus=False):
    """A title, up to three texts with a word above each, a budget, and a line for what is wrong."""

    DEFAULT_CSS = """
    PartsEditor { background: $surface; padding: 1 2; height: 1fr; display: none; scrollbar-size-vertical: 1; }
    PartsEditor > .part-title { color: $foreground; background: $surface; height: auto; max-height: 4; }
    PartsEditor > .part-label { color: $soft; height: 1; margin: 1 0 0 0; background: $surface; }
    PartsEditor > DraftArea {
        height: auto; min-height: 1; max-height: 14; border: none; padding: 0 1;
        background: $background; color: $foreground;
    }
    PartsEditor > DraftArea:focus { border: none; }
    PartsEditor > DraftArea .text-area--cursor-line { background: $background; }
    PartsEditor > StatusLine { margin: 1 0 0 0; }
    """

    class Typed(Message):
        """What is being written says something else now."""

        def __init__(self, draft: Rewording) -> None:
            super().__init__()
            self.draft = draft

    class Saved(Message):
        """What has been written is meant to be saved."""

        def __init__(self, draft: Rewording) -> None:
            super().__init__()
            self.draft = draft

    class Left(Message):
        """The editor was left; what has been written is kept as a draft."""

        def __init__(self, draft: Rewording) -> None:
            super().__init__()
            self.draft = draft

    def __init__(self) -> None:
        super().__init__()
        self.draft: Rewording | None = None

    def compose(self) -> ComposeResult:
        yield Static("", classes="part-title", markup=False)
        for at in range(MOST_PARTS):
            yield Static("", id=f"part-label-{at}", classes="part-label", markup=False)
            area = DraftArea(
                "",
                id=f"part-{at}",
                soft_wrap=True,
                compact=True,
                show_line_numbers=False,
                highlight_cursor_line=False,
            )
            area.cursor_blink = False
            yield area
        yield StatusLine(id="parts-bar", ground=RAISED)
        yield Lines(id="parts-problem")
        yield Lines(id="parts-context")

    def open(self, draft: Rewording, context: Callable[[int], Sequence[Line]]) -> None:
        """Begin to write, or go on.

        Args:
            draft: What is written in.
            context: Draws what one wants to see meanwhile, below everything.
        """
        self.draft = None
        self.display = True
        more = "  (tab goes to the next part)" if len(draft.parts) > 1 else ""
        self.query_one(".part-title", Static).update(plain(draft.title, 400) + more)
        self.query_one("#parts-context", Lines).show(context)
        self.show_problem("")
        self.query_one("#parts-bar", StatusLine).display = False
        for at in range(MOST_PARTS):
            area, label = self._area(at), self.query_one(f"#part-label-{at}", Static)
            area.display = label.display = at < len(draft.parts)
            if at < len(draft.parts):
                label.update(draft.parts[at].label)
                area.load_text(draft.parts[at].text)
                area.move_cursor(area.document.end)
        self.draft = draft
        self._area(0).focus()

    def close(self) -> None:
        """Put the editor away."""
        self.draft = None
        self.display = False

    def _area(self, at: int) -> DraftArea:
        return self.query_one(f"#part-{at}", DraftArea)

    def show_bar(self, draw: Callable[[int], Line]) -> None:
        """Draw a budget below the parts."""
        bar = self.query_one("#parts-bar", StatusLine)
        bar.display = True
        bar.show(draw)

    def show_problem(self, problem: str) -> None:
        """Say why what has been written was not taken; nothing where it is empty."""
        shown = self.query_one("#parts-problem", Lines)
        shown.show((lambda width: [BLANK, *problem_lines(problem, width)]) if problem else lambda _width: ())

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        at = int((event.text_area.id or "part-0").removeprefix("part-"))
        # What is loaded into an area is told a moment later, perhaps when another item is open already.
        if (
            self.draft is None
            or at >= len(self.draft.parts)
            or event.text_area.text == self.draft.parts[at].text
        ):
            return
        self.draft = self.draft.written(at, event.text_area.text)
        self.show_problem("")
        self.post_message(self.Typed(self.draft))

    @on(DraftArea.Saved)
    def _save(self, event: DraftArea.Saved) -> None:
        event.stop()
        if self.draft is None:
            return
        if problem := self.draft.problem:
            self.show_problem(problem)
        elif not self.draft.touched:
            self.post_message(self.Left(self.draft))
        else:
            self.post_message(self.Saved(self.draft))

    @on(DraftArea.Left)
    def _leave(self, event: DraftArea.Left) -> None:
        event.stop()
        if self.draft is not None:
            self.post_message(self.Left(self.draft))

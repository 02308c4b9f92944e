"""Shows a transcript to read: who said what, what is folded, what leads elsewhere, and words that are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.display.cells import cell_width
from workbench.display.ink import BLANK, Line, Span
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.widgets.painted import palette_of
from workbench.tui.widgets.transcript_pages import page_of
from workbench.tui.widgets.transcript_scroll import GUTTER, TranscriptScroll

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Conversation(TranscriptScroll):
    """A transcript, drawn. Posts `Unfolded` and `Searched`."""

    BINDINGS: ClassVar = bindings(
        commands.Unfold, commands.SearchTranscript, commands.NextFound, commands.PreviousFound
    )  # fmt: skip

    class Unfolded(Message):
        """A line is to be shown whole, or folded again."""

    class Searched(Message):
        """Words are to be looked for: others than before, or the same again, onwards or backwards.

        Args:
            anew: Ask for the words first.
            backwards: Look at what was said before.
        """

        def __init__(self, *, anew: bool = False, backwards: bool = False) -> None:
            super().__init__()
            self.anew = anew
            self.backwards = backwards

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        empty: Callable[[int], Sequence[Line]] | None = None,
    ) -> None:
        super().__init__(id=id)
        self._empty = empty
        self._entry_links: list[tuple[int, int, str]] = []

    # --- folding and links ----------------------------------------------------------------------------------

    @property
    def folds(self) -> bool:
        """Tell whether the line under the cursor can be folded or unfolded."""
        page = self._pages.get(page_of(self.number)) if self.number else None
        return page is not None and self.number in page.folding

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to unfold what is folded, where enter follows no link, and to look further for words."""
        if action == "search_transcript":
            return bool(self.total)
        if action in ("next_found", "previous_found"):
            return bool(self.total and self.words)
        if action == "unfold":
            return self.folds and not self.focused_link
        return super().check_action(action, parameters)

    def action_search_transcript(self) -> None:
        self.post_message(self.Searched(anew=True))

    def action_next_found(self) -> None:
        self.post_message(self.Searched())

    def action_previous_found(self) -> None:
        self.post_message(self.Searched(backwards=True))

    def action_unfold(self) -> None:
        self.unfolded ^= {self.number}
        self._pages.outdate(page_of(self.number))
        self.post_message(self.Unfolded())
        self._ask()

    @property
    def focused_link(self) -> str:
        """Return where the chosen link leads, empty where none is chosen."""
        return self._entry_links[self.link][2] if 0 <= self.link < len(self._entry_links) else ""

    def find_links(self) -> None:
        """Note the links in the line under the cursor: row, place in the row, and where it leads."""
        self._entry_links = []
        rows = self._pages.rows_of(self.number) if self.number else None
        if rows is None:
            return
        for row in range(*rows):
            for place, span in enumerate(self._pages.row(row)):
                known = self._entry_links and self._entry_links[-1][2] == span.link
                if span.link and not known:
                    self._entry_links.append((row - rows[0], place, span.link))
        self.link = min(self.link, len(self._entry_links) - 1)

    def _choose(self, at: int) -> None:
        if not 0 <= at < len(self._entry_links):
            self.link = -1
            self.screen.focus_next() if at >= 0 else self.screen.focus_previous()
        else:
            self.link = at
        self.refresh_bindings()
        self.refresh()

    def action_previous_link(self) -> None:
        self._choose(self.link - 1 if self.link >= 0 else len(self._entry_links) - 1)

    # --- drawing --------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        palette = palette_of(self.app)
        if not self.total:
            return palette.strip(self._empty_line(y, width), width, RAISED)
        row = y + round(self.scroll_y)
        at = self._pages.page_at(row)
        page = self._pages.get(at)
        inside = row - self._pages.start(at)
        if page is None or not 0 <= inside < len(page.rows):
            told: Line = (Span("  …", "faint"),) if page is None and y == 0 else BLANK
            return palette.strip(told, width, RAISED)
        number = page.owners[inside]
        here = number == self.number
        line = page.rows[inside]
        bar = ("▌ " if self.has_focus else "▏ ") if here and line else "  "
        chosen = self.focused_link if here and self.has_focus else ""
        drawn = [Span(bar, "strong" if self.has_focus else "faint")]
        drawn += [
            Span(span.text, "here", span.link) if chosen and span.link == chosen else span for span in line
        ]
        return palette.strip(tuple(drawn), width, RAISED)

    def _empty_line(self, y: int, width: int) -> Line:
        if self.waiting or self._empty is None:
            return BLANK
        lines = self._empty(max(10, width - 6))
        line = lines[y - 1] if 0 <= y - 1 < len(lines) else BLANK
        return (Span("   "), *line) if line else BLANK

    def on_click(self, event: events.Click) -> None:
        row = event.y + round(self.scroll_y)
        number = self._pages.owner(row)
        if not number:
            return
        left = GUTTER
        for span in self._pages.row(row):
            right = left + cell_width(span.text)
            if left <= event.x < right and span.link:
                self.post_message(self.Followed(self, span.link))
                return
            left = right
        self._set(number, align=False)
        if event.chain == 2 and self.folds:
            self.action_unfold()

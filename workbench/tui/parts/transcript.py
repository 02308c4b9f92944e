"""A transcript to read, of any length: only the pages in sight are there, the others are read when one comes to them.

How a place shows one: mount a `TranscriptPart` and call `show(session, line)`. The session is its key, its id, or the
citation of a line (`file:sessions/ID.jsonl#L12`); the line is where the cursor goes, 0 for the newest. With `until`,
all lines from `line` to it stand out, which is how evidence is shown. The part reads by itself, through the frame's
`reading`; `clear()` shows nothing. It says by `Opened` that total and memories are known, and by `PagePart.Followed`
where a link leads. `memories` and `citation` tell of the line under the cursor.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Span, ink, link_at, plain_text
from workbench.display.matching import LIT
from workbench.display.transcript import DAY, UNFOLD_ALL, Look, named_memories, page_entries
from workbench.display.words import told_in_bench
from workbench.engine.errors import InvalidInput, NotFound
from workbench.tui.palette import MARKED, PAPER, palette_of
from workbench.tui.parts.line import Labels, labelled, selectable, selected_text
from workbench.tui.parts.page import PagePart
from workbench.tui.parts.transcript_pages import PAGE, TranscriptPages, page_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from textual import events
    from textual.selection import Selection
    from textual.strip import Strip

    from workbench.display.ink import Line
    from workbench.display.transcript import Entry
    from workbench.engine.errors import WorkbenchError
    from workbench.engine.sessions.reader import TranscriptReader
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame

_GUTTER = 2
_MARGIN_RIGHT = 1
_NARROWEST = 20
# Memories that a page only names are looked up, but no more of them than this.
_MOST_NAMED = 40
_NOTHING_SAID = "Nothing was said here yet."


class TranscriptPart(ScrollView, can_focus=True):
    """A transcript with a cursor on one of its lines."""

    DEFAULT_CSS = "TranscriptPart { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    class Opened(Message):
        """A transcript was opened, or read again: how many lines it has, and what came from them, is known."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: tuple[str, str | None] | None = None
        self._reader: TranscriptReader | None = None
        self._said = ""
        self._line = 0
        self._pages = TranscriptPages()
        self._fetching = False
        self._target = 0
        self._seeks_lit = False
        self._search = 0
        self.labels: Labels = {}
        self._known_memories: Mapping[int, tuple[str, ...]] = {}
        self._look = Look(_NARROWEST)
        self.total = 0
        self.number = 0
        """The line under the cursor, 1-based; 0 where there is none."""
        self.link = ""
        """Where the link leads that the cursor is on within its line; empty where it is on none."""

    # What it shows.

    def show(
        self,
        session: str,
        line: int = 0,
        *,
        until: int = 0,
        place: str | None = None,
        agent: str = "",
        shared: bool = False,
    ) -> None:
        """Show a transcript, or read again the one that is shown.

        Args:
            session: Key, id, or the citation of a line.
            line: Where the cursor goes, 1-based; 0 for the newest line, or for where one is.
            until: Last of the lines that stand out, from `line` on; 0 for none.
            place: Where another program keeps it; None for this workspace's own.
            agent: What the agent goes by.
            shared: Whether several people speak in it.
        """
        if (session, place) != self._wanted:
            self.clear()
            self._wanted = (session, place)
        self._line = line or self._line
        marked = (line, until) if until else (0, 0)
        look = replace(self._look, agent=agent, shared=shared, marked=marked)
        if look != self._look:
            self._look = look
            self._pages.outdate()
        if self.is_mounted:
            self._open()

    def clear(self) -> None:
        """Show nothing."""
        self._wanted, self._reader, self._said, self._line = None, None, "", 0
        self._pages.clear()
        self._look = Look(self._look.width)
        self._known_memories = {}
        self._target = self.total = self.number = 0
        self.link = ""
        self.virtual_size = Size(0, 0)
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh()

    def on_mount(self) -> None:
        if self._wanted is not None:
            self._open()

    @property
    def _frame(self) -> Frame:
        return cast("Frame", self.screen)

    def _part(self, what: str) -> str:
        return f"transcript-{what}-{id(self)}"

    def _open(self) -> None:
        if self._wanted is None:
            return
        (session, place), known = self._wanted, self._reader

        def ask(workspace: Workspace) -> tuple[TranscriptReader, int, Mapping[int, tuple[str, ...]]]:
            reader = known or workspace.session_reader(session, from_=place)
            return reader, reader.total(), reader.memories()

        self._frame.reading.read(
            self._part("open"), ask, lambda found: self._opened(*found), self._not_opened
        )

    def _opened(self, reader: TranscriptReader, total: int, memories: Mapping[int, tuple[str, ...]]) -> None:
        line, self._line = self._line, 0
        if memories != self._known_memories:
            self._known_memories = memories
            self._pages.outdate()
        if self._reader is None or total < self.total:
            self._reader, self._said = reader, "" if total else _NOTHING_SAID
            self._pages.clear()
            self.number = 0
            self._grow_to(total)
            self.go_to(line or total)
        else:
            at_end, grew = self.number == self.total, total > self.total
            self._pages.outdate()
            self._grow_to(total)
            self.go_to(line or (total if grew and at_end else self._target or self.number))
        self._ask()
        self.refresh()
        self.post_message(self.Opened())

    def _not_opened(self, error: WorkbenchError) -> None:
        self._said = _NOTHING_SAID if isinstance(error, NotFound) else told_in_bench(error)
        self.refresh()
        self.post_message(self.Opened())

    def _grow_to(self, total: int) -> None:
        self.total = total
        self._pages.grow_to(total)
        self._look = replace(self._look, digits=len(str(max(1, total))))
        self.virtual_size = Size(0, self._pages.height)

    @property
    def is_open(self) -> bool:
        """Return whether it is known how many lines there are."""
        return self._reader is not None

    @property
    def memories(self) -> tuple[str, ...]:
        """Return the ids of the memories drawn from the line under the cursor."""
        return self._known_memories.get(self.number, ())

    @property
    def all_memories(self) -> tuple[str, ...]:
        """Return the ids of all memories drawn from it, in the order in which it was said."""
        return tuple(
            dict.fromkeys(
                each for line in sorted(self._known_memories) for each in self._known_memories[line]
            )
        )

    # Pages.

    def _fit(self) -> Look:
        """Return how pages are to be drawn now; those drawn for another width are out of date."""
        width = self.scrollable_content_region.width - _GUTTER - _MARGIN_RIGHT
        if width != self._look.width and width > 0:
            self._look = replace(self._look, width=max(_NARROWEST, width))
            self._pages.outdate()
        return self._look

    def _lacking(self) -> int | None:
        """Return the page to read next; None where everything in sight is there."""
        if not self.is_attached or self.scrollable_content_region.height <= 0 or not self.total:
            return None
        self._fit()
        if self._target and self._pages.lacks(page := page_of(self._target)):
            return page
        return next((page for page in self._in_sight() if self._pages.lacks(page)), None)

    def _in_sight(self) -> list[int]:
        return self._pages.in_sight(round(self.scroll_y), self.size.height)

    def _ask(self) -> None:
        """Read the page that is needed most; one at a time, so that nobody waits for what was scrolled past."""
        page, reader = self._lacking(), self._reader
        if self._fetching or page is None or reader is None:
            return
        self._fetching = True
        look, total = self._fit(), self.total

        def show(entries: tuple[Entry, ...]) -> None:
            self._fetching = False
            if reader is self._reader:
                self._arrive(page, entries, look)

        def failed(error: WorkbenchError) -> None:
            # Asked for again with the next step: a file that cannot be read now would be asked for without an end.
            self._fetching = False
            self._frame.say(told_in_bench(error), is_problem=True)

        self._frame.reading.read(
            self._part("page"),
            lambda workspace: _read_page(workspace, reader, page, total, look),
            show,
            failed,
        )

    def _arrive(self, page: int, entries: tuple[Entry, ...], look: Look) -> None:
        if look != self._fit() or not 0 <= page < len(self._pages):
            self._ask()
            return
        top = self._pages.take(page, entries, round(self.scroll_y))
        self.virtual_size = Size(0, self._pages.height)
        self._pages.drop_but(self._in_sight())
        if self._target and page == page_of(self._target):
            self._reach()
        elif top != round(self.scroll_y):
            self.scroll_to(y=max(0, top), animate=False, force=True)
        self._ask()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.total:
            self._ask()

    def watch_show_vertical_scrollbar(self) -> None:
        # A bar that only appears after one has come to a place knows nothing of it.
        self.vertical_scrollbar.position = self.scroll_y

    def on_resize(self, _event: events.Resize) -> None:
        if self.total:
            self._target = self._target or self.number
            self._ask()

    # Where one is.

    def go_to(self, number: int) -> None:
        """Put the cursor on a line, or the nearest there is, now or as soon as its page is read."""
        if not self.total:
            return
        self._target = min(max(1, number), self.total)
        if self._pages.lacks(page_of(self._target)):
            self.scroll_to(y=max(0, self._pages.place_of(self._target)), animate=False, force=True)
        else:
            self._reach()
        self._ask()

    def matches(self, step: int, told: Callable[[int, int], object]) -> None:
        """Go to a line that says what is lit, once around, however long it takes to read; see `frame.finding`."""
        reader, words, total = self._reader, self._look.words, self.total
        self._search += 1
        if reader is None or not words or not total:
            told(0, 0)
            return
        search, backwards = self._search, step < 0
        start = self.number + step

        def ask(_workspace: Workspace) -> int | None:
            def stopped() -> bool:
                return search != self._search

            found = reader.find(words, start, backwards=backwards, stopped=stopped)
            if found is None and not stopped():
                found = reader.find(words, total if backwards else 1, backwards=backwards, stopped=stopped)
            return found

        def show(found: int | None) -> None:
            if search != self._search:
                return
            if found is not None:
                self.go_to_words(found)
            told(found or 0, 0)

        self._frame.reading.read(self._part("find"), ask, show)

    def light(self, words: str) -> None:
        """Have words lit wherever they are said in sight."""
        if words != self._look.words:
            self._look = replace(self._look, words=words)
            self._pages.outdate()
            self._ask()

    def go_to_words(self, number: int) -> None:
        """Put the cursor on a line that says what is lit: it is shown whole, and its first such row is in sight."""
        page = self._pages.get(page_of(number))
        if not self._look.unfolds(number, UNFOLD_ALL) and (page is None or number in page.folding):
            self._fold(number)
        self._seeks_lit = True
        self.go_to(number)

    def _fold(self, number: int) -> None:
        self._look = replace(self._look, unfolded=self._look.unfolded ^ {number})
        self._pages.outdate(page_of(number))

    def _reach(self) -> None:
        """Put the cursor on the line that was asked for, or on the nearest one with anything to see."""
        target, self._target = self._target, 0
        found = self._pages.nearest(target)
        if found:
            self._set(found)
            if self._seeks_lit:
                self._show_lit()
            elif self._look.marked[1]:
                self._show_marked()
        self._seeks_lit = False

    def _show_lit(self) -> None:
        first, behind = self._pages.rows_of(self.number) or (0, 0)
        lit = (row for row in range(first, behind) if any(span.role == LIT for span in self._pages.row(row)))
        self._bring_in_sight(next(lit, first))

    def _show_marked(self) -> None:
        rows = self._pages.rows_of(self.number)
        if rows is not None:
            self.scroll_to(
                y=max(0, rows[0] - self.scrollable_content_region.height // 3), animate=False, force=True
            )

    def _bring_in_sight(self, row: int) -> None:
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        if not top <= row < top + height:
            self.scroll_to(y=max(0, row - height // 3), animate=False, force=True)

    def _set(self, number: int, *, align: bool = True) -> None:
        if number != self.number:
            self.number, self.link = number, ""
        if align:
            self._keep_in_sight()
        self.refresh()

    def _keep_in_sight(self) -> None:
        rows = self._pages.rows_of(self.number)
        height = self.scrollable_content_region.height
        if rows is None or height <= 0:
            return
        top = round(self.scroll_y)
        wanted = top
        if rows[0] < top:
            wanted = rows[0] if rows[1] - rows[0] <= height else max(rows[0], rows[1] - height)
        elif rows[1] > top + height:
            wanted = min(rows[0], rows[1] - height)
        if wanted != top:
            self.scroll_to(y=max(0, wanted), animate=False, force=True)

    def _step(self, by: int) -> None:
        """Go to the next line, or scroll within one that is higher than what can be seen."""
        rows = self._pages.rows_of(self.number)
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        if rows is None or rows[1] <= top or rows[0] >= top + height:
            self._set(self._first_in_sight() or self.number)
            return
        if (by > 0 and rows[1] > top + height) or (by < 0 and rows[0] < top):
            self.scroll_to(y=top + by, animate=False, force=True)
            return
        number = self.number + by
        while 1 <= number <= self.total:
            page = self._pages.get(page_of(number))
            if page is None:
                self.go_to(number)
                return
            if number in page.firsts:
                self._set(number)
                return
            number += by

    def _first_in_sight(self) -> int:
        """Return the first line that begins in sight; else the one that fills the view; 0 where nothing is there."""
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        filling = 0
        for row in range(top, top + height):
            owner = self._pages.owner(row)
            filling = filling or owner
            if owner and self._pages.owner(row - 1) != owner:
                return owner
        return filling

    def _turn(self, by: int) -> None:
        self.scroll_to(y=round(self.scroll_y) + by, animate=False, force=True)
        if found := self._first_in_sight():
            self._set(found, align=False)

    def _to_memory(self, by: int) -> bool:
        """Go to the next line that became a memory; False where there is none."""
        lines = sorted(self._known_memories)
        at = bisect_right(lines, self.number) if by > 0 else bisect_left(lines, self.number) - 1
        if 0 <= at < len(lines):
            self.go_to(lines[at])
        return bool(lines)

    # Keys.

    def do(self, command: str) -> bool:
        """Carry out a command of moving, unfolding or following; returns whether it means something here."""
        page = max(1, self.size.height - 2)
        act: Callable[[], object] | None = {
            "move-down": lambda: self._step(1),
            "move-up": lambda: self._step(-1),
            "half-down": lambda: self._turn(max(1, page // 2)),
            "half-up": lambda: self._turn(-max(1, page // 2)),
            "page-down": lambda: self._turn(page),
            "page-up": lambda: self._turn(-page),
            "first": lambda: self.go_to(1),
            "last": lambda: self.go_to(self.total),
            "next-heading": lambda: self._to_memory(1),
            "previous-heading": lambda: self._to_memory(-1),
            "left": lambda: self._walk(-1),
            "right": lambda: self._walk(1),
            "open": self._open_line,
            "closer": lambda: self._look_closer(1),
            "wider": lambda: self._look_closer(-1),
        }.get(command)
        return act is not None and bool(self.total) and act() is not False

    def _open_line(self) -> bool:
        """Follow the link under the cursor, or unfold the line."""
        if self.link:
            self.post_message(PagePart.Followed(self.link))
            return True
        page = self._pages.get(page_of(self.number)) if self.number else None
        if page is None or self.number not in page.folding:
            return False
        self._fold(self.number)
        self._target = self.number
        self._ask()
        return True

    def _look_closer(self, by: int) -> bool:
        closeness = self._look.closeness + by
        if not 0 <= closeness <= UNFOLD_ALL:
            return False
        self._look = replace(self._look, closeness=closeness, unfolded=frozenset())
        self._pages.outdate()
        self._target = self.number
        self._ask()
        return True

    def _links(self) -> list[str]:
        rows = self._pages.rows_of(self.number) if self.number else None
        spans = (span for row in range(*(rows or (0, 0))) for span in self._pages.row(row))
        return list(dict.fromkeys(span.link for span in spans if span.link))

    def _walk(self, by: int) -> bool:
        """Put the cursor on the next link of the line; False where it has none."""
        links = self._links()
        if links:
            at = links.index(self.link) + by if self.link in links else 0 if by > 0 else len(links) - 1
            self.link = links[at % len(links)]
            self.refresh()
        return bool(links)

    # Drawing.

    def render_line(self, y: int) -> Strip:
        width, palette = self.scrollable_content_region.width, palette_of(self.app)
        if not self.total:
            return palette.strip(self._empty_line(y, width), width, PAPER)
        row = y + round(self.scroll_y)
        number, line = self._pages.owner(row), self._pages.row(row)
        if not number:
            is_coming = y == 0 and self._pages.get(self._pages.page_at(row)) is None
            return palette.strip((Span("  …", "faint"),) if is_coming else BLANK, width, PAPER)
        here = number == self.number and bool(line) and line[0].text != DAY
        marked = self._look.marked[0] <= number <= self._look.marked[1]
        bar = "▌ " if here and (self.has_focus or marked) else "▏ " if here or (marked and line) else "  "
        role = "decide" if marked else "strong" if self.has_focus else "faint"
        drawn = [Span(bar, role)]
        for span in line:
            chosen = span.link and span.link == self.link and number == self.number and self.has_focus
            drawn.append(Span(span.text, "decide.strong+link", span.link) if chosen else span)
        strip = palette.strip(tuple(drawn), width, PAPER)
        strip = selectable(strip, row, self.text_selection, palette.style("text", MARKED))
        return labelled(strip, self.labels, y, palette)

    def spots(self) -> list[tuple[int, int, str]]:
        """Return the lines that begin in sight; see `parts.jump`."""
        top = round(self.scroll_y)
        rows = range(top, top + self.scrollable_content_region.height)
        owners = [(row - top, self._pages.owner(row), self._pages.owner(row - 1)) for row in rows]
        return [(0, y, str(owner)) for y, owner, before in owners if owner and owner != before]

    def jump_to(self, target: str) -> None:
        """Put the cursor on a line."""
        self._set(int(target))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected by mouse, as far as it has been read."""
        text = selected_text(
            selection, self._pages.height, lambda row: plain_text(self._pages.row(row)), _GUTTER
        )
        return text, "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - all rows are asked again
        """Draw the selection."""
        self.refresh()

    def _empty_line(self, y: int, width: int) -> Line:
        said = self._said
        lines = wrap(said, max(1, width - 2 * _GUTTER)) if said else []
        return (Span(" " * _GUTTER), ink(lines[y - 1], "soft")) if 0 < y <= len(lines) else BLANK

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None:
            return
        row = event.y + round(self.scroll_y)
        number = self._pages.owner(row)
        if not number:
            return
        if link := link_at(self._pages.row(row), event.x - _GUTTER):
            self.post_message(PagePart.Followed(link))
            return
        self._set(number, align=False)
        if event.chain == 2:
            self._open_line()


def _read_page(
    workspace: Workspace, reader: TranscriptReader, number: int, total: int, look: Look
) -> tuple[Entry, ...]:
    """Read a page and draw it; called on a thread."""
    first = number * PAGE + 1
    begin = max(1, first - 1)
    page = reader.page(begin, PAGE + first - begin)
    drawn = [each for ids in page.memories.values() for each in ids]
    named = dict.fromkeys(each for line in page.lines for each in named_memories(line.text))
    names = titles_of(workspace, dict.fromkeys((*drawn, *list(named)[:_MOST_NAMED])))
    return page_entries(page, first, min(total, first + PAGE - 1), names, look, workspace.now())


def titles_of(workspace: Workspace, ids: Iterable[str]) -> dict[str, str]:
    """Return the words of memories; those that are no more are left out, and files, which have none of their own."""
    titles: dict[str, str] = {}
    for each in (each for each in ids if not each.startswith("file:")):
        try:
            titles[each] = workspace.title(each)
        except (NotFound, InvalidInput):
            continue
    return titles

"""Reads sessions and the transcript of the one under the cursor, as far as it is in sight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.message import Message

from workbench.engine.errors import NotFound, WorkbenchError
from workbench.tui.navigation import is_cited_line
from workbench.tui.palette import RAISED
from workbench.tui.panes import base
from workbench.tui.query import Query, parse_query
from workbench.tui.trail import Place
from workbench.tui.views.sessions import (
    FIELDS,
    Listed,
    SessionRows,
    head_lines,
    own_title,
    place_title,
    session_matches,
)
from workbench.tui.views.teaching import teach
from workbench.tui.views.transcript import page_entries
from workbench.tui.widgets.conversation import Conversation
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.transcript_pages import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult

    from workbench.engine.results import FlushCheck
    from workbench.tui.bench import Bench
    from workbench.tui.bench.sessions import TranscriptCalls
    from workbench.tui.ink import Line
    from workbench.tui.overlays import Overlays
    from workbench.tui.views.transcript import Entry

_EMPTY = teach(
    "No session was kept yet.",
    "A session is what was said with an agent, line by line. Each shows how full its context is, what was saved of it "
    "to memory, and leads from every such line to the memory and back. Sessions of OpenClaw, Moltbot and Clawdbot on "
    "this machine appear as well; they are only read.",
    ('workbench sessions append main "Hello"', "begins one."),
    ("l", "looks at the sessions of another folder, database or transcript."),
)
_NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur in the name, the key or the label; kind:, agent:, channel:, is: (due, ended, shared, "
    "compacted, foreign), after: and before: narrow further, a minus turns a condition round.",
    ("kind:group is:due", "for example."),
    ("esc", "shows everything again."),
)
_NOTHING_SAID = teach(
    "Nothing was said here.",
    "This session has no transcript: none was written, or it is not where the store says.",
)
# A longer transcript is not read whole to estimate its tokens.
_ESTIMATED_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Section:
    """The sessions of one place.

    Args:
        title: Heading.
        listed: The sessions, the latest first.
    """

    title: str
    listed: tuple[Listed, ...]


class SessionsReading(base.Pane):
    """The list of sessions, and the transcript of one."""

    title: ClassVar = "Sessions"

    class Read(Message):
        """The sessions of one place were read, or of none more."""

        def __init__(
            self, reading: int, place: str | None, section: Section | None, *, last: bool = False
        ) -> None:
            super().__init__()
            self.reading = reading
            self.place = place
            self.section = section
            self.last = last

    class Opened(Message):
        """A transcript was opened."""

        def __init__(self, subject: str, reader: TranscriptCalls | None, total: int) -> None:
            super().__init__()
            self.subject = subject
            self.reader = reader
            self.total = total

    class Counted(Message):
        """How full a session is was estimated."""

        def __init__(self, subject: str, check: FlushCheck) -> None:
            super().__init__()
            self.subject = subject
            self.check = check

    class PageRead(Message):
        """A page of the transcript was read and drawn."""

        def __init__(
            self,
            reader: TranscriptCalls,
            page: int,
            width: int,
            entries: tuple[Entry, ...],
            drawn: dict[int, tuple[str, ...]],
        ) -> None:
            super().__init__()
            self.reader = reader
            self.page = page
            self.width = width
            self.entries = entries
            self.drawn = drawn

    class NotRead(Message):
        """A page could not be read."""

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._reading = 0
        self._sections: dict[str | None, Section] = {}
        self._arriving: dict[str | None, Section] = {}
        self._given: list[str] = []
        self._query = Query()
        self._rows = SessionRows((), bench.now())
        self.subject = ""
        self.reader: TranscriptCalls | None = None
        self._line = 0
        self._going_in = False
        self._fetching = False
        self._check: FlushCheck | None = None
        self._drawn: dict[int, tuple[str, ...]] = {}

    def compose_detail(self) -> ComposeResult:
        yield Lines(id="sessions-head", ground=RAISED)
        yield Conversation(id="sessions-conversation", empty=self._teach_transcript)

    @property
    def conversation(self) -> Conversation:
        """Return the transcript."""
        return self.query_one(Conversation)

    def teach(self, width: int) -> Sequence[Line]:
        return (_NOTHING_MATCHES if any(self.all_listed()) else _EMPTY)(width)

    def _teach_transcript(self, width: int) -> Sequence[Line]:
        return _NOTHING_SAID(width) if self.subject else ()

    # --- the list -------------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._reading += 1
        self._arriving = {}
        self._read(self._reading, tuple(self._given))

    @work(thread=True, exclusive=True, group="load")
    def _read(self, reading: int, given: tuple[str, ...]) -> None:
        found: tuple[str, ...] = ()
        try:
            found = tuple(each.place for each in self.bench.session_places())
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
        for place in (None, *dict.fromkeys((*given, *found))):
            try:
                sessions = self.bench.sessions(place)
            except WorkbenchError as error:
                self.post_message(self.Done(None, error))
                continue
            listed = tuple(Listed(row, place) for row in sessions.sessions)
            title = (
                own_title(len(listed))
                if place is None
                else place_title(_from_home(place), sessions.source, len(listed))
            )
            self.post_message(self.Read(reading, place, Section(title, listed)))
        self.post_message(self.Read(reading, None, None, last=True))

    @on(Read)
    def _arrived(self, event: Read) -> None:
        event.stop()
        if event.reading != self._reading:
            return
        if event.section is not None:
            self._arriving[event.place] = event.section
        first = event.reading == 1
        if first or event.last:
            # What is shown stays until all places are read again; the first time they come one by one.
            self._sections = dict(self._arriving)
            self._show_rows()
        if event.last:
            self.list.waiting = False
            self.list.refresh()
            self.has_read()
            if self.subject:
                self._open(self.subject)

    def _show_rows(self) -> None:
        sections = [
            (each.title, [one for one in each.listed if session_matches(self._query, one)])
            for each in self._sections.values()
        ]
        self._rows = SessionRows([each for each in sections if each[1]], self.bench.now())
        waiting = self.list.waiting
        self.list.show(self._rows)
        self.list.waiting = waiting and not len(self._rows)
        shown = sum(len(each) for _, each in sections)
        self.filter_bar.set_count(shown, sum(1 for _ in self.all_listed()))
        if self.wanted_key:
            self.go_to(self.wanted_key, self.filter_bar.text)
        elif not self.subject:
            self.show_detail(self.list.cursor_key)
        self._draw_head()

    def all_listed(self) -> Iterator[Listed]:
        """Yield every session that was read."""
        for section in self._sections.values():
            yield from section.listed

    def apply_filter(self, text: str) -> None:
        self._query = parse_query(text, FIELDS, self.bench.now().date())
        self._show_rows()

    def look_at(self, place: str) -> None:
        """List the sessions of another place as well."""
        if place not in self._given:
            self._given.append(place)
        self.reload()

    def session_here(self) -> Listed | None:
        """Return the session one is at, the one that is read before the one under the cursor."""
        return self._session_of(self.subject) or self._rows.listed(self.list.cursor_key)

    def _session_of(self, key: str) -> Listed | None:
        return next((each for each in self.all_listed() if each.key == key), None)

    # --- places ---------------------------------------------------------------------------------------------

    @property
    def citation(self) -> str:
        """Return the id by which memories name the line one is at; empty where one is at none."""
        number = self.conversation.number
        return f"file:{self.reader.name}#L{number}" if self.reader is not None and number else ""

    @property
    def drawn_here(self) -> tuple[str, ...]:
        """Return the ids of the memories that were drawn from the line one is at."""
        return self._drawn.get(self.conversation.number, ())

    def place(self) -> Place:
        if self.conversation.has_focus and self.citation:
            return Place(self.id or "", self.citation, self.filter_bar.text)
        return super().place()

    def resolve(self, key: str) -> str:
        """Return the row that a key means: of a cited line the session that it was said in."""
        if not is_cited_line(key):
            return key
        stem = key.removeprefix("file:sessions/").partition("#")[0].removesuffix(".jsonl")
        return next(
            (each.key for each in self.all_listed() if stem in (each.row.session_id, _stem(each))), ""
        )

    def go_to(self, key: str, filter_text: str = "") -> None:
        if not is_cited_line(key):
            super().go_to(key, filter_text)
            return
        if self.filter_bar.text != filter_text:
            self.filter_bar.set_text(filter_text)
            self.apply_filter(filter_text)
        digits = key.rpartition("#L")[2].partition("-")[0]
        self._line = int(digits) if digits.isascii() and digits.isdecimal() else 0
        if not self._sections:
            self.wanted_key = key
            return
        self.wanted_key = ""
        self._going_in = True
        row = self.resolve(key)
        if row and row == self.subject and self.reader is not None:
            self.list.go_to(row)
            self.conversation.go_to(self._take_line())
        elif not row or not self.list.go_to(row) or row != self.subject:
            # A transcript that no session uses any more has no row, but it can be read.
            self._open(row or key)
        self.go_in(row)

    def focus_list(self) -> None:
        """Let keys move the list, unless one came here to read a line."""
        if self._going_in:
            self._going_in = False
            return
        super().focus_list()

    def _take_line(self) -> int:
        line, self._line = self._line, 0
        return line

    def go_in(self, key: str) -> None:
        del key
        self.add_class("-reading")
        self.call_after_refresh(self.conversation.focus)

    # --- the transcript -------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        if self._asking is not None:
            self._asking.stop()
        if key == self.subject:
            self._draw_head()
        elif key:
            self._asking = self.set_timer(base.REST / 2, partial(self._open, key))

    def _open(self, subject: str) -> None:
        listed = self._session_of(subject)
        if subject != self.subject:
            self.subject, self.reader, self._check = subject, None, None
            self._drawn = {}
            self.conversation.open(0, 0)
            self.conversation.waiting = True
        self._draw_head()
        self._open_transcript(subject, listed)

    @work(thread=True, exclusive=True, group="open")
    def _open_transcript(self, subject: str, listed: Listed | None) -> None:
        key, place = (listed.row.key, listed.place) if listed is not None else (subject, None)
        try:
            reader = self.bench.transcript(key, place)
            self.post_message(self.Opened(subject, reader, reader.total()))
            if (
                listed is not None
                and listed.row.flush.tokens is None
                and 0 < listed.row.size_bytes < _ESTIMATED_BYTES
            ):
                self.post_message(self.Counted(subject, self.bench.fullness(key, place)))
        except NotFound:
            self.post_message(self.Opened(subject, None, 0))
        except WorkbenchError as error:
            self.post_message(self.Opened(subject, None, 0))
            self.post_message(self.Done(None, error))

    @on(Opened)
    def _opened(self, event: Opened) -> None:
        event.stop()
        if event.subject != self.subject:
            return
        known, self.reader = self.reader, event.reader
        line = self._take_line()
        self._fetching = False
        if known is None or event.reader is None:
            # What was said last is what one comes for.
            self.conversation.open(event.total, line or event.total)
            self.conversation.waiting = False
        else:
            self.conversation.renew(event.total)
            if line:
                self.conversation.go_to(line)
        self._draw_head()
        self.refresh_bindings()
        if event.reader is None and is_cited_line(event.subject):
            # The recall may know a transcript in a folder of its own: what it says is read by itself then.
            self.subject = ""
            cast("Overlays", self.app).show_memory(event.subject)

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        event.stop()
        if event.subject == self.subject:
            self._check = event.check
            self._draw_head()

    def _draw_head(self) -> None:
        listed = self._session_of(self.subject)
        head = self.query_one("#sessions-head", Lines)
        total = self.conversation.total if self.reader is not None else None
        if listed is None:
            head.show(lambda _width: ())
            return
        check, now = self._check, self.bench.now()
        head.show(lambda width: [*head_lines(listed, check, total, now, width), ()])

    @on(Conversation.Wanted)
    def _wanted(self, event: Conversation.Wanted) -> None:
        event.stop()
        self._fetch()

    def _fetch(self) -> None:
        """Read the page that is needed most; one at a time, so that nobody waits for what was scrolled past."""
        page = self.conversation.most_wanted()
        if self._fetching or page is None or self.reader is None:
            return
        self._fetching = True
        conversation = self.conversation
        self._read_page(self.reader, page, conversation.total, conversation.text_width, conversation.unfolded)

    @work(thread=True, group="page")
    def _read_page(
        self, reader: TranscriptCalls, number: int, total: int, width: int, unfolded: frozenset[int]
    ) -> None:
        first = number * PAGE + 1
        try:
            page = reader.page(first, PAGE)
            named = {each for ids in page.memories.values() for each in ids}
            names = self.bench.names_of(sorted(named)) if named else {}
        except WorkbenchError as error:
            self.post_message(self.NotRead())
            self.post_message(self.Done(None, error))
            return
        last = min(total, first + PAGE - 1)
        entries = page_entries(page, last, names, unfolded, self.bench.now(), width)
        self.post_message(self.PageRead(reader, number, width, entries, dict(page.memories)))

    @on(PageRead)
    def _page_read(self, event: PageRead) -> None:
        event.stop()
        if event.reader is not self.reader:
            return
        self._fetching = False
        self._drawn.update(event.drawn)
        self.conversation.arrive(event.page, event.entries, event.width)
        self._fetch()

    @on(NotRead)
    def _not_read(self, event: NotRead) -> None:
        # Asked for again with the next step: a file that cannot be read now would be asked for without an end.
        event.stop()
        self._fetching = False

    @on(Conversation.At)
    def _at(self, event: Conversation.At) -> None:
        event.stop()
        self.refresh_bindings()
        self.post_message(self.Settled())


def _from_home(place: str) -> str:
    """Return a path as people write it: from the user’s own folder where it is inside."""
    path = Path(place)
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else place


def _stem(listed: Listed) -> str:
    return (listed.row.transcript or "").replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")

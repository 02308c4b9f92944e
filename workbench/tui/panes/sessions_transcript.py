"""Reads the transcript of one session, as far as it is in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.message import Message

from workbench.engine.errors import NotFound, WorkbenchError
from workbench.tui.navigation import is_cited_line
from workbench.tui.palette import RAISED
from workbench.tui.panes import base
from workbench.tui.views.sessions import head_lines
from workbench.tui.views.teaching import teach
from workbench.tui.views.transcript import page_entries
from workbench.tui.widgets.conversation import Conversation
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.transcript_pages import PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.display.transcript import Entry
    from workbench.engine.results.sessions import FlushCheck
    from workbench.tui.bench import Bench
    from workbench.tui.bench.sessions import TranscriptCalls
    from workbench.tui.overlays import Overlays
    from workbench.tui.views.sessions import Listed
    from workbench.tui.views.transcript import Look

_NOTHING_SAID = teach(
    "Nothing was said here.",
    "This session has no transcript: none was written, or it is not where the store says.",
)
# A longer transcript is not read whole to estimate its tokens.
_ESTIMATED_BYTES = 8 * 1024 * 1024


class SessionsTranscript(base.Pane):
    """The transcript of one session: the subject."""

    title: ClassVar = "Sessions"

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
            look: Look,
            entries: tuple[Entry, ...],
            drawn: dict[int, tuple[str, ...]],
        ) -> None:
            super().__init__()
            self.reader = reader
            self.page = page
            self.look = look
            self.entries = entries
            self.drawn = drawn

    class NotRead(Message):
        """A page could not be read."""

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.subject = ""
        self.reader: TranscriptCalls | None = None
        self._line = 0
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

    def session_of(self, key: str) -> Listed | None:
        """Return the session of a row; None where no row has that key."""
        raise NotImplementedError

    def _teach_transcript(self, width: int) -> Sequence[Line]:
        return _NOTHING_SAID(width) if self.subject else ()

    # --- where one is ---------------------------------------------------------------------------------------

    @property
    def citation(self) -> str:
        """Return the id by which memories name the line one is at; empty where one is at none."""
        number = self.conversation.number
        return f"file:{self.reader.name}#L{number}" if self.reader is not None and number else ""

    @property
    def drawn_here(self) -> tuple[str, ...]:
        """Return the ids of the memories that were drawn from the line one is at."""
        return self._drawn.get(self.conversation.number, ())

    @on(Conversation.At)
    def _at(self, event: Conversation.At) -> None:
        event.stop()
        self.refresh_bindings()
        self.post_message(self.Settled())

    @on(Conversation.Unfolded)
    def _unfolded(self, event: Conversation.Unfolded) -> None:
        event.stop()
        self.refresh_bindings()

    # --- opening --------------------------------------------------------------------------------------------

    def open_subject(self, subject: str, line: int = 0) -> None:
        """Show a transcript, or read again the one that is shown.

        Args:
            subject: Key of a row, or the citation of a line where no row has it.
            line: To go to; 0 for the newest, or for the one where one is.
        """
        if subject == self.subject:
            self._line = line or self._line
        else:
            self.subject, self.reader, self._check = subject, None, None
            self._line = line
            self._drawn = {}
            self.conversation.open(0, 0)
            self.conversation.waiting = True
        self.draw_head()
        self._open_transcript(subject, self.session_of(subject))

    def go_to_line(self, subject: str, line: int) -> None:
        """Show a line of a transcript, which is opened first where another one is shown."""
        if subject == self.subject and self.reader is not None:
            self.conversation.go_to(line)
        else:
            self.open_subject(subject, line)

    def _take_line(self) -> int:
        line, self._line = self._line, 0
        return line

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
        self.draw_head()
        self.refresh_bindings()
        if event.reader is None and is_cited_line(event.subject):
            # The recall may know a transcript in a folder of its own: what it says is read by itself then.
            self.subject = ""
            self.show_detail(self.list.cursor_key)
            cast("Overlays", self.app).show_memory(event.subject)

    @property
    def is_looking_for_line(self) -> bool:
        """Tell whether a cited line is still looked for that is of no session in the list."""
        return self.reader is None and is_cited_line(self.subject)

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        event.stop()
        if event.subject == self.subject:
            self._check = event.check
            self.draw_head()

    def draw_head(self) -> None:
        """Draw what there is to say of the session, below what is under way."""
        self.query_one("#sessions-head", Lines).show(self._head)

    def _head(self, width: int) -> list[Line]:
        listed = self.session_of(self.subject)
        if listed is None:
            return self.under_way(width)
        total = self.conversation.total if self.reader is not None else None
        told = head_lines(listed, self._check, total, self.bench.now(), width)
        return [*self.under_way(width), *told, ()]

    def under_way(self, width: int) -> list[Line]:
        """Draw what is done to a session at this moment."""
        del width
        return []

    # --- pages ----------------------------------------------------------------------------------------------

    @on(Conversation.Wanted)
    def _wanted(self, event: Conversation.Wanted) -> None:
        event.stop()
        self._fetch()

    def _fetch(self) -> None:
        """Read the page that is needed most; one at a time, so that nobody waits for what was scrolled past."""
        conversation = self.conversation
        page = conversation.most_wanted()
        if self._fetching or page is None or self.reader is None:
            return
        self._fetching = True
        self._read_page(self.reader, page, conversation.total, conversation.look)

    @work(thread=True, group="page")
    def _read_page(self, reader: TranscriptCalls, number: int, total: int, look: Look) -> None:
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
        entries = page_entries(page, last, names, look, self.bench.now())
        self.post_message(self.PageRead(reader, number, look, entries, dict(page.memories)))

    @on(PageRead)
    def _page_read(self, event: PageRead) -> None:
        event.stop()
        if event.reader is not self.reader:
            return
        self._fetching = False
        self._drawn.update(event.drawn)
        self.conversation.arrive(event.page, event.entries, event.look)
        self._fetch()

    @on(NotRead)
    def _not_read(self, event: NotRead) -> None:
        # Asked for again with the next step: a file that cannot be read now would be asked for without an end.
        event.stop()
        self._fetching = False

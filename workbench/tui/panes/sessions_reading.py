"""Reads which sessions there are, here and with other programs, and finds the one that a link means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui.navigation import cited_number, is_cited_line
from workbench.tui.panes import base
from workbench.tui.panes.sessions_finding import SessionsFinding
from workbench.tui.query import Query, parse_query
from workbench.tui.trail import Place
from workbench.tui.views.sessions import (
    FIELDS,
    Listed,
    SessionRows,
    own_title,
    place_title,
    session_matches,
)
from workbench.tui.views.teaching import teach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench

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


@dataclass(frozen=True)
class Section:
    """The sessions of one place.

    Args:
        title: Heading.
        listed: The sessions, the latest first.
    """

    title: str
    listed: tuple[Listed, ...]


class SessionsReading(SessionsFinding):
    """The list of sessions, beside the transcript of one."""

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

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._reading = 0
        self._sections: dict[str | None, Section] = {}
        self._arriving: dict[str | None, Section] = {}
        self._given: list[str] = []
        self._query = Query()
        self._rows = SessionRows((), bench.now())
        self._going_in = False

    def teach(self, width: int) -> Sequence[Line]:
        return (_NOTHING_MATCHES if any(self.all_listed()) else _EMPTY)(width)

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
                self.open_subject(self.subject)

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
        self.draw_head()

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
        """Return the session one is at: in the list the one under the cursor, else the one that is read."""
        here = self._rows.listed(self.list.cursor_key)
        return (here if self.list.has_focus else None) or self.session_of(self.subject) or here

    def session_of(self, key: str) -> Listed | None:
        return next((each for each in self.all_listed() if each.key == key), None)

    # --- places ---------------------------------------------------------------------------------------------

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
        if not self._sections:
            self.wanted_key = key
            return
        self.wanted_key = ""
        self._going_in = True
        row = self.resolve(key)
        if row:
            self.list.go_to(row)
        # A transcript that no session uses any more has no row, but it can be read.
        self.go_to_line(row or key, cited_number(key))
        self.go_in(row)

    def focus_list(self) -> None:
        """Let keys move the list, unless one came here to read a line."""
        if self._going_in:
            self._going_in = False
            return
        super().focus_list()

    def go_in(self, key: str) -> None:
        del key
        self.add_class("-reading")
        self.focus_once_laid_out(self.conversation)

    def show_detail(self, key: str) -> None:
        if self._asking is not None:
            self._asking.stop()
        if key == self.subject:
            self.draw_head()
        elif key and not self.is_looking_for_line:
            self._asking = self.set_timer(base.REST / 2, partial(self.open_subject, key))


def _from_home(place: str) -> str:
    """Return a path as people write it: from the user’s own folder where it is inside."""
    path = Path(place)
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else place


def _stem(listed: Listed) -> str:
    return (listed.row.transcript or "").replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")

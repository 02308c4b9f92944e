"""Sessions: what was said, how full each is, and which memories came from which line.

A key compacts one, saves what matters of it, starts it over, or repairs it.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Vertical

from workbench.display.ink import gap, ink, spread
from workbench.display.sessions import Listed, head_lines, session_card, session_row
from workbench.display.words import counted, quoted, told_in_bench
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.identifiers import cited_lines
from workbench.engine.values import dataclass
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.page import PagePart
from workbench.tui.parts.rows import Rows
from workbench.tui.parts.transcript import TranscriptPart, titles_of
from workbench.tui.places.place import Place
from workbench.tui.verbs.act import OTHER_VERBS, Act

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.widget import Widget

    from workbench.display.card import Card
    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.results.sessions import FlushCheck, Flushed
    from workbench.engine.steps import Progress
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.rewording import Writing

_CITED = "file:sessions/"
# A longer transcript is not read whole to estimate its tokens.
_ESTIMATED_BYTES = 8 * 1024 * 1024
_MOST_TITLES = 12
_COMPACTION = "The compaction"
_IN_ITS_PLACE = ("core:", "episode:", "entity:")
ONE = "One session at a time; esc unmarks."
_ELSEWHERE = "It is kept by another program and stays as it is; m c works on a copy."
_COPIED = " A copy of it was made first."


@dataclass(frozen=True)
class Section:
    """The sessions of one place.

    Args:
        place: Where another program keeps them; None for this workspace's own.
        listed: The sessions, the latest first.
    """

    place: str | None
    listed: tuple[Listed, ...]


@dataclass(frozen=True)
class Read:
    """All sessions that were found.

    Args:
        sections: This workspace's own first.
        problems: What could not be read, a sentence each.
    """

    sections: tuple[Section, ...]
    problems: tuple[str, ...]
    now: datetime

    @property
    def count(self) -> int:
        """Return how many sessions there are."""
        return sum(len(each.listed) for each in self.sections)


class SessionsPlace(Place):
    """The sessions of this workspace and of other programs on this machine, and the transcript of one."""

    EMPTY: ClassVar[str] = "There is no session yet; those of other agents on this machine appear here too."
    KEYS: ClassVar[tuple[str, ...]] = ("find", "filter", "evidence", "prefix-more")
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("kind", "agent", "channel", "is")
    SCOPED_CSS = False
    DEFAULT_CSS = """
    SessionsPlace .sessions-said:focus-within { border-left: solid $accent; }
    Frame.-below SessionsPlace .sessions-said:focus-within { border-left: none; border-top: solid $accent; }
    SessionsPlace .sessions-head { height: auto; }
    SessionsPlace TranscriptPart { height: 1fr; }
    SessionsPlace .sessions-source { display: none; width: 1fr; height: 1fr; border-left: solid $rule; }
    Frame.-evidence SessionsPlace .sessions-source { display: block; }
    Frame.-evidence SessionsPlace .sessions-said { display: none; }
    SessionsPlace.-visiting .place-evidence { display: block; }
    SessionsPlace.-visiting .sessions-said { display: none; }
    Frame.-single.-reading SessionsPlace.-visiting .sessions-said { display: none; }
    Frame.-wide SessionsPlace.-visiting .sessions-said { display: block; }
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.transcript = TranscriptPart()
        self._said_head = DrawnLines(ground="paper")
        self._checks: dict[str, FlushCheck] = {}
        self._shown: Listed | None = None
        self._line = 0
        self._given: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        self.head.add_class("place-head")
        self.list.add_class("place-list")
        self.card.add_class("place-evidence")
        self._said_head.add_class("sessions-head")
        self.evidence.add_class("sessions-source")
        with self.list_side:
            yield self.head
            yield self.filter_line
            yield self.list
        with Vertical(classes="place-card sessions-said"):
            yield self._said_head
            yield self.transcript
        yield self.card
        yield self.evidence

    @property
    def parts(self) -> tuple[Widget, ...]:
        return (self.list, self.transcript, self.card, self.evidence)

    # What is read.

    def read(self, workspace: Workspace) -> Read:
        sections: list[Section] = []
        problems: list[str] = []
        places: list[str | None] = [None, *self._given]
        try:
            places += [each.place for each in workspace.session_places()]
        except WorkbenchError as error:
            problems.append(told_in_bench(error))
        for place in dict.fromkeys(places):
            try:
                found = workspace.sessions(from_=place)
            except WorkbenchError as error:
                problems.append(told_in_bench(error))
                continue
            sections.append(Section(place, tuple(Listed(row, place) for row in found.sessions)))
            problems += [each.message for each in found.problems]
        return Read(tuple(sections), tuple(problems), workspace.now())

    def rows(self, results: Read) -> Rows[str, Listed]:
        """Return sessions, under the place where they are kept if there are several."""
        rows: Rows[str, Listed] = Rows(lambda row, width: session_row(row, results.now, width))
        sections = [each for each in results.sections if each.listed]
        for section in sections:
            if len(sections) > 1 or section.place:
                rows.add_heading(_title(section.place))
            rows.add_all(section.listed, [each.key for each in section.listed])
        return rows

    def empty(self) -> list[Line]:
        if not self.filter.text:
            return super().empty()
        said = (
            "No session is called so. ⸨find⸩ looks in the one that is read, ⸨ask⸩ in all that is remembered."
        )
        return [(ink(said, "soft"),), (ink("⸨filter⸩, then esc drops the filter.", "faint"),)]

    def heading(self, results: Read, width: int) -> Line:
        count = results.count
        said = counted(count, "session")
        problems = (ink("not all can be read", "danger"),) if results.problems else ()
        return spread((ink(said, "soft"),), problems, width)

    def show(self, results: Read) -> None:
        known = self.results.problems if self.results is not None else ()
        super().show(results)
        if results.problems and results.problems != known:
            self.frame.say(results.problems[0], is_problem=True)

    def filterable(self, listed: Listed) -> Filterable:
        row = listed.row
        states = ["foreign" if listed.place else "own", "fresh" if row.fresh else "ended"]
        states += ["due"] * row.flush.due + ["shared"] * row.shared
        states += ["compacted"] * bool(row.flush.compactions)
        fields = {"kind": (row.kind,), "agent": (row.agent,), "channel": (row.channel,), "is": tuple(states)}
        text = f"{listed.name} {row.key} {row.session_id} {row.model} {listed.place or ''}"
        return Filterable(text, fields, row.updated.date() if row.updated is not None else None)

    def subject(self, key: str) -> Session | None:
        listed: Listed | None = self.row(key)
        return None if listed is None else Session(listed.key, listed.name, listed.row.key, listed.place)

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        listed: Listed | None = self.row(subject.id)
        if not isinstance(subject, Session) or listed is None:
            return super().read_card(workspace, subject)
        check = self._check(workspace, listed)
        memories = tuple(dict.fromkeys(chain.from_iterable(_memories(workspace, listed).values())))
        titles = titles_of(workspace, memories[:_MOST_TITLES])
        return session_card(listed, check, memories, titles, workspace.now())

    def _check(self, workspace: Workspace, listed: Listed) -> FlushCheck:
        """Return how full a session is, estimated where its program did not count; kept for what is drawn above it."""
        check = listed.row.flush
        if check.tokens is None and 0 < listed.row.size_bytes < _ESTIMATED_BYTES:
            check = workspace.session_flush_check(listed.row.key, from_=listed.place)
            self._checks[listed.key] = check
            self.app.call_later(self._draw_head)
        return check

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        return None if isinstance(subject, Session) else super().read_evidence(workspace, subject)

    def writing(self, workspace: Workspace, subject: Subject) -> Writing | str:
        if isinstance(subject, Session):
            return "A transcript is evidence and stays as it was."
        return super().writing(workspace, subject)

    # What is shown.

    def rest_on(self, subject: Subject | None) -> None:
        self.set_class(bool(self.visited), "-visiting")
        if self.visited:
            return
        listed: Listed | None = self.row(subject.id) if subject is not None else None
        self._shown = listed
        if listed is None:
            self.transcript.clear()
        else:
            line, self._line = self._line, 0
            self.transcript.show(
                listed.row.key, line, place=listed.place, agent=listed.agent, shared=listed.row.shared
            )
        self._draw_head()

    @on(TranscriptPart.Opened)
    def _draw_head(self) -> None:
        listed, results = self._shown, self.results
        if listed is None or results is None:
            self._said_head.show(lambda _width: ())
            return
        transcript, short = self.transcript, self.screen.has_class("-below")
        total = transcript.total if transcript.is_open else None
        came = len(transcript.all_memories)
        check = self._checks.get(listed.key, listed.row.flush)

        def draw(width: int) -> list[Line]:
            lines = head_lines(listed, check, total, came, width - 2, short=short)
            return [(gap(1), *line) if line else line for line in lines]

        self._said_head.show(draw)

    def on_resize(self) -> None:
        self._draw_head()

    def reveal(self, key: str) -> bool:
        """Put the cursor on a session: by row, by what the engine knows it by, or by the citation of a line of it."""
        if super().reveal(key):
            return True
        cited = cited_lines(key.removeprefix("file:")) if key.startswith(_CITED) else None
        stem = key.removeprefix(_CITED).partition("#")[0].removesuffix(".jsonl")
        for section in self.results.sections if self.results is not None else ():
            for each in section.listed:
                if stem in (each.row.session_id, each.row.key, Path(each.row.transcript or "").stem):
                    self._line = cited[1] if cited is not None else 0
                    return super().reveal(each.key)
        return False

    def _go_to_line(self, citation: str) -> None:
        """Show a line of a transcript, of another session too."""
        self.visited.clear()
        if self.reveal(citation):
            self.rest_on(self.current)
            self._read_on()
        else:
            self.frame.looking.follow(citation)

    def _read_on(self) -> None:
        self.frame.add_class("-reading")
        self.frame.set_focus(self.transcript)

    # Keys.

    def do(self, command: str) -> bool:
        is_reading = self.transcript.has_focus
        if command == "open" and self._shown is not None and not self.visited:
            self._read_on()
        elif command == "out" and is_reading:
            self.frame.remove_class("-reading")
            self.frame.focus_place()
        elif command == "out" and self.frame.working.stop(_COMPACTION):
            pass
        elif command == "compact" and self._shown is not None and not self.visited:
            self._compact()
        elif (
            command in ("next-heading", "previous-heading")
            and is_reading
            and not self.transcript.all_memories
        ):
            self.frame.say("No memory came from this session.")
        elif command == "evidence" and not self.visited:
            self._open_memory()
        elif command == "other-sessions":
            self.frame.editing.ask("Sessions of which place?", "~/", take=self._look_at)
        else:
            return False
        return True

    def _compact(self) -> None:
        """Compact the session under the cursor, once that is answered with yes."""
        frame, app = self.frame, self.app
        sessions = [each for each in self.subjects if isinstance(each, Session)]
        if len(sessions) != 1:
            frame.say(ONE)
            return
        if frame.working.is_running:
            frame.say(frame.working.busy)
            return
        (session,) = sessions
        what = f"a copy of {quoted(session.title)}" if session.place else quoted(session.title)
        work = partial(compact, session, frame.working.workspace)

        def begin(_: Workspace) -> str:
            app.call_later(frame.working.begin, _COMPACTION, work, "the session is as it was")
            return f"Compacting {what}; everything else works meanwhile, and esc here stops it."

        frame.begin(Act(begin, f"Compact {what}? Undo cannot help.", "compact"))

    def _open_memory(self) -> None:
        """Go to the memory that came from the line under the cursor."""
        if not self.transcript.has_focus:
            self.frame.say("enter reads it; ⸨evidence⸩ on a line opens the memory that came from it.")
            return
        memory = self.transcript.link or next(iter(self.transcript.memories), "")
        if memory:
            self._follow(memory)
        else:
            self.frame.say("No memory came from this line; } goes to the next one that gave any.")

    def _follow(self, link: str) -> None:
        if link.startswith(_CITED):
            self._go_to_line(link)
        elif link.startswith(_IN_ITS_PLACE):
            self.frame.looking.open_memory(link)
        else:
            self.frame.looking.follow(link)

    @on(PagePart.Followed)
    def _followed(self, event: PagePart.Followed) -> None:
        if not self.visited or event.link.startswith(_CITED):
            event.stop()
            self._follow(event.link)

    def _look_at(self, place: str) -> None:
        """List the sessions of another place as well."""
        place = str(Path(place.strip()).expanduser())
        if place not in self._given:
            self._given += (place,)
        self.frame.read_again()
        return


def _memories(workspace: Workspace, listed: Listed) -> dict[int, tuple[str, ...]]:
    try:
        return dict(workspace.session_reader(listed.row.key, from_=listed.place).memories())
    except NotFound:
        return {}


def _title(place: str | None) -> str:
    """Return what heads the sessions of a place."""
    if place is None:
        return "This workspace"
    path, home = Path(place), Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else place


@dataclass(frozen=True)
class Session:
    """A session in the list, or the one that is read.

    Args:
        title: What it goes by.
        key: What the engine knows it by.
        place: Where another program keeps it; None for this workspace's own.
    """

    id: str
    title: str
    key: str
    place: str | None


def compact(
    session: Session, workspace: Workspace, tell: Callable[[str], None], stopped: Callable[[], bool]
) -> str:
    """Put a summary in place of all but the newest messages; called on a thread.

    Args:
        tell: Told in a word or two how far it is.
        stopped: Asked all the while whether it was called off.

    Returns:
        The sentence of the status line.
    """

    def progress(told: Progress) -> None:
        tell(f"{told.phase} {told.done:,} of {told.total:,}; esc stops")

    done = workspace.session_compact(session.key, from_=session.place, progress=progress, cancelled=stopped)
    if done.line is None:
        return done.told
    copied = _COPIED if done.copied_from else ""
    rules = f" {done.fallback}" if done.fallback else ""
    return (
        f"Compacted {quoted(session.title)}: {done.tokens_before:,} tokens became {done.tokens_after:,}; "
        f"the transcript keeps every line.{copied}{rules}"
    )


def save(sessions: tuple[Session, ...]) -> Act | str:
    """Save what matters of a session to memory now."""
    if len(sessions) > 1:
        return ONE
    (session,) = sessions

    def call(workspace: Workspace) -> str:
        done = workspace.session_flush(session.key, now=True, from_=session.place)
        return _saved(done, f" of {quoted(session.title)}")

    return Act(call)


def start_over(sessions: tuple[Session, ...]) -> Act | str:
    """Begin a new session, after saving what matters."""
    if len(sessions) > 1:
        return ONE
    (session,) = sessions
    if session.place:
        return _ELSEWHERE

    def call(workspace: Workspace) -> str:
        done = workspace.session_reset(session.key)
        saved = f" {_saved(done.flushed)}" if done.flushed is not None else ""
        return " ".join(
            (f"{quoted(session.title)} starts over; its transcript stays.{saved}", *done.warnings)
        )

    return Act(call, f"Start {quoted(session.title)} over? What matters is saved first.", "start over")


def repair(sessions: tuple[Session, ...]) -> Act | str:
    """Empty the lines that cannot be read, so that all others keep their numbers."""
    if len(sessions) > 1:
        return ONE
    (session,) = sessions
    if session.place:
        return _ELSEWHERE

    def call(workspace: Workspace) -> str:
        done = workspace.session_repair(session.key)
        if done.copy is None:
            return f"No line of {quoted(session.title)} is damaged."
        return f"Repaired {quoted(session.title)}. The file as it was is kept beside it."

    return Act(call, f"Repair {quoted(session.title)}? The file as it was stays beside it.", "repair")


def _saved(done: Flushed, of: str = "") -> str:
    """Say what a flush saved."""
    fresh = sum(not one.known for one in done.saved)
    known = len(done.saved) - fresh
    again = f" {counted(known, 'was', 'were')} remembered already." if known else ""
    if fresh:
        said = f"Saved {counted(fresh, 'memory', 'memories')}{of}. ⸨undo⸩ takes that back.{again}"
    else:
        said = f"Nothing new was worth saving{of}.{again}"
    return " ".join((said, *done.warnings, *((done.fallback,) if done.fallback else ())))


OTHER_VERBS[Session] = {
    "save-now": save,
    "start-over": start_over,
    "repair": repair,
    "pin": lambda _sessions: "A session cannot be pinned; what came from it can.",
    "forget": lambda _sessions: "A session is kept as evidence; m b starts it over.",
    "bring-back": lambda _sessions: "A session stays as it was; there is nothing to bring back.",
    "reinforce": lambda _sessions: "A session does not fade.",
}

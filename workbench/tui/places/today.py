"""Today: alerts, what waits, what became of memory while one was away, and what fades this week."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar, cast

from workbench.display import words
from workbench.display.card import gone_card
from workbench.display.ink import Span, ink
from workbench.display.rows import beside_row, memory_row
from workbench.display.today import (
    alert_card,
    alert_title,
    by_whom,
    changed_lines,
    fitting,
    greeting,
    notice_card,
    since_heading,
    unread_heading,
)
from workbench.display.words import counted, in_bench
from workbench.engine import layout
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.results.account import Since
from workbench.engine.results.reviews import ReflectionDue
from workbench.engine.results.transfer import ImportPlaces
from workbench.engine.values import dataclass
from workbench.tui.keys.table import BY_NAME
from workbench.tui.parts.evidence import evidence_at
from workbench.tui.parts.rows import Rows
from workbench.tui.places.inbox import words_contradicted
from workbench.tui.places.place import Place
from workbench.tui.places.rewording import waiting_writing
from workbench.tui.places.ticks import (
    CHANGES,
    CLASHES,
    DEVICES,
    QUESTIONS,
    SECRETS,
    TICKS,
    Waiting,
    tick,
    waiting_rows,
)
from workbench.tui.places.unread import BEGIN_CORE, Notice, unread_sections
from workbench.tui.verbs.act import OTHER_VERBS, Act
from workbench.tui.verbs.adding import Destination
from workbench.tui.verbs.history import keep
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from workbench.display.card import Card
    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.results.account import Notes, SinceChange
    from workbench.engine.results.audit import Alert
    from workbench.engine.results.decay import Fall
    from workbench.engine.results.inbox import Inbox
    from workbench.engine.results.memories import CoreView
    from workbench.engine.results.sync import SyncStatus
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.rewording import Writing

T = TypeVar("T")
_WEEK = 7
_WHOLE = ("Memory itself can be read; enter shows what works, and what mends the rest.",)
# Rows of a block that are always told; more where the screen has room for them.
_LEARNED, _CHANGED, _FALLS = 5, 3, 5
_SIGNS = {"changed": "±", "forgotten": "-", "faded": "↓"}


@dataclass(frozen=True)
class Reach:
    """How far back is told.

    Args:
        days: From now; 0 for since one was last here.
    """

    words: str
    days: int = 0

    def before(self, now: datetime) -> datetime:
        """Return the moment."""
        return now - timedelta(days=self.days)


REACHES = {
    "": Reach("since you were last here"),
    "day": Reach("since a day ago", 1),
    "week": Reach("since a week ago", 7),
    "month": Reach("since a month ago", 30),
}


@dataclass(frozen=True)
class Account:
    """What Today tells.

    Args:
        last: When one was here last; None on a first visit.
        inbox: What waits; None where that cannot be read.
        said: The words of memories that proposals contradict, by id.
        due: What no reflection has read.
        since: What became of memory since then.
        falls: What drops a level this week, the soonest first.
        entities: How many people, projects and things there are.
        has_history: Whether anything was ever written here.
        notes: What is in the notes, where nobody has read any of them.
        elsewhere: Programs that keep memory on this machine, asked for where this folder has little.
        model: What reads the notes, where it is no rules; empty for rules.
        local: Whether nothing leaves this machine while they are read.
        span: Since when is told, see `REACHES`.
        troubles: What could not be read, a sentence each.
        sync: How memory and its remote stand; None where that cannot be read.
        is_whole: Whether what became of memory and what fades were read, which takes longer than the rest.
        is_early: Whether files are still being looked at, so that more may be known soon.
    """

    now: datetime
    last: datetime | None
    alerts: tuple[Alert, ...]
    inbox: Inbox | None
    said: Mapping[str, str]
    due: ReflectionDue
    since: Since
    falls: tuple[Fall, ...]
    core: CoreView
    entries: int
    entities: int
    has_history: bool
    notes: Notes | None = None
    elsewhere: tuple[str, ...] = ()
    model: str = ""
    local: bool = True
    span: str = ""
    troubles: tuple[str, ...] = ()
    sync: SyncStatus | None = None
    is_whole: bool = False
    is_early: bool = False

    @property
    def is_unread(self) -> bool:
        """Return whether this is a folder that nobody has learned anything from yet."""
        return self.is_bare and not self.is_waiting and self.due.unprocessed > 0

    @property
    def is_waiting(self) -> bool:
        """Return whether anything waits to be decided."""
        return self.inbox is not None and bool(self.inbox.waiting)

    @property
    def is_bare(self) -> bool:
        """Return whether nothing was ever learned here: no core memory, nobody known, no reflection."""
        return (
            self.due.last is None and not self.entities and not any(each.items for each in self.core.blocks)
        )


@dataclass(frozen=True)
class Alarm:
    """An alert under the cursor."""

    alert: Alert

    @property
    def id(self) -> str:
        return f"alert:{self.alert.id}"

    @property
    def title(self) -> str:
        return alert_title(self.alert)

    @property
    def about(self) -> str:
        """Return the file that was changed."""
        return f"file:{self.alert.file}"


@dataclass(frozen=True)
class Learned:
    """A memory that became something since, or that fades.

    Args:
        sign: What became of it; empty where it came.
    """

    memory: Memory
    sign: str
    beside: str


Row: TypeAlias = "Alarm | Waiting | Notice | Learned"


class AccountRows(Rows["tuple[str, str]", "Row"]):
    """The account, section by section; a section with nothing in it is left out.

    Args:
        more: Rows of each block beside those that are always told.
    """

    def __init__(self, account: Account, key: Callable[[str], str], more: int = 0) -> None:
        super().__init__()
        self._account, self._key = account, key
        troubles = [
            Notice(f"trouble:{at}", each, command="health", told=_WHOLE)
            for at, each in enumerate(account.troubles)
        ]
        self._section("Cannot be read", troubles)
        self._section("Alert" if len(account.alerts) == 1 else "Alerts", map(Alarm, account.alerts))
        self._section("Waits for you", waiting(account))
        self._section("Other devices", _unsynced(account))
        for text, rows in unread_sections(account):
            self._section(text, rows)
        reach = account.span or ("" if account.last is not None else "week")
        since = (
            REACHES[reach].words.capitalize() if reach else since_heading(account.since.since, account.now)
        )
        self._section(since, became(account, more), by_whom(account.since))
        first, rest = _first(account.falls, _FALLS + more)
        falls: list[Learned | Notice] = [_falling(fall, account.now) for fall in first]
        if rest:
            holds = tuple(fall.title for fall in rest)
            falls.append(Notice("falls", f"{len(rest)} more", place="decay", row=rest[0].id, holds=holds))
        self._section("Fades this week", falls)

    def _section(self, heading: str, rows: Iterable[Row], beside: str = "") -> None:
        for row in rows:
            key = f"{heading}:{row.memory.id}" if isinstance(row, Learned) else row.id
            self.add(row, key, (heading, beside))

    def draw(self, row: Row, width: int) -> Line:
        """Draw a row."""
        if isinstance(row, Alarm):
            when = words.moment(row.alert.timestamp, self._account.now)
            return beside_row((Span("▲ ", "danger"), ink(row.title)), when, width)
        if isinstance(row, Waiting):
            return beside_row((Span("◆ ", "decide"), ink(row.title)), row.who, width)
        if isinstance(row, Notice):
            if row.key:
                sign = Span(f"{self._key(row.key):<4}", "strong")
            else:
                sign = Span("◆ ", "decide") if row.place == "inbox" else Span("  ")
            return beside_row((sign, ink(row.title)), row.beside, width)
        if row.sign:
            return beside_row(
                (Span(f"{row.sign} ", "soft"), ink(row.memory.title, "soft" if row.sign != "±" else "text")),
                row.beside,
                width,
            )
        return memory_row(row.memory.store, row.memory.title, row.beside, width)


def _unsynced(account: Account) -> list[Notice]:
    """Return the row that says what other devices lack, where this memory is synced and something does."""
    sync = account.sync
    if sync is None or sync.remote is None or not (sync.waiting or sync.trouble):
        return []
    last = f"synced {words.moment(sync.synced, account.now)}" if sync.synced else "never synced"
    if sync.trouble:
        title = "The last sync failed"
    else:
        waits = "change waits" if sync.waiting == 1 else "changes wait"
        title = f"{sync.waiting:,} {waits} to be sent"
    told = (*((in_bench(sync.trouble),) if sync.trouble else ()), f"With {sync.remote}, as {sync.device}.")
    return [Notice("sync", title, last, command="sync", told=told)]


def waiting(account: Account) -> list[Waiting | Notice]:
    """Return what waits in the Inbox: contradictions one by one, all else by how many of each kind."""
    if account.inbox is None:
        return []
    found = [row for row in waiting_rows(account.inbox, account.said) if not row.tick]
    rows: list[Waiting | Notice] = [row for row in found if row.group in (CLASHES, DEVICES)]
    if questions := [row for row in found if row.group == QUESTIONS]:
        rows.append(_leading("waits:questions", f"{counted(len(questions), 'question')} for you", questions))
    changes = [row for row in found if row.group in CHANGES]
    reflected = [row for row in changes if row.item is not None]
    if reflected:
        made = account.inbox.review.created
        when = (
            f" of {words.day(made.astimezone(account.now.tzinfo).date(), account.now.date())}" if made else ""
        )
        # Its questions stand above, each in a row of its own.
        apart = any(row.item is not None for row in found if row.group in (CLASHES, QUESTIONS))
        count = counted(len(reflected), "other change" if apart else "change")
        said = f"{count} from the reflection{when}"
        rows.append(_leading("waits:changes", said, reflected))
    if proposed := [row for row in changes if row.proposals]:
        senders = ", ".join(dict.fromkeys(each.from_ for row in proposed for each in row.proposals))
        said = f"{counted(len(proposed), 'proposal')} of {senders}"
        rows.append(_leading("waits:proposals", said, proposed))
    if held := [row for row in found if row.group == SECRETS]:
        rows.append(_leading("waits:secrets", f"{counted(len(held), 'secret')} held back", held))
    if ticked := account.inbox.waiting - len(found):
        told = ("⸨write⸩ there writes them, after a preview.",)
        rows.append(Notice("waits:ticked", f"{ticked} ticked, not written yet", "w", "inbox", told=told))
    return rows


def _leading(id_: str, title: str, rows: Sequence[Waiting]) -> Notice:
    """Return a row that leads to the first of several in the Inbox, and lists them."""
    return Notice(id_, title, place="inbox", row=rows[0].id, holds=tuple(row.title for row in rows))


def _first(items: Sequence[T], most: int) -> tuple[Sequence[T], Sequence[T]]:
    """Return so many and the rest; a single one stands where “1 more” would."""
    shown = len(items) if len(items) == most + 1 else most
    return items[:shown], items[shown:]


def became(account: Account, more: int) -> list[Learned | Notice]:
    """Return what became of memory: what was learned first, then what changed, went and faded."""
    since, rows = account.since, list[Learned | Notice]()

    def some(changes: tuple[SinceChange, ...], kind: str, most: int) -> None:
        first, rest = _first(changes, most)
        for change in first:
            day = words.day(change.timestamp.astimezone(account.now.tzinfo).date(), account.now.date())
            memory = Memory(change.id, change.store, change.title, archived=change.change == "archived")
            rows.append(Learned(memory, _SIGNS.get(kind, ""), day))
        if rest:
            holds = tuple(change.title for change in rest)
            rows.append(Notice(f"since:{kind}", f"{len(rest)} more {kind}", place="history", holds=holds))

    some(since.learned, "learned", _LEARNED + more)
    some(since.changed, "changed", _CHANGED + more)
    some(since.forgotten, "forgotten", _CHANGED + more)
    if since.faded:
        count = len(since.faded)
        said = f"{counted(count, 'memory', 'memories')} faded out of what the agent recalls"
        holds = tuple(fall.title for fall in since.faded)
        rows.append(Notice("since:faded", said, place="decay", row=since.faded[0].id, holds=holds))
    return rows


def _falling(fall: Fall, now: datetime) -> Learned:
    return Learned(Memory(fall.id, fall.store, fall.title), "", words.coming(fall.on, now.date()))


class Troubles:
    """What could not be read: one part of the account that cannot be hides no other."""

    def __init__(self, told: tuple[str, ...] = ()) -> None:
        self._told = dict.fromkeys(told)

    @property
    def told(self) -> tuple[str, ...]:
        """Return why, a sentence each."""
        return tuple(self._told)

    def had(self, read: Callable[[], T], instead: T) -> T:
        """Return what is read, or something instead where it cannot be."""
        try:
            return read()
        except WorkbenchError as error:
            self._told[in_bench(error.message)] = None
            return instead


def read_became(workspace: Workspace, account: Account) -> Account:
    """Add what became of memory, and what fades this week; called on a thread."""
    troubles, moment = Troubles(account.troubles), account.since.since
    since = troubles.had(lambda: workspace.since(moment.isoformat()), Since(moment, account.now, None))
    falls = {fall.id: fall for fall in reversed(workspace.decay_falls(_WEEK).falls) if fall.store != "core"}
    return replace(
        account, since=since, falls=tuple(reversed(falls.values())), troubles=troubles.told, is_whole=True
    )


_LOOKING = "Looking at what is in this folder…"


class TodayPlace(Place):
    """What a person should know first."""

    EMPTY: ClassVar[str] = (
        "Nothing waits, and nothing changed. ⸨ask⸩ asks memory, ⸨new⸩ writes something down."
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._inbox: Place | None = None
        self._wanted = ""

    # Reading.

    def read(self, workspace: Workspace) -> Account:
        now, last, span = workspace.now(), self.frame.last_here, self.kept.get("since", "")
        moment = REACHES[span].before(now) if span else last or now - timedelta(days=_WEEK)
        troubles = Troubles()
        inbox = troubles.had(workspace.inbox, None)
        # What became of memory stays until it is read again.
        known = cast("Account | None", self.results)
        if known is not None and (not known.is_whole or (known.last, known.span) != (last, span)):
            known = None
        model = workspace.settings.model
        account = Account(
            now=now,
            last=last,
            alerts=troubles.had(workspace.alerts_waiting, ()),
            inbox=inbox,
            said=words_contradicted(workspace, inbox) if inbox is not None else {},
            due=troubles.had(workspace.reflection_due, ReflectionDue(False, "", 0, now, None)),
            since=Since(moment, now, None) if known is None else known.since,
            falls=() if known is None else known.falls,
            core=workspace.core(),
            entries=workspace.timeline(limit=1).total,
            entities=workspace.graph_count(),
            has_history=troubles.had(lambda: workspace.head() is not None, True),
            sync=troubles.had(workspace.sync_status, None),
            model=model.told if workspace.settings.reflection.model else "",
            local=not model.told or not workspace.settings.reflection.model or bool(model.path),
            span=span,
            is_whole=known is not None,
            is_early=self.frame.is_catching_up,
        )
        if account.is_bare and not account.is_early:
            found = troubles.had(workspace.import_places, ImportPlaces(()))
            account = replace(
                account,
                notes=troubles.had(workspace.notes, None) if account.is_unread else None,
                elsewhere=tuple(dict.fromkeys(each.program for each in found.places)),
            )
        return replace(account, troubles=troubles.told)

    def show(self, results: Account) -> None:
        if self._inbox is None and results.is_waiting:
            # What waits has the card that it has there.
            self._inbox = self.frame.place_named("inbox")
        begins = self.results is not None and results.is_unread and not self.results.is_unread
        super().show(results)
        if begins:
            # The rows of an empty folder stood here until its notes were found.
            self.list.do("first")
        self.frame.reading.read("became", lambda workspace: read_became(workspace, results), self._show_whole)

    def _show_whole(self, results: Account) -> None:
        super().show(results)
        if wanted := self._wanted:
            self._wanted = ""
            self.reveal(wanted)

    def reveal(self, key: str) -> bool:
        if super().reveal(key):
            return True
        if self.results is not None and not self.results.is_whole:
            self._wanted = key
            return True
        return False

    def empty(self) -> list[Line]:
        if self.results is not None and self.results.is_early:
            return [(ink(_LOOKING, "soft"),)]
        if self.results is not None and not self.results.is_whole:
            return [(ink("Looking at what changed…", "soft"),)]
        return super().empty()

    def rows(self, results: Account) -> AccountRows:
        """Return as many rows as there is room for, each with as many lines as its text takes."""
        room, longest = self.list.room, len(results.since.learned) + len(results.falls)
        lines = 2 if self.frame.look.rows == "comfortable" else 1

        def with_more(more: int) -> AccountRows:
            return AccountRows(results, self.frame.keymap.key, more)

        def is_too_long(more: int) -> bool:
            return len(with_more(more).unfolded(room.width)) * lines > room.height

        return with_more(max(0, bisect_left(range(longest), True, key=is_too_long) - 1))

    def on_resize(self) -> None:
        """Tell as much as there is room for now."""
        if self.results is not None:
            self.all_rows = self.rows(self.results)
            self.show_rows()

    def heading(self, results: Account, width: int) -> Line:
        if results.is_bare and results.is_early:
            said = _LOOKING
        elif results.is_unread and results.notes is not None:
            said = unread_heading(results.notes, width)
        elif results.is_bare and not results.entries:
            said = fitting(width, "This folder has no memory yet. These are ways to begin.", "No memory yet.")
        else:
            said = greeting(results.last, results.now, width)
        return (ink(said, "soft", width),)

    def subject(self, key: str) -> Subject | None:
        row: Row | None = self.row(key)
        return row.memory if isinstance(row, Learned) else row

    # Cards.

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        if isinstance(subject, Alarm):
            return alert_card(subject.alert, workspace.now())
        if isinstance(subject, Notice):
            return notice_card(
                subject.title,
                (*subject.told, *_leads(subject)),
                workspace.now(),
                holds=subject.holds,
                opening=subject.opening,
            )
        if isinstance(subject, Waiting) and self._inbox is not None:
            return self._inbox.read_card(workspace, subject)
        try:
            return super().read_card(workspace, subject)
        except NotFound:
            # What was taken out since is told of as well.
            return gone_card(subject.title)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        if isinstance(subject, Notice):
            return evidence_at(workspace, subject.opening[0].id) if subject.opening else None
        if isinstance(subject, Alarm):
            first, last = changed_lines(subject.alert)
            return evidence_at(workspace, f"file:{subject.alert.file}#L{first}-L{last}")
        if isinstance(subject, Waiting):
            return self._inbox.read_evidence(workspace, subject) if self._inbox is not None else None
        return super().read_evidence(workspace, subject)

    @property
    def destination(self) -> Destination | None:
        row: Row | None = self.row(self.cursor_key)
        is_core = isinstance(row, Notice) and row.id == BEGIN_CORE
        return Destination("core memory", store="core") if is_core else None

    def writing(self, workspace: Workspace, subject: Subject) -> Writing | str:
        if isinstance(subject, Waiting):
            return waiting_writing(workspace, subject)
        return super().writing(workspace, subject)

    # Keys.

    @property
    def keys(self) -> tuple[str, ...]:
        subject = self.current
        if isinstance(subject, Alarm):
            is_history = subject.alert.file == layout.HISTORY
            return ("accept", "reflect") if is_history else ("accept", "bring-back", "evidence", "reflect")
        if isinstance(subject, Waiting):
            ticks = ("older", "newer", "both") if subject.is_clash else ("accept", "decline")
            return (*ticks, "set-aside", "evidence", "write")
        if isinstance(subject, Memory):
            return ("edit", "pin", "forget", "evidence", "details", "reflect", "new")
        ticked = self.results is not None and self.results.is_waiting
        return ("reflect", "new", *(("write",) if ticked else ()))

    @property
    def labels(self) -> Mapping[str, str]:
        names = {"accept": "keep", "bring-back": "bring back"} if isinstance(self.current, Alarm) else {}
        return {command: name for command, name in names.items() if command in self.keys}

    def do(self, command: str) -> bool:
        """Go where a row leads, tick what waits as the Inbox does, or tell since another moment."""
        row: Row | None = None if self.visited else self.row(self.cursor_key)
        if command == "sort":
            self._next_reach()
        elif isinstance(row, Waiting) and command == "open":
            self.frame.go("inbox", row=row.id)
        elif isinstance(row, Waiting) and command in TICKS:
            answer, self.reworded = tick((row,), TICKS[command], self.reworded), ""
            self.frame.begin(answer)
        elif command == "open" and isinstance(row, Notice) and row.begins:
            self.frame.begin(Act(begin_history))
        elif command == "open" and isinstance(row, Notice) and row.command:
            self.frame.run_named(row.command)
        elif command == "open" and isinstance(row, Notice) and row.place:
            self.frame.go(row.place, row=row.row)
        else:
            if command == "write":
                self.frame.go("inbox")
            return False
        return True

    def _next_reach(self) -> None:
        names = list(REACHES)
        span = names[(names.index(self.kept.get("since", "")) + 1) % len(names)]
        self.kept["since"] = span
        self.frame.say(f"Shows what changed {REACHES[span].words}.")
        self.frame.read_again()


def _leads(notice: Notice) -> tuple[str, ...]:
    """Say which keys go where a row leads; nothing of one that runs a command, which says itself what it does."""
    if not notice.place:
        return ()
    the = "the " if notice.place in ("inbox", "timeline", "graph") else ""
    title = BY_NAME[notice.place].title
    return (f"⸨open⸩ goes to {the}{title}, as ⸨place-{notice.place}⸩ does from anywhere.",)


def begin_history(workspace: Workspace) -> str:
    """Begin the history; returns the sentence of the status line."""
    changed = workspace.begin_history()
    count = len(changed.files)
    files = counted(count, "file is", "files are")
    return f"Began the history: {files} kept as they are; every change can be taken back from now on."


def _bring_back(alarms: tuple[Alarm, ...]) -> Act | str:
    alert = alarms[0].alert
    commit = alert.commit
    if alert.file == layout.HISTORY:
        return "History cannot be taken back here; ⸨accept⸩ keeps it as it is."
    if len(alarms) > 1 or commit is None:
        return "Alerts are taken back one at a time."

    def call(workspace: Workspace) -> str:
        workspace.revert(commit)
        return f"Brought back {alert.file} as it was. ⸨undo⸩ takes that back."

    return Act(call)


OTHER_VERBS[Alarm] = {
    "accept": lambda alarms: keep([(each.alert.file, each.alert.id) for each in alarms]),
    "bring-back": _bring_back,
    "decline": lambda _: "⸨bring-back⸩ brings the old text back, ⸨accept⸩ keeps the new one.",
}
OTHER_VERBS[Notice] = {}

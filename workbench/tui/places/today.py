"""Today: alerts, what waits, what became of memory while one was away, and what fades this week."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

from workbench.display import words
from workbench.display.ink import BLANK, Span, ink, line_width, spread
from workbench.display.rows import bar, heading_row, memory_row
from workbench.display.today import (
    alert_card,
    alert_title,
    by_whom,
    last_here,
    notice_card,
    since_heading,
)
from workbench.tui.places.inbox import words_contradicted
from workbench.tui.places.place import Place
from workbench.tui.places.ticks import CHANGES, CLASHES, SECRETS, Waiting, tick, waiting_rows
from workbench.tui.verbs import OTHER_VERBS, Act, Memory
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.display.card import Card
    from workbench.display.evidence import Evidence
    from workbench.display.ink import Line
    from workbench.engine.results.account import Since, SinceChange
    from workbench.engine.results.audit import Alert
    from workbench.engine.results.decay import Fall
    from workbench.engine.results.inbox import Inbox
    from workbench.engine.results.memories import CoreView
    from workbench.engine.results.reviews import ReflectionDue
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.verbs import Subject

_WEEK = 7
_MOST_TOLD = 12
_TICKS = {
    "accept": "accept",
    "decline": "decline",
    "set-aside": "aside",
    "older": "older",
    "newer": "newer",
    "both": "both",
}
_MOST_LEARNED, _MOST_CHANGED, _MOST_FALLS = 8, 4, 8
_SIGNS = {"changed": "±", "forgotten": "-", "faded": "↓"}


@dataclass(frozen=True)
class Account:
    """What Today tells.

    Args:
        now: In the workspace's zone.
        last: When one was here last; None on a first visit.
        alerts: That nobody has decided on.
        inbox: What waits.
        said: The words of memories that proposals contradict, by id.
        due: What no reflection has read.
        since: What became of memory since then.
        falls: What drops a level this week, the soonest first.
        core: What the agent carries.
        entries: Entries of the timeline.
        has_history: Whether anything was ever written here.
    """

    now: datetime
    last: datetime | None
    alerts: tuple[Alert, ...]
    inbox: Inbox
    said: Mapping[str, str]
    due: ReflectionDue
    since: Since
    falls: tuple[Fall, ...]
    core: CoreView
    entries: int
    has_history: bool

    @property
    def is_unread(self) -> bool:
        """Return whether this is a folder that nobody has learned anything from yet."""
        return self.due.last is None and not self.inbox.waiting and self.due.unprocessed > 0


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


@dataclass(frozen=True)
class Notice:
    """A row that leads to another place, or to a command.

    Args:
        id: Of the row.
        title: What it says.
        beside: A word at its right.
        place: Where `enter` leads; empty where it runs a command.
        row: The row there.
        command: What `enter` runs instead.
        told: What one finds there, a line each.
    """

    id: str
    title: str
    beside: str = ""
    place: str = ""
    row: str = ""
    command: str = ""
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Learned:
    """A memory that became something since, or that fades.

    Args:
        memory: It.
        sign: What became of it; empty where it came.
        beside: A word at its right.
    """

    memory: Memory
    sign: str = ""
    beside: str = ""


@dataclass(frozen=True)
class Heading:
    """The heading of a section, with a remark at its right."""

    text: str
    beside: str = ""


Row: TypeAlias = "Alarm | Waiting | Notice | Learned | Heading"


class AccountRows(SectionedRows["Row"]):
    """The account, section by section; a section with nothing in it is left out."""

    def __init__(self, account: Account) -> None:
        super().__init__()
        self._account = account
        self._section(Heading("Alert" if len(account.alerts) == 1 else "Alerts"), map(Alarm, account.alerts))
        self._section(Heading("Waits for you"), waiting(account))
        self._section(Heading("New notes"), unread(account))
        heading = Heading(since_heading(account.last, account.now), by_whom(account.since))
        self._section(heading, became(account))
        falls = [_falling(fall, account.now) for fall in account.falls[:_MOST_FALLS]]
        more = len(account.falls) - len(falls)
        rest = [Notice("falls", f"{more} more", place="decay")] if more > 0 else []
        self._section(Heading("Fades this week"), [*falls, *rest])

    def _section(self, heading: Heading, rows: object) -> None:
        found = tuple(cast("tuple[Alarm | Waiting | Notice | Learned, ...]", rows))
        if found:
            self._add_heading(heading)
        for row in found:
            key = f"{heading.text}:{row.memory.id}" if isinstance(row, Learned) else row.id
            self._add(row, key)

    def row(self, key: str) -> Alarm | Waiting | Notice | Learned | None:
        """Return the row with an id."""
        found = self._row(key)
        return None if isinstance(found, Heading) else found

    def line(self, index: int, width: int) -> Line:
        """Draw a row."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, Heading):
            return heading_row(row.text, row.beside, width)
        if isinstance(row, Alarm):
            when = words.moment(row.alert.timestamp, self._account.now)
            return _beside((Span("▲ ", "danger"), ink(row.title)), when, width)
        if isinstance(row, Waiting):
            asked = ", ".join(dict.fromkeys(each.from_ for each in row.proposals)) or "reflection"
            return _beside((Span("◆ ", "decide"), ink(row.title)), asked, width)
        if isinstance(row, Notice):
            sign = Span("◆ ", "decide") if row.place == "inbox" else Span("  ")
            return _beside((sign, ink(row.title)), row.beside, width)
        if row.sign:
            return _beside(
                (Span(f"{row.sign} ", "soft"), ink(row.memory.title, "soft" if row.sign != "±" else "text")),
                row.beside,
                width,
            )
        return memory_row(row.memory.store, row.memory.title, row.beside, width)


def _beside(left: Line, beside: str, width: int) -> Line:
    right: Line = (ink(beside, "soft"),) if beside else ()
    if right and width - line_width(right) - 2 < min(40, line_width(left)):
        right = ()
    return spread(left, right, width)


def waiting(account: Account) -> list[Waiting | Notice]:
    """Return what waits in the Inbox: contradictions one by one, all else by how many of each kind."""
    found = [row for row in waiting_rows(account.inbox, account.said) if not row.tick]
    rows: list[Waiting | Notice] = [row for row in found if row.group == CLASHES]
    changes = [row for row in found if row.group == CHANGES]
    reflected = [row for row in changes if row.item is not None]
    if reflected:
        made = account.inbox.review.created
        when = (
            f" of {words.day(made.astimezone(account.now.tzinfo).date(), account.now.date())}" if made else ""
        )
        said = f"{_counted(reflected, 'change')} from the reflection{when}"
        rows.append(_leading("waits:changes", said, "reflection", reflected))
    if proposed := [row for row in changes if row.proposals]:
        senders = ", ".join(dict.fromkeys(each.from_ for row in proposed for each in row.proposals))
        rows.append(
            _leading("waits:proposals", f"{_counted(proposed, 'proposal')} of {senders}", "agent", proposed)
        )
    if held := [row for row in found if row.group == SECRETS]:
        rows.append(_leading("waits:secrets", f"{_counted(held, 'secret')} held back", "secret", held))
    if ticked := account.inbox.waiting - len(found):
        rows.append(Notice("waits:ticked", f"{ticked} ticked, not written yet", "w", "inbox"))
    return rows


def _counted(rows: Sequence[Waiting], what: str) -> str:
    return f"{len(rows)} {what}{'' if len(rows) == 1 else 's'}"


def _leading(id_: str, title: str, beside: str, rows: Sequence[Waiting]) -> Notice:
    """Return a row that leads to the first of several in the Inbox, and lists them."""
    return Notice(id_, title, beside, "inbox", rows[0].id, told=tuple(row.title for row in rows[:_MOST_TOLD]))


def unread(account: Account) -> list[Notice]:
    """Return what nobody has read yet, and the keys that begin."""
    count = account.due.unprocessed
    if not count:
        if account.entries or account.core.tokens or account.has_history:
            return []
        return [
            Notice("begin:new", "Write down what every session should begin with", command="new"),
            Notice("begin:import", "Bring memory in from somewhere else", command="import"),
        ]
    entries = f"{count:,} {'entry' if count == 1 else 'entries'}"
    told = (
        "What is found waits in the Inbox; nothing is written before you say so.",
        "Everything else works meanwhile, and esc stops it here.",
    )
    rows = [Notice("read", f"Read {entries} that no reflection has read", command="reflect", told=told)]
    if account.is_unread:
        rows += [
            Notice("read:timeline", f"Look at the notes as they are ({account.entries:,})", place="timeline"),
            Notice("begin:new", "Write down what every session should begin with", command="new"),
            Notice("begin:import", "Bring memory in from somewhere else", command="import"),
        ]
    return rows


def became(account: Account) -> list[Learned | Notice]:
    """Return what became of memory: what was learned first, then what changed, went and faded."""
    since, rows = account.since, list[Learned | Notice]()

    def some(changes: tuple[SinceChange, ...], kind: str, most: int) -> None:
        for change in changes[:most]:
            day = words.day(change.timestamp.astimezone(account.now.tzinfo).date(), account.now.date())
            memory = Memory(change.id, change.store, change.title, archived=change.change == "archived")
            rows.append(Learned(memory, _SIGNS.get(kind, ""), day))
        if len(changes) > most:
            rows.append(Notice(f"since:{kind}", f"{len(changes) - most} more {kind}", place="history"))

    some(since.learned, "learned", _MOST_LEARNED)
    some(since.changed, "changed", _MOST_CHANGED)
    some(since.forgotten, "forgotten", _MOST_CHANGED)
    if since.faded:
        count = len(since.faded)
        said = f"{count} {'memory' if count == 1 else 'memories'} faded out of what the agent recalls"
        told = tuple(fall.title for fall in since.faded[:12])
        rows.append(Notice("since:faded", said, place="decay", row=since.faded[0].id, told=told))
    return rows


def _falling(fall: Fall, now: datetime) -> Learned:
    return Learned(Memory(fall.id, fall.store, fall.title), "", words.coming(fall.on, now.date()))


class TodayPlace(Place):
    """What a person should know first."""

    EMPTY: ClassVar[str] = "Nothing waits, and nothing changed. / asks memory, n writes something down."
    KEYS: ClassVar[tuple[str, ...]] = (
        "accept",
        "bring-back",
        "edit",
        "pin",
        "forget",
        "evidence",
        "reflect",
        "new",
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._inbox: Place | None = None

    @property
    def frame(self) -> Frame:
        """Return the frame around."""
        return cast("Frame", self.screen)

    def read(self, workspace: Workspace) -> Account:
        last = self.frame.last_here
        now = workspace.now()
        moment = last or now - timedelta(days=_WEEK)
        has_history = workspace.head() is not None
        return Account(
            now=now,
            last=last,
            alerts=tuple(workspace.alerts_waiting()),
            inbox=(inbox := workspace.inbox()),
            said=words_contradicted(workspace, inbox),
            due=workspace.reflection_due(),
            since=workspace.since(moment.isoformat()),
            falls=workspace.decay_falls(_WEEK).falls,
            core=workspace.core(),
            entries=workspace.timeline(limit=1).total,
            has_history=has_history,
        )

    def show(self, results: Account) -> None:
        if self._inbox is None and results.inbox.waiting:
            # What waits has the card that it has there.
            self._inbox = self.frame.place_named("inbox")
        super().show(results)

    def rows(self, results: Account) -> AccountRows:
        return AccountRows(results)

    def heading(self, results: Account, width: int) -> Line:
        core = results.core
        if results.is_unread:
            said = f"{results.entries:,} notes are here; nothing has been learned from them yet."
        else:
            said = last_here(results.last, results.now)
        if width < 60 or not core.cap:
            return spread((ink(said, "soft"),), (), width)
        right = (ink(f"carries {core.tokens:,} of {core.cap:,} ", "faint"), *bar(core.tokens / core.cap, 8))
        return spread((ink(said, "soft"),), right if width >= line_width((ink(said),)) + 32 else (), width)

    def _found(self, key: str) -> Alarm | Waiting | Notice | Learned | None:
        rows = self.list.rows
        return rows.row(key) if isinstance(rows, AccountRows) else None

    def subject(self, key: str) -> Subject | None:
        row = self._found(key)
        return row.memory if isinstance(row, Learned) else row

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        if isinstance(subject, Alarm):
            key = self.frame.keymap.key
            return alert_card(subject.alert, workspace.now(), key("accept"), key("bring-back"))
        if isinstance(subject, Notice):
            return notice_card(subject.title, subject.told)
        if isinstance(subject, Waiting) and self._inbox is not None:
            return self._inbox.read_card(workspace, subject)
        return super().read_card(workspace, subject)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | None:
        return (
            None
            if isinstance(subject, Alarm | Notice | Waiting)
            else super().read_evidence(workspace, subject)
        )

    def do(self, command: str) -> bool:
        """Go where a row leads, or tick what waits as the Inbox does."""
        row = None if self.visited else self._found(self.cursor_key)
        if isinstance(row, Waiting) and command in ("open", *_TICKS):
            if command == "open":
                self.frame.go("inbox", row=row.id)
            else:
                self.frame.begin(tick((row,), _TICKS[command]))
            return True
        if command == "write":
            self.frame.go("inbox")
            return False
        if command != "open" or not isinstance(row, Notice) or not (row.place or row.command):
            return False
        if row.command:
            self.frame.run_named(row.command)
        else:
            self.frame.go(row.place, row=row.row)
        return True


def _keep(alarms: tuple[Alarm, ...]) -> Act:
    def call(workspace: Workspace) -> str:
        for each in alarms:
            workspace.acknowledge(each.alert.id)
        named = alarms[0].alert.file if len(alarms) == 1 else f"{len(alarms)} changes"
        return f"Kept the change of {named}; the agent is not warned of it any more."

    return Act(call)


def _bring_back(alarms: tuple[Alarm, ...]) -> Act | str:
    alert = alarms[0].alert
    commit = alert.commit
    if len(alarms) > 1 or commit is None:
        return "Alerts are taken back one at a time, in History."

    def call(workspace: Workspace) -> str:
        workspace.revert(commit)
        return f"Brought back {alert.file} as it was. u does the change again."

    return Act(call)


OTHER_VERBS[Alarm] = {
    "accept": _keep,
    "bring-back": _bring_back,
    "decline": lambda _: "r brings the old text back, a keeps the new one.",
}
OTHER_VERBS[Notice] = {}

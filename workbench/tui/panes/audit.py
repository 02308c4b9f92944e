"""The Audit pane: who changed what, when and on whose approval, and the way to take it back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.display.diffing import DiffRow, compare
from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.bench import Alert, AuditEntry, Change
from workbench.tui.keymap import bindings
from workbench.tui.panes.base import Pane
from workbench.tui.query import Query, parse_query
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.audit import (
    ALERT_KEY,
    FIELDS,
    AuditRows,
    action_key,
    action_lines,
    alert_lines,
    change_lines,
    entry_matches,
    is_about_history,
)
from workbench.tui.views.past_detail import trouble_lines
from workbench.tui.views.teaching import teach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench, Outcome

_EMPTY = teach(
    "Nothing has been changed yet.",
    "Every change of memory will be here: who made it, when, on whose approval, and what it did, word by word. "
    "Each can be taken back. Files edited in any other editor are found and listed too.",
    ("workbench init", "begins the history."),
    ("workbench audit verify", "checks that history, log and files agree."),
)
_NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur; actor:, action:, file:, approval:, commit:, after: and before: narrow further.",
    ("actor:reflection after:1m", "for example."),
    ("esc", "shows everything again."),
)
_REFLECTION = "reflection:"
_Diffs = tuple[tuple[str, tuple[DiffRow, ...]], ...]


class AuditPane(Pane):
    """Open alerts, then every change, newest first."""

    title: ClassVar = "Audit"
    filter_hint: ClassVar = "words  actor:  action:  file:  after:  before:"
    BINDINGS: ClassVar = bindings(
        commands.Acknowledge, commands.Revert, commands.OpenSource, commands.ShowHistory
    )

    class Batch(Message):
        """Some more entries were read, older than those before; `last` says that these were all, `trouble` why not."""

        def __init__(
            self,
            reading: int,
            entries: Sequence[AuditEntry],
            alerts: Sequence[Alert] | None = None,
            *,
            last: bool = False,
            trouble: WorkbenchError | None = None,
        ) -> None:
            super().__init__()
            self.reading = reading
            self.entries = entries
            self.alerts = alerts
            self.last = last
            self.trouble = trouble

    class Filtered(Message):
        """The filter has been applied to the first `looked_at` entries."""

        def __init__(self, query: Query, entries: list[AuditEntry], rows: AuditRows, looked_at: int) -> None:
            super().__init__()
            self.query = query
            self.entries = entries
            self.rows = rows
            self.looked_at = looked_at

    class Compared(Message):
        """What a commit did to each file, ready to draw."""

        def __init__(self, change: Change, diffs: _Diffs) -> None:
            super().__init__()
            self.change = change
            self.diffs = diffs

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._today: date = bench.now().date()
        self._zone = bench.now().tzinfo
        self._alerts: tuple[Alert, ...] = ()
        self._entries: list[AuditEntry] = []
        self._rows = AuditRows(self._today)
        self._query = Query()
        self._reading = 0
        self._arriving: list[AuditEntry] = []
        self._compared: dict[str, tuple[Change, _Diffs]] = {}
        self._trouble: WorkbenchError | None = None
        self._is_looking = False

    def teach(self, width: int) -> Sequence[Line]:
        if self._trouble is not None:
            return trouble_lines(self._trouble, min(width, 64))
        return _NOTHING_MATCHES(width) if self._entries else _EMPTY(width)

    # --- reading --------------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._reading += 1
        self._arriving = []
        self._read(self._reading)

    @work(thread=True, exclusive=True, group="load")
    def _read(self, reading: int) -> None:
        worker = get_current_worker()
        try:
            self.post_message(self.Batch(reading, (), tuple(self.bench.alerts())))
            for batch in self.bench.audit():
                if worker.is_cancelled:
                    return
                self.post_message(self.Batch(reading, [self._local(entry) for entry in batch]))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            self.post_message(self.Batch(reading, (), last=True, trouble=error))
            return
        self.post_message(self.Batch(reading, (), last=True))

    def _local(self, entry: AuditEntry) -> AuditEntry:
        """Return an entry with its time in the workspace's zone."""
        return AuditEntry(
            entry.timestamp.astimezone(self._zone), entry.action, entry.file, entry.actor, entry.approval,
            entry.summary, entry.commit, entry.group, entry.commits,
        )  # fmt: skip

    @on(Batch)
    def _arrived(self, event: Batch) -> None:
        event.stop()
        if event.reading != self._reading:
            return
        first_reading = event.reading == 1
        if event.alerts is not None:
            self._alerts = tuple(event.alerts)
            if first_reading:
                self._rows = AuditRows(self._today, () if self._query else self._alerts)
        self._arriving.extend(event.entries)
        if first_reading:
            self._entries = self._arriving
            self._rows.extend(self._matching(self._query, event.entries))
            first = bool(event.entries) and len(self._arriving) == len(event.entries)
            if first or not self._arriving:
                self.filter_answered = self.filter_asked
            self.grow_list(self._rows, first=first, last=event.last)
            self._find_wanted()
            if first:
                self.has_read()
        if event.last:
            self._trouble = event.trouble
            self.has_read()
            self._today = self.bench.now().date()
            self._entries = self._arriving
            self.list.waiting = False
            if first_reading:
                self._settle()
            else:
                self._filter(self._query, self._entries)

    @staticmethod
    def _matching(query: Query, entries: Sequence[AuditEntry]) -> Iterator[tuple[AuditEntry, date]]:
        for entry in entries:
            day = entry.timestamp.date()
            if entry_matches(query, entry, day):
                yield entry, day

    def _find_wanted(self) -> None:
        if self.wanted_key and self.list.go_to(self.resolve(self.wanted_key)):
            self.wanted_key = ""

    def resolve(self, key: str) -> str:
        """Return the row that a key means; `alert:` alone is the newest alert."""
        return ALERT_KEY + self._alerts[0].id if key == ALERT_KEY and self._alerts else key

    def apply_filter(self, text: str) -> None:
        self._query = self.filter_asked = parse_query(text, FIELDS, self._today)
        self._filter(self._query, self._entries)

    @work(thread=True, exclusive=True, group="filter")
    def _filter(self, query: Query, entries: list[AuditEntry]) -> None:
        looked_at = len(entries)
        rows = AuditRows(self._today, () if query else self._alerts)
        rows.extend(self._matching(query, entries[:looked_at]))
        self.post_message(self.Filtered(query, entries, rows, looked_at))

    @on(Filtered)
    def _filtered(self, event: Filtered) -> None:
        event.stop()
        if event.query != self._query or event.entries is not self._entries:
            return
        event.rows.extend(self._matching(event.query, self._entries[event.looked_at :]))
        self._rows = event.rows
        self.filter_answered = self.filter_asked
        self.list.show(self._rows)
        self._find_wanted()
        self._settle()

    def _settle(self) -> None:
        self.filter_bar.set_count(self._rows.shown, len({action_key(entry) for entry in self._entries}))
        self.list.refresh()
        self.show_detail(self.list.cursor_key)
        self.refresh_bindings()

    # --- drawing --------------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        row = self._rows.row(key)
        if row is None:
            self.detail.show(lambda _width: ())
            return
        known = self._compared.get(row.commit)
        if known is not None:
            self._draw_change(row, *known)
        elif not row.commit:
            head = alert_lines(row, 80) if isinstance(row, Alert) else []
            self.detail.show(lambda _width: head, key)
        else:
            self._ask_to_compare(row.commit)

    def _ask_to_compare(self, commit: str) -> None:
        if self._asking is not None:
            self._asking.stop()
        self._asking = self.set_timer(0.04, lambda: self._compare(commit))

    @work(thread=True, exclusive=True, group="compare")
    def _compare(self, commit: str) -> None:
        try:
            change = self.bench.change(commit)
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        diffs = tuple((file.path, compare(file.before, file.after)) for file in change.files)
        self.post_message(self.Compared(change, diffs))

    @on(Compared)
    def _was_compared(self, event: Compared) -> None:
        event.stop()
        if len(self._compared) > 200:
            self._compared.clear()
        row = self._rows.row(self.list.cursor_key)
        if row is None:
            return
        if not event.change.commit.startswith(row.commit):
            # The cursor is elsewhere by now, or older commits of the same action were read meanwhile.
            self.show_detail(self.list.cursor_key)
            return
        self._compared[row.commit] = (event.change, event.diffs)
        self._draw_change(row, event.change, event.diffs)

    def _draw_change(self, row: Alert | AuditEntry, change: Change, diffs: _Diffs) -> None:
        key = self.list.cursor_key

        def draw(width: int) -> list[Line]:
            action = self._rows.action(key)
            head = alert_lines(row, width) if action is None and isinstance(row, Alert) else []
            head += action_lines(action, width) if action is not None else []
            return [*head, *change_lines(change, diffs, row.file, width)]

        self.detail.show(draw, key)

    def findable(self) -> Iterator[tuple[str, str]]:
        for entry in self._entries:
            yield (
                f"{entry.timestamp:%Y-%m-%d %H:%M} {entry.action} {entry.file} {entry.summary}",
                f"commit:{entry.commit}",
            )

    # --- acting ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the row under the cursor."""
        row = self._rows.row(self.list.cursor_key) if self.is_mounted else None
        if action == "acknowledge":
            return isinstance(row, Alert)
        if action == "revert":
            return (
                row is not None
                and bool(row.commit)
                and not (isinstance(row, Alert) and is_about_history(row))
            )
        if action in ("open_source", "show_history", "copy_id"):
            return row is not None
        return super().check_action(action, parameters)

    def subject_keys(self) -> tuple[str, ...]:
        rows = (self._rows.row(key) for key in self.list.chosen_keys)
        return tuple(dict.fromkeys(row.commit for row in rows if row is not None))

    def action_acknowledge(self) -> None:
        ids = [key.removeprefix(ALERT_KEY) for key in self.list.chosen_keys if key.startswith(ALERT_KEY)]
        if ids:
            self.act(partial(self.bench.acknowledge, ids), self.list.clear_marks)

    def action_revert(self) -> None:
        row = self._rows.row(self.list.cursor_key)
        if row is None or not row.commit or (isinstance(row, Alert) and is_about_history(row)):
            return
        if isinstance(row, AuditEntry) and row.actor.startswith(_REFLECTION):
            name = row.actor.removeprefix(_REFLECTION)
            own = [entry for entry in self._entries if entry.actor == row.actor]
            self._ask_to_revert(
                f"Take back all that reflection {name} changed?",
                own,
                "Its items wait to be decided again, unless a newer reflection is waiting.",
                partial(self.bench.try_to_revert, reflection=name),
                partial(self.bench.revert_reflection, name),
            )
        elif isinstance(row, AuditEntry) and row.commits > 1:
            own = [entry for entry in self._entries if action_key(entry) == action_key(row)]
            question = "Take back the whole action?"
            self._ask_to_revert(
                question,
                own,
                "",
                partial(self.bench.try_to_revert, commit=row.commit),
                partial(self.bench.revert_action, row.commit),
            )
        else:
            self.act(partial(self.bench.revert, row.commit))

    def _ask_to_revert(
        self,
        question: str,
        entries: Sequence[AuditEntry],
        then: str,
        attempt: Callable[[], None],
        act: Callable[[], Outcome],
    ) -> None:
        """Ask before several commits are taken back at once, and say what that comes to; not where it is refused."""
        commits, files = ({getattr(entry, name) for entry in entries} for name in ("commit", "file"))
        told = (
            f"{_counted(len(commits), 'commit')} on {_counted(len(files), 'file')}: the files read as they did before, "
            f"but for what was changed since elsewhere in them. {then} It is one commit; u takes it back."
        )

        def ask() -> None:
            self._is_looking = False
            if not isinstance(self.app.screen, ConfirmScreen):
                self.app.push_screen(
                    ConfirmScreen(question, " ".join(told.split()), "Take back", started_by="R"),
                    lambda sure: self.act(act) if sure else None,
                )

        def look() -> None:
            try:
                attempt()
            except WorkbenchError:
                self._is_looking = False
                raise
            self.app.call_from_thread(ask)

        self._is_looking = True
        self.act(look)

    @property
    def is_unread(self) -> bool:
        """Return True also while it is looked whether something can be taken back: the next key is for the question."""
        return super().is_unread or self._is_looking

    def action_open_source(self) -> None:
        row = self._rows.row(self.list.cursor_key)
        if row is not None:
            self.post_message(self.GoTo(f"file:{row.file}"))

    def action_show_history(self) -> None:
        row = self._rows.row(self.list.cursor_key)
        if row is not None:
            self.filter_bar.set_text(f'file:"{row.file}"' if " " in row.file else f"file:{row.file}")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"

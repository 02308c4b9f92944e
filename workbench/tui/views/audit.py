"""Draws the audit log: what needs a person's word first, then every change by day, and one change with its diff."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.diff import changed_counts, diff_lines
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, spread
from workbench.engine import layout
from workbench.tui.bench import Alert, AuditEntry
from workbench.tui.views.dates import day_and_month, day_name, full_time, long_day
from workbench.tui.views.memory import STORE_SIGNS
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from workbench.display.diffing import DiffRow
    from workbench.tui.bench import Change
    from workbench.tui.query import Query

FIELDS = ("actor", "action", "file", "approval", "commit")
ALERT_KEY = "alert:"
ALERT = "▲"
_COMMITS_LISTED = 12
# The subject of a commit: [ACTION] FILE — SUMMARY.
_SUBJECT = re.compile(r"^\[([A-Z]+)\] .*? — (.*)$", re.DOTALL)
_PENDING = " Pending user acknowledgment."
_COMMON_ALERT = re.compile(r"Critical file change detected\b")
_STORES = {
    "memory/episodes/": "episodic",
    "memory/graph/": "semantic",
    "memory/procedures/": "procedural",
    "memory/vault/": "vault",
}


def entry_matches(query: Query, entry: AuditEntry, day: date) -> bool:
    """Tell whether an entry of the log passes a filter."""
    if not query:
        return True
    path = entry.file.casefold()
    fields = {
        "actor": (entry.actor.casefold(),),
        "action": (entry.action.casefold(),),
        "file": (path, path.rpartition("/")[2]),
        "approval": (entry.approval.casefold(),),
        "commit": (entry.commit.casefold(),),
    }
    text = f"{entry.summary}\n{entry.file}\n{entry.actor}\n{entry.action}\n{entry.commit}".casefold()
    return query.matches(fields, text, day)


def action_key(entry: AuditEntry) -> str:
    """Return the id of the row of an entry: all entries of an action share one."""
    return entry.group or entry.commit or f"{entry.timestamp}:{entry.action}:{entry.file}"


@dataclass(slots=True)
class Action:
    """What was done at once, in however many commits: its entries that are shown, newest first."""

    entries: list[AuditEntry]

    @property
    def first(self) -> AuditEntry:
        """Return what it began with, which tells best what it was."""
        return self.entries[-1]

    @property
    def commits(self) -> tuple[str, ...]:
        """Return the commits of the entries, newest first."""
        return tuple(dict.fromkeys(entry.commit for entry in self.entries))

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of the entries, those changed first to the front."""
        return tuple(dict.fromkeys(entry.file for entry in reversed(self.entries)))


class AuditRows(SectionedRows["Alert | Action | str"]):
    """The log as rows: open alerts, then for each day a heading, what was done, and a space.

    Args:
        today: In the workspace's zone.
        alerts: Those nobody has acknowledged.
    """

    def __init__(self, today: date, alerts: Sequence[Alert] = ()) -> None:
        super().__init__()
        self._today = today
        self._last_day: date | None = None
        self._actions: dict[str, Action] = {}
        if alerts:
            self._add_heading("Needs your word")
            for alert in alerts:
                self._add(alert, ALERT_KEY + alert.id)

    @property
    def shown(self) -> int:
        """Return how many actions there are."""
        return len(self._actions)

    def extend(self, entries: Iterable[tuple[AuditEntry, date]]) -> None:
        """Add older entries, each with its day in the workspace's zone; an action is where its newest entry is."""
        for entry, day in entries:
            key = action_key(entry)
            if (known := self._actions.get(key)) is not None:
                known.entries.append(entry)
                continue
            if day != self._last_day:
                self._last_day = day
                self._add_heading(day_name(day, self._today))
            self._actions[key] = Action([entry])
            self._add(self._actions[key], key)

    def row(self, key: str) -> Alert | AuditEntry | None:
        """Return the alert of that id, or what an action began with."""
        row = self._row(key)
        return row.first if isinstance(row, Action) else None if isinstance(row, str) else row

    def action(self, key: str) -> Action | None:
        """Return the action of that id."""
        return self._actions.get(key)

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, an alert, an action, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, str):
            return (Span(row, "decide.strong" if self.key(index + 1).startswith(ALERT_KEY) else "strong"),)
        if isinstance(row, Alert):
            return _alert_line(row, width, self._today)
        return _action_line(row, width)


def _alert_line(alert: Alert, width: int, today: date) -> Line:
    # What every alert says goes without saying; who changed the file does not.
    who = "by hand" if alert.actor == "manual" else f"by {alert.actor}"
    words = f"changed {who}" if _COMMON_ALERT.match(alert.summary) else alert.summary
    left = (Span(ALERT + " ", "decide.strong"), ink(alert.file, "decide.strong"), gap(2), ink(words))
    moment = alert.timestamp
    day = day_and_month(moment) if moment.year == today.year else long_day(moment)
    when = Span(f"{day} {moment:%H:%M}", "soft")
    return spread(left, (when,), width)


def _action_line(action: Action, width: int) -> Line:
    """Draw an action by what it began with, and how much more there is."""
    entry, commits, files = action.first, action.first.commits, len(action.files)
    actor_width = 0 if width < 58 else 16 if width < 70 else 20 if width < 100 else 24
    # Where there is little room, a file is only named where its glyph and the summary leave it open.
    file_width = 0 if width < 84 else 20 if width < 100 else 28
    # The system's own upkeep steps back, so that what people and agents did stands out.
    upkeep = entry.actor.startswith("system:") and entry.action != "ALERT"
    spans: list[Span] = [
        column(action.entries[0].timestamp.strftime("%H:%M"), 5, "soft"),
        gap(1),
        column(entry.action, 7, "faint" if upkeep else "text"),
        gap(1),
    ]
    if actor_width:
        spans += [
            column(entry.actor, actor_width, "faint" if upkeep else "soft"),
            gap(1),
        ]
    store = store_of_path(entry.file)
    spans += [Span(STORE_SIGNS[store] + " ", f"store.{store}")]
    if file_width:
        spans += [column(short_path(entry.file), file_width, f"store.{store}"), gap(1)]
    elif store != "episodic" and not entry.file.endswith("/decay-scores.json"):
        spans += [ink(short_path(entry.file), f"store.{store}", 24), gap(1)]
    more = f"{commits} commits" if commits > 1 else f"{files} files" if files > 1 else ""
    left = (*spans, ink(entry.summary, "soft" if upkeep else "text", width))
    return spread(left, (Span(more, "soft"),), width) if more else cut(left, width)


def action_lines(action: Action, width: int) -> list[Line]:
    """Draw what an action of several commits consists of, and how to take all of it back."""
    count = action.first.commits
    if count < 2:
        return []
    actor = action.first.actor
    what = f"Reflection {actor.partition(':')[2]}" if actor.startswith("reflection:") else "One action"
    lines: list[Line] = [(Span(f"{what}, in {count:,} commits", "strong"),)]
    for entry in action.entries[:_COMMITS_LISTED]:
        told = (
            column(entry.commit[:7], 7, "faint"),
            gap(1),
            ink(short_path(entry.file)),
            gap(2),
            ink(entry.summary, "soft"),
        )
        lines.append(cut(told, width))
    if len(action.entries) > _COMMITS_LISTED:
        more = f"and {len(action.entries) - _COMMITS_LISTED:,} more: workbench audit show {action.first.commit[:7]}"
        lines.append(cut((ink(more, "soft"),), width))
    return [*lines, BLANK, (Span("R", "strong"), Span("  take all of it back", "soft")), BLANK]


def store_of_path(path: str) -> str:
    """Return the store that a file belongs to, for its hue."""
    if path == "MEMORY.md":
        return "core"
    return next((store for start, store in _STORES.items() if path.startswith(start)), "file")


def short_path(path: str) -> str:
    """Return a file's own name, without the folder and ending that its hue and place tell already."""
    name = path.rpartition("/")[2] or path
    return name.removesuffix(".md") if path.startswith("memory/") else name


def change_lines(
    change: Change, diffs: Sequence[tuple[str, Sequence[DiffRow]]], first: str, width: int
) -> list[Line]:
    """Draw one commit: who, when, why, and what each file became.

    Args:
        change: The commit.
        diffs: For each file it changed, how.
        first: The file to begin with.
        width: Cells.
    """
    subject = _SUBJECT.match(change.summary)
    summary = subject[2] if subject else change.summary
    lines: list[Line] = [(Span(piece, "strong"),) for piece in wrap(summary, width, limit=3)]
    lines.append(BLANK)
    facts = [
        ("What", subject[1] if subject else ""),
        ("When", full_time(change.timestamp)),
        ("Who", change.actor),
        ("Approval", change.approval),
        ("Trigger", change.trigger),
        ("Commit", change.commit[:12]),
    ]
    for label, value in facts:
        if value:
            lines.extend(
                (column(label if at == 0 else "", 10, "faint"), Span(piece))
                for at, piece in enumerate(wrap(value, max(10, width - 10), limit=4))
            )
    for path, rows in sorted(diffs, key=lambda each: each[0] != first):
        came, went = changed_counts(rows)
        counts = (Span(f"+{came}", "text"), gap(1), Span(f"−{went}", "soft"))
        lines += [BLANK, spread((ink(path, f"store.{store_of_path(path)}+strong"),), counts, width)]
        lines.extend(diff_lines(rows, width) if rows else [(Span("Nothing in the text differs.", "faint"),)])
    if not diffs:
        lines += [BLANK, (Span("No file changed.", "faint"),)]
    return lines


def is_about_history(alert: Alert) -> bool:
    """Return True if the history itself was rewritten or deleted; no commit does that, so none can be taken back."""
    return alert.file == layout.HISTORY


def alert_lines(alert: Alert, width: int) -> list[Line]:
    """Draw why an alert stands, above the change that raised it."""
    if is_about_history(alert):
        return _history_alert_lines(alert, width)
    lines: list[Line] = [
        cut(
            (
                Span(ALERT + " ", "decide.strong"),
                ink(f"{alert.file} changed. Was this meant?", "decide.strong"),
            ),
            width,
        )
    ]
    text = "Every session begins with this question until you answer it."
    return [
        *lines,
        *((Span(piece, "soft"),) for piece in wrap(text, width)),
        BLANK,
        (
            Span("a", "strong"),
            Span("  it was meant", "soft"),
            gap(3),
            Span("R", "strong"),
            Span("  take it back", "soft"),
        ),
        BLANK,
    ]


def _history_alert_lines(alert: Alert, width: int) -> list[Line]:
    """Draw what happened to history, what examines it, and what to do."""
    told = alert.summary.removesuffix(_PENDING)
    text = (
        "What is listed here is what history says now; changes that were in it before may be missing. "
        "A backup of .audit from before brings them back."
    )
    return [
        *((Span(piece, "decide.strong"),) for piece in wrap(f"{ALERT} {told}", width)),
        *((Span(piece, "soft"),) for piece in wrap(text, width)),
        BLANK,
        (Span("workbench audit verify", "strong"),),
        (Span("  examines history, log and files"),),
        (Span("a", "strong"), Span("  I know why, close the alert")),
        BLANK,
    ]

"""Draws sessions: a row each, what heads a transcript, and the card; how full they are as used of what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.ink import BLANK, Span, column, cut, gap, ink, line_width, spread
from workbench.display.words import counted
from workbench.engine.clock import in_zone
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from workbench.display.ink import Line
    from workbench.engine.results.sessions import FlushCheck, SessionRow

_KINDS = {
    "main": "Main session", "direct": "Conversation", "group": "Group", "channel": "Channel", "subagent": "Sub-agent",
    "cron": "Runs by the clock", "hook": "Runs on an event", "acp": "Editor", "node": "Device", "global": "Session",
}  # fmt: skip
# Cells that a name has before anything beside it gets one.
_NAME_FIRST = 24
_SHORT, _LONG, _SHARE, _USED = 8, 16, 5, 18
_GAUGE = 20
_MOST_LISTED = 12
_BETWEEN = " · "


@dataclass(frozen=True)
class Listed:
    """A session in the list.

    Args:
        place: Where another program keeps it; None for this workspace's own.
    """

    row: SessionRow
    place: str | None = None

    @property
    def key(self) -> str:
        """Return the id of its row."""
        return f"{self.row.key} @ {self.place}" if self.place else self.row.key

    @property
    def name(self) -> str:
        """Return what it goes by: its label, else its key without what all keys begin with; after its messenger."""
        row = self.row
        name = (row.label or words.session(row.key)).removeprefix("subagent:")
        return f"{row.channel}, {name.removeprefix(row.channel + ':')}" if row.channel else name

    @property
    def agent(self) -> str:
        """Return what its agent goes by in a transcript; empty for the main one."""
        row = self.row
        if row.kind == "subagent":
            return row.key.rpartition(":")[2]
        return "" if row.agent in ("", "main") else row.agent


def used(check: FlushCheck) -> str:
    """Return how many tokens are used, of how many."""
    if check.tokens is None or check.window <= 0:
        return "not counted"
    return f"{'about ' if check.estimated else ''}{check.tokens:,} of {check.window:,}"


def share(check: FlushCheck) -> str:
    """Return how much of the context is used, in per cent; empty where nobody counted."""
    if check.tokens is None or check.window <= 0:
        return ""
    return f"{min(999, round(100 * check.tokens / check.window))} %"


def _role(check: FlushCheck) -> str:
    if check.tokens is None:
        return "faint"
    if check.tokens >= check.compaction_at:
        return "danger"
    return "decide" if check.tokens >= check.threshold else "soft"


def session_row(listed: Listed, now: datetime, width: int) -> Line:
    """Draw one session: its name, when it was used last or that it has ended, and how full it is."""
    row = listed.row
    check, local = row.flush, in_zone(row.updated, now.tzinfo) if row.updated is not None else None
    short = (
        ""
        if local is None
        else f"{local:%H:%M}"
        if local.date() == now.date()
        else _day(local.date(), now.date())
    )
    ended = "" if row.fresh else ", ended"
    long = "ended" if local is None else f"{words.day(local.date(), now.date())}{ended}"
    if row.fresh and local is not None and local.date() == now.date():
        long = f"today, {local:%H:%M}"
    right: Line = (column(share(check), _SHARE, _role(check), right=True),)
    if width - _SHARE - _SHORT - 4 >= _NAME_FIRST:
        when = column(short, _SHORT, "faint", right=True)
        if width - _SHARE - _USED - _LONG - 6 >= _NAME_FIRST:
            when = column(long, _LONG, "faint", right=True)
            right = (column(used(check), _USED, "faint", right=True), gap(2), *right)
        right = (when, gap(2), *right)
    return spread((ink(listed.name, "strong" if row.fresh else "soft"),), right, width)


def _day(on: date, today: date) -> str:
    """Return a day in seven cells at most."""
    return f"{on.day} {on:%b}" if on.year == today.year else f"{on:%b %Y}"[-8:]


def gauge(check: FlushCheck, cells: int) -> Line:
    """Draw a context over its whole window."""
    if check.tokens is None or check.window <= 0:
        return (Span("─" * cells, "rule"),)
    full = min(cells, max(int(check.tokens > 0), round(cells * check.tokens / check.window)))
    role = "store.core" if _role(check) == "soft" else _role(check)
    return (Span("━" * full, role), Span("━" * (cells - full), "rule"))


def state(row: SessionRow) -> str:
    """Say what state a session is in, the most important first; empty for one that goes on."""
    told = []
    if row.flush.due:
        told.append("what matters is not saved yet")
    if not row.fresh:
        told.append("ended")
    if row.flush.compactions:
        told.append(
            "compacted once" if row.flush.compactions == 1 else f"compacted {row.flush.compactions} times"
        )
    if row.shared:
        told.append("others read along")
    if row.transcript is None:
        told.append("no transcript")
    return _BETWEEN.join(told)


def limits(check: FlushCheck) -> str:
    """Say from when what matters is saved, and from when it is compacted."""
    if check.window <= 0:
        return ""
    return (
        f"what matters is saved from {round(100 * check.threshold / check.window)} % on, "
        f"it is compacted from {round(100 * check.compaction_at / check.window)} % on"
    )


def _counted(total: int, memories: int) -> str:
    lines = counted(total, "line")
    if not memories:
        return f"{lines}{_BETWEEN}no memory came from it"
    return f"{lines}{_BETWEEN}{counted(memories, 'memory', 'memories')} came from it"


def head_lines(
    listed: Listed,
    check: FlushCheck,
    total: int | None,
    memories: int,
    width: int,
    *,
    short: bool,
) -> list[Line]:
    """Draw what stands above a transcript.

    Args:
        total: Lines of its transcript; None until they are counted.
        memories: How many came from it.
        short: Whether there is room for one line only.
    """
    row = listed.row
    told_lines = "" if total is None else _counted(total, memories)
    name = ink(listed.name, "strong")
    if short:
        return [cut((name, ink(f"{_BETWEEN}{told_lines}" if told_lines else "", "soft")), width)]
    kind = _KINDS.get(row.kind, "Session") + ("" if row.model == "" else f"{_BETWEEN}{row.model}")
    told = state(row)
    lines: list[Line] = [spread((name,), (ink(kind, "faint", width // 2),), width)]
    figures = (ink(f"{used(check)}  ", "soft"), column(share(check), _SHARE, _role(check), right=True))
    room = width - line_width(figures) - 2
    lines.append((*gauge(check, max(4, room)), gap(2), *figures))
    lines.append(cut((ink(f"{told_lines}{_BETWEEN if told and told_lines else ''}{told}", "soft"),), width))
    if listed.place:
        lines.append(cut((ink(f"read where it is, {listed.place}; never changed there", "faint"),), width))
    return [*lines, BLANK]


def session_card(
    listed: Listed, check: FlushCheck, memories: Sequence[str], titles: Mapping[str, str], now: datetime
) -> Card:
    """Return the card of a session: how full it is, and what came from it."""
    row = listed.row
    kind = ink(_BETWEEN.join(filter(None, (_KINDS.get(row.kind, "Session"), row.channel, row.model))), "soft")
    full: list[Line] = [(ink(f"{used(check)} {'tokens, ' if share(check) else ''}{share(check)}"),)]
    if share(check):
        full.append(gauge(check, _GAUGE))
    full.append((ink(limits(check), "soft"),))
    sections = [Section("FULL", tuple(full))]
    if told := state(row):
        sections.append(Section("STATE", ((ink(told),),)))
    if row.updated is not None:
        used_lines: list[Line] = [(ink(f"last {words.moment(row.updated, now)}"),)]
        if row.expires is not None and row.fresh:
            used_lines.append(
                (ink(f"ends {words.moment(row.expires, now)} unless something is said", "soft"),)
            )
        sections.append(Section("USED", tuple(used_lines)))
    came: list[Line] = []
    for each in memories[:_MOST_LISTED]:
        store = words.store_of(each)
        sign = Span(f"{words.sign(store)} ", f"store.{store}")
        came.append((sign, ink(titles.get(each, each), "text+link", None, each)))
    if len(memories) > _MOST_LISTED:
        came.append((ink(f"and {len(memories) - _MOST_LISTED} more; }} in the transcript goes on", "faint"),))
    sections.append(Section("GAVE", tuple(came) or ((ink("No memory came from it.", "soft"),),)))
    details = [
        Section("KEY", ((ink(row.key, "soft"),),)),
        Section("FILE", ((ink(f"{row.transcript or 'none'} · {_size(row.size_bytes)}", "soft"),),)),
    ]
    return Card(listed.name, listed.name, (kind,), tuple(sections), tuple(details))


def _size(size: int) -> str:
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            return f"{size / of:.1f} {unit}"
    return f"{size} bytes"

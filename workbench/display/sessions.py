"""Draws sessions: a row each, what heads a transcript, the card; how full they are; and what the commands tell."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.ink import (
    BLANK,
    Span,
    column,
    cut,
    gap,
    ink,
    line_width,
    spread,
)
from workbench.display.text import Page, safe, safe_line
from workbench.display.transcript import UNFOLD_ALL, Look, page_entries
from workbench.display.words import counted
from workbench.engine.clock import in_zone
from workbench.engine.results.sessions import TranscriptPage
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from workbench.display.ink import Line
    from workbench.engine.results.sessions import (
        Compacted,
        FlushCheck,
        Flushed,
        SessionAppended,
        SessionBegun,
        SessionContext,
        SessionProblem,
        SessionRecovered,
        SessionRepaired,
        SessionRow,
        Sessions,
        SessionView,
    )

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
    return f"{min(999, words.percent(check.tokens, check.window))} %"


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
    return (Span("━" * full, role), Span("─" * (cells - full), "rule"))


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
        f"what matters is saved from {words.percent(check.threshold, check.window)} % on, "
        f"it is compacted from {words.percent(check.compaction_at, check.window)} % on"
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
        sections.append(Section.of("STATE", told))
    if row.updated is not None:
        used_lines: list[Line] = [(ink(f"last {words.moment(row.updated, now)}"),)]
        if row.expires is not None and row.fresh:
            used_lines.append((ink(f"ends {words.moment(row.expires, now)} unless somebody writes", "soft"),))
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
        Section.of("KEY", row.key, "soft"),
        Section.of("FILE", f"{row.transcript or 'none'} · {_size(row.size_bytes)}", "soft"),
    ]
    return Card(listed.name, listed.name, (kind,), tuple(sections), tuple(details))


def _size(size: int) -> str:
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            return f"{size / of:.1f} {unit}"
    return f"{size} bytes"


_TEXT_LINES = 12
_SPEAKERS = {"user": "User", "assistant": "Assistant"}


def sessions_lines(page: Page, found: Sessions) -> list[str]:
    """List sessions as the bench does, each with its key and how it stands below."""
    if not found.sessions:
        lines = ["There are no sessions yet."]
    else:
        lines = [page.heading("Sessions", f"{counted(len(found.sessions), 'session')}, in tokens of context")]
    for row in found.sessions:
        lines += page.printed([session_row(Listed(row), page.now, page.width)])
        lines += page.wrapped(
            safe_line(_BETWEEN.join(filter(None, (row.key, state(row))))), "quiet", first="  "
        )
        if row.flush.due and row.source == "own":
            told = f"save it with: workbench sessions flush {shlex.quote(row.key)}"
            lines += page.wrapped(safe_line(told), "accent", first="  ")
    # A path is copied whole, so that it is never broken.
    lines += ["", page.paint(safe_line(f"Kept in {found.where}"), "quiet")]
    return lines + problem_lines(page, found.problems)


def session_lines(page: Page, found: SessionView) -> list[str]:
    """Show lines of a transcript as the bench does, with what it folds; long answers of tools are cut."""
    row = found.session
    last = found.next - 1 if found.next else found.total
    shown = f"lines {found.from_:,}–{last:,} of {found.total:,}" if found.total else "no transcript"
    lines = [page.heading(safe_line(row.key), shown)]
    lines += [page.paint(line, "quiet") for line in check_lines(page, row.flush)]
    lines += problem_lines(page, tuple(each for each in found.problems if each.line is None))
    look = Look(
        page.width, closeness=UNFOLD_ALL, agent=Listed(row).agent, shared=row.shared, digits=len(str(last))
    )
    said = {line.line for line in found.lines if line.role in _SPEAKERS}
    transcript = TranscriptPage(found.from_, found.lines, found.problems)
    for entry in page_entries(transcript, found.from_, last, {}, look, page.now):
        rows = page.printed(entry.rows)
        if len(rows) > _TEXT_LINES and entry.number not in said:
            rows[_TEXT_LINES:] = [page.paint(f"    … {len(rows) - _TEXT_LINES:,} more lines", "quiet")]
        lines += rows
    if found.next:
        more = f"… {found.total - found.next + 1:,} more lines: --from-line {found.next}"
        lines.append(page.paint(more, "quiet"))
    return lines


def appended_lines(page: Page, done: SessionAppended) -> list[str]:
    """Report where a message was written."""
    begun = f" A new session began ({done.reason})." if done.began else ""
    where = f"line {done.lines[0]:,}" if done.lines else "no line"
    return [page.done(f"{safe_line(done.key)}: {where} of {safe_line(done.session_id)}.{begun}")]


def flush_check_lines(page: Page, check: FlushCheck) -> list[str]:
    """Report whether a flush is due."""
    due = ink("flush due" if check.due else "not due")
    return [*page.printed([(*gauge(check, _GAUGE), gap(2), due)]), *check_lines(page, check)]


def check_lines(page: Page, check: FlushCheck) -> list[str]:
    """Report how full a session is."""
    tokens = (
        "unknown" if check.tokens is None else f"{check.tokens:,}{' (estimated)' if check.estimated else ''}"
    )
    told = (
        f"{tokens} tokens of {check.window:,}; flush from {check.threshold:,}, compaction from "
        f"{check.compaction_at:,}; compacted {check.compactions}×. {check.reason}"
    )
    return page.wrapped(told, first="  ")


def context_lines(page: Page, found: SessionContext) -> list[str]:
    """Show what a model would see."""
    lines = [page.heading(safe_line(found.key), f"{found.tokens:,} of {found.window:,} tokens")]
    if found.left_out:
        lines.append(page.paint(f"  {found.left_out:,} earlier messages found no room.", "quiet"))
    for message in found.messages:
        place = f"L{message.line}" if message.line is not None else "—"
        who = _SPEAKERS.get(message.role, message.role)
        made = " · summary" if message.line == found.summary_line and message.line is not None else ""
        made = " · put in" if message.line is None else made
        lines.append(
            f"{place}  {page.paint(safe_line(who), 'strong')}"
            f"{page.paint(f' · {message.tokens:,} tokens{made}', 'quiet')}"
        )
        lines += page.wrapped(safe(_words(message.message.get("content"))), first="    ")[:_TEXT_LINES]
    for repair in found.repairs:
        lines += page.wrapped(safe_line(repair), first="! ")
    return lines + problem_lines(page, found.problems)


def compacted_lines(page: Page, done: Compacted) -> list[str]:
    """Report a compaction, with its summary."""
    if done.line is None:
        return page.wrapped(f"{done.told} Keep fewer with --keep TOKENS.")
    lines = [
        page.done(done.told),
        page.paint(
            f"  {done.tokens_before:,} tokens became {done.tokens_after:,} · L{done.line} · by {done.by}",
            "quiet",
        ),
    ]
    if done.copied_from:
        lines += page.wrapped(safe_line(f"copied from {done.copied_from}"), "quiet", first="  ")
    if done.fallback:
        lines += page.wrapped(safe_line(done.fallback), first="! ")
    return [*lines, "", *page.wrapped(safe(done.summary), first="  ")]


def flushed_lines(page: Page, done: Flushed) -> list[str]:
    """Report what a flush saved, with the source line of each."""
    if not done.flushed:
        return [done.check.reason if done.check else "Nothing was due."]
    lines = [page.done(f"{done.told} By {done.by}.")]
    for one in done.saved:
        lines += page.wrapped(safe_line(one.text), first="  • ")
        how = "known already, said again in" if one.known else "from"
        aside = f"{safe_line(one.id)} {how} {safe_line(one.citation)}"
        lines += page.wrapped(aside, "quiet", first="    ")
    if done.fallback:
        lines += page.wrapped(safe_line(done.fallback), first="! ")
    return lines


def begun_lines(page: Page, done: SessionBegun) -> list[str]:
    """Report that a session started over."""
    lines = [page.done(f"{safe_line(done.key)} starts over as {safe_line(done.session_id)}.")]
    if done.previous_transcript:
        kept = safe_line(f"before: {done.previous_transcript}")
        lines += page.wrapped(kept, "quiet", first="  ")
    return lines + (flushed_lines(page, done.flushed) if done.flushed else [])


def repaired_lines(page: Page, done: SessionRepaired) -> list[str]:
    """Report a repair."""
    if not done.repairs:
        return ["There is nothing to mend."]
    lines = []
    for repair in done.repairs:
        lines += page.wrapped(safe_line(repair), first="✓ ")
    if done.copy:
        lines += page.wrapped(safe_line(f"as it was: {done.copy}"), "quiet", first="  ")
    return lines + problem_lines(page, done.problems)


def recovered_lines(page: Page, done: SessionRecovered) -> list[str]:
    """Report the way on after a failed model run."""
    return [page.done(done.told), page.paint(f"  {done.action} · {done.session_id}", "quiet")]


def problem_lines(page: Page, problems: tuple[SessionProblem, ...]) -> list[str]:
    """List unreadable lines."""
    lines = []
    for problem in problems:
        place = f"L{problem.line}: " if problem.line is not None else ""
        lines += page.wrapped(safe_line(place + problem.message), first="! ")
    return [page.paint(line[0], "accent") + line[1:] if line[:1] == "!" else line for line in lines]


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    told = []
    for part in parts:
        if isinstance(part, dict):
            text = part.get("text", part.get("thinking"))
            told.append(
                text
                if isinstance(text, str)
                else f"[{part.get('type')} {part.get('name', '')}]".replace(" ]", "]")
            )
    return "\n".join(told)

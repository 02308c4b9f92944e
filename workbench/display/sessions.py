"""Text of sessions: a gauge for each, transcripts as conversations, and model contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.changes import at_minute
from workbench.display.text import Page, bar, clip, safe, safe_line

if TYPE_CHECKING:
    from workbench.engine.results.sessions import (
        Compacted,
        FlushCheck,
        Flushed,
        SessionAppended,
        SessionBegun,
        SessionContext,
        SessionLine,
        SessionProblem,
        SessionRecovered,
        SessionRepaired,
        SessionRow,
        Sessions,
        SessionView,
    )

GAUGE = 12
_KEY = 44
_TEXT_LINES = 12
_SPEAKERS = {"user": "User", "assistant": "Assistant"}


def sessions_lines(page: Page, found: Sessions) -> list[str]:
    """List sessions with their distance from flush and compaction."""
    if not found.sessions:
        lines = ["There are no sessions yet."]
    else:
        counted = f"{len(found.sessions):,} sessions" if len(found.sessions) > 1 else "1 session"
        lines = [page.heading("Sessions", counted)]
        rows = [
            (
                f"  {clip(safe_line(row.key), _KEY)}",
                at_minute(page, row.updated) if row.updated else "",
                gauge(row.flush),
                page.paint(_state(row), "quiet"),
            )
            for row in found.sessions
        ]
        lines += page.table(rows)
    lines += page.wrapped(safe_line(found.where), "quiet", first="  ")
    return lines + problem_lines(page, found.problems)


def gauge(check: FlushCheck) -> str:
    """Draw how full a context is; empty without a token count."""
    if check.tokens is None:
        return "·" * GAUGE + "      "
    return f"{bar(check.tokens / check.compaction_at, GAUGE)} {min(check.tokens / check.compaction_at, 9.99):4.0%} "


def _state(row: SessionRow) -> str:
    parts = []
    if row.flush.due:
        parts.append("flush due")
    if not row.fresh:
        parts.append("ended")
    if row.flush.compactions:
        parts.append(f"compacted {row.flush.compactions}×")
    if row.shared:
        parts.append("shared")
    if row.label:
        parts.append(clip(safe_line(row.label), 30))
    if row.transcript is None:
        parts.append("no transcript")
    return " · ".join(parts)


def session_lines(page: Page, found: SessionView) -> list[str]:
    """Show transcript lines as a conversation, with line numbers."""
    row = found.session
    last = found.next - 1 if found.next else found.total
    shown = f"lines {found.from_:,}–{last:,} of {found.total:,}" if found.total else "no transcript"
    lines = [page.heading(safe_line(row.key), shown)]
    lines += [page.paint(line, "quiet") for line in check_lines(page, row.flush)]
    skipped = {problem.line: problem for problem in found.problems}
    for line in found.lines:
        for number in [number for number in skipped if number is not None and number < line.line]:
            lines += problem_lines(page, (skipped.pop(number),))
        lines += _line(page, line)
    lines += problem_lines(page, tuple(skipped.values()))
    if found.next:
        more = f"… {found.total - found.next + 1:,} more lines: --from-line {found.next}"
        lines.append(page.paint(more, "quiet"))
    return lines


def _line(page: Page, line: SessionLine) -> list[str]:
    who = _SPEAKERS.get(line.role, line.role or line.kind)
    when = f" · {at_minute(page, line.moment)}" if line.moment else ""
    aside = "" if line.active is not False else " · another branch"
    aside += "" if line.counts else " · copy"
    head = f"L{line.line}  {page.paint(safe_line(who), 'strong')}{page.paint(when + aside, 'quiet')}"
    body = page.wrapped(safe(line.text), first="    ") if line.text else []
    if len(body) > _TEXT_LINES and line.role not in _SPEAKERS:
        body = [*body[:_TEXT_LINES], page.paint(f"    … {len(body) - _TEXT_LINES:,} more lines", "quiet")]
    return [head, *body]


def appended_lines(page: Page, done: SessionAppended) -> list[str]:
    """Report where a message was written."""
    begun = f" A new session began ({done.reason})." if done.began else ""
    where = f"line {done.lines[0]:,}" if done.lines else "no line"
    return [page.done(f"{safe_line(done.key)}: {where} of {safe_line(done.session_id)}.{begun}")]


def flush_check_lines(page: Page, check: FlushCheck) -> list[str]:
    """Report whether a flush is due."""
    return [f"{gauge(check)}{'flush due' if check.due else 'not due'}", *check_lines(page, check)]


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

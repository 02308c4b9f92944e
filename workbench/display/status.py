"""Text of the state of things: core memory, brief, doctor, daemon, search index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.display.audit import open_alert_lines
from workbench.display.card import card_lines
from workbench.display.changes import at_minute
from workbench.display.health import check_lines, index_card, partly_words
from workbench.display.rows import block_row
from workbench.display.text import Page, display_width, pad, safe, safe_line
from workbench.display.words import counted
from workbench.engine import results
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from workbench.engine.results.audit import Brief, DaemonStatus, Diagnosis, RecentLog
    from workbench.engine.results.memories import CoreBlock, CoreItem, CoreView
    from workbench.engine.results.recall import IndexStatus

_COMMENT = lazy_pattern(r"<!--\s*(.*?)\s*-->", re.DOTALL)
# Of a budget; from there on the room that is left is told.
_NEARLY_FULL = 0.9
START = "Start it with: workbench daemon"
_DUE = {"sync": "look at all files", "upkeep": "upkeep", "reflect": "reflection"}
_UNIT = """\
[Unit]
Description=Workbench looks after {description}

[Service]
Type=exec
ExecStart={command}
{environment}Restart=on-failure
RestartSec=30
# Wrong settings, no workspace and another daemon are not mended by trying again.
RestartPreventExitStatus=2 3 4 5
TimeoutStopSec=90
Nice=10

[Install]
WantedBy=default.target
"""


def brief_lines(page: Page, brief: Brief) -> list[str]:
    """Print core memory, the log of today and yesterday, then what is pending."""
    lines = safe(brief.core).strip("\n").split("\n")
    lines += ["", page.paint(f"{brief.tokens:,} of {brief.cap:,} tokens", "quiet")]
    lines += _log_lines(page, brief.log)
    # Repeated changes of a file are one remark, with each change listed below it.
    notices = dict.fromkeys(safe_line(notice) for notice in brief.notices or _notices(brief))
    for notice in notices:
        lines += page.wrapped(notice, first="! ")
    for alert in brief.alerts:
        lines += ["", *open_alert_lines(page, alert)]
    return lines


def _log_lines(page: Page, log: RecentLog) -> list[str]:
    """Print the entries below their days, newest first, then what did not fit."""
    lines: list[str] = []
    day = None
    for entry in log.entries:
        if entry.day != day:
            lines += ["", page.paint(safe_line(entry.day), "strong")]
            day = entry.day
        first, *more = safe(entry.text).strip("\n").split("\n")
        # What has no time of its own must not read on from the entry above.
        head = f"  {pad(entry.time or '·', 5)}  "
        indent = " " * display_width(head)
        lines += page.wrapped(first, first=head, rest=indent)
        for line in more:
            lines += page.wrapped(line, first=indent, rest=indent) if line.strip() else [""]
        if entry.cut:
            lines += page.wrapped(f"more of it: workbench show {safe_line(entry.id)}", "quiet", first=indent)
    for left_out in log.omitted:
        entries = "1 older entry" if left_out.entries == 1 else f"{left_out.entries:,} older entries"
        lines += page.wrapped(f"{entries} in {safe_line(left_out.path)}", "quiet", first="  … ")
    return [*lines, ""] if lines else []


def _notices(brief: Brief) -> list[str]:
    notices = []
    if brief.proposals_waiting:
        notices.append(f"Proposals waiting for a decision: {brief.proposals_waiting}.")
    if brief.reflection_due:
        notices.append(f"A reflection is due; episodes not looked at yet: {brief.unprocessed_episodes}.")
    return notices


def doctor_lines(page: Page, diagnosis: Diagnosis) -> list[str]:
    """List the checks, each with its remedy if it failed."""
    names = max((display_width(check.name) for check in diagnosis.checks), default=0) + 2
    drawn = [line for check in diagnosis.checks for line in check_lines(check, names, page.width)]
    return [*page.printed(drawn), "", f"{partly_words(check.state for check in diagnosis.checks)}."]


def index_lines(page: Page, status: IndexStatus) -> list[str]:
    """Describe the index, its embedder, and what it misses, as its card in the bench does."""
    card = index_card(status, page.now, status.fallback or "", by_command=True)
    return page.printed(card_lines(card, page.width, details=True))


def status_lines(page: Page, status: DaemonStatus) -> list[str]:
    """Report whether a daemon runs, its last and next work, and its problems."""
    check = daemon_check(status)
    mark, style = ("✓", "good") if status.running else ("!", "accent") if status.died else ("–", "quiet")
    who = f"Process {status.pid} looks after this memory." if status.running and status.pid else ""
    lines = [f"{page.paint(mark, style)} {who or check.detail}"]
    rows = [
        ("since" if status.running else "ran from", status.since),
        ("ended", status.ended),
        ("files looked at", status.last_sync),
        ("edits taken in", status.last_adoption),
        ("proposal written", status.last_reflection),
        *((f"next {_DUE.get(due.what, due.what)}", due.at) for due in status.next_due),
    ]
    width = max(len(name) for name, _ in rows)
    lines += [
        f"  {pad(safe_line(name), width)}  {at_minute(page, at)}" for name, at in rows if at is not None
    ]
    for problem in status.problems:
        lines += page.wrapped(safe_line(problem), first="! ")
    if not status.running:
        lines += page.wrapped(START, first="  → ")
    return lines


def daemon_check(status: DaemonStatus) -> results.audit.Check:
    """Return `doctor`'s check of the daemon."""
    if status.running:
        who = f"process {status.pid}" if status.pid else "a process"
        if status.problems:
            problems = " ".join(status.problems)
            return results.audit.Check(
                "daemon", "degraded", f"{who} runs, and says: {problems}", "See workbench daemon status"
            )
        return results.audit.Check("daemon", "ok", f"{who} looks after this memory")
    if status.died:
        return results.audit.Check(
            "daemon", "degraded", "The daemon ended without saying so; it was killed.", START
        )
    return results.audit.Check("daemon", "ok", "No daemon runs here; none has to.")


def unit_text(program: Sequence[str], workspace: str, config: str | None) -> str:
    """Return a systemd user unit.

    Args:
        program: The command that starts this program.
        workspace: The workspace folder, absolute.
        config: The user's settings file if the environment names one.
    """
    command = " ".join(map(_quoted, (*program, "--workspace", workspace, "daemon")))
    setting = f"Environment={_quoted(f'WORKBENCH_CONFIG={config}', dollars=False)}\n" if config else ""
    description = safe_line(workspace).replace("%", "%%")
    return _UNIT.format(description=description, command=command, environment=setting)


def _quoted(word: str, *, dollars: bool = True) -> str:
    """Quote a word for systemd; `$` is special in commands only."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    text = text.replace("$", "$$") if dollars else text
    plain = text.isascii() and all(letter.isalnum() or letter in "/._-+,:=@%" for letter in text)
    return text if plain and text else f'"{text}"'


def core_lines(page: Page, core: CoreView) -> list[str]:
    """Show core memory with its budget, block by block."""
    lines = page.printed([block_row("Core memory, in tokens", core.tokens, core.cap, page.width)])
    lines += _room_lines(page, core.tokens, core.cap)
    if core.blocks and core.tokens_outside:
        told = f"{core.tokens_outside:,} of them are the file’s title and what stands above the blocks"
        lines += page.wrapped(told, "quiet", first="  ")
    for block in core.blocks:
        lines += ["", *_block_lines(page, block)]
    if not core.blocks:
        lines += ["", "It is empty. Add something: workbench core add BLOCK TEXT"]
    return lines


def _room_lines(page: Page, tokens: int, budget: int | None) -> list[str]:
    """Say how much room is left where that is little, and how much is too much where it is over."""
    if budget is None or tokens < budget * _NEARLY_FULL:
        return []
    if tokens > budget:
        return page.wrapped(f"over its budget by {counted(tokens - budget, 'token')}", "bad", first="  ")
    told = "full" if tokens == budget else f"nearly full: room for {counted(budget - tokens, 'token')}"
    return page.wrapped(told, "accent", first="  ")


def _block_lines(page: Page, block: CoreBlock) -> list[str]:
    lines = page.printed([block_row(block.name, block.tokens, block.budget, page.width)])
    lines += _room_lines(page, block.tokens, block.budget)
    for item in block.items:
        lines += _item_lines(page, item)
    if not block.items:
        # The templates' comments say what belongs in an empty block.
        asked = (
            safe_line(" ".join(_COMMENT.findall(block.body)))
            if not _COMMENT.sub("", block.body).strip()
            else ""
        )
        said = f"nothing yet · {asked}" if asked else safe_line(block.body) or "nothing yet"
        lines += page.wrapped(said, "quiet", first="  ")
    return lines


def _item_lines(page: Page, item: CoreItem) -> list[str]:
    lines = page.wrapped(safe_line(item.text), first="  ◆ " if item.pinned else "  • ")
    aside = safe_line(item.id) + (" · pinned" if item.pinned else "")
    return [*lines, "    " + page.paint(aside, "quiet")]

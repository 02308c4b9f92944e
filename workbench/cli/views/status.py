"""Text of status reports: brief, doctor, daemon, search index."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cli.printing import Page, pad, safe, safe_line, wrap
from workbench.cli.views.audit import open_alert_lines
from workbench.cli.views.changes import at_minute
from workbench.engine.results.recall import IndexStatus
from workbench.engine.results.status import Brief, Check, DaemonStatus, Diagnosis

_MARKS = {"ok": ("✓", "good"), "degraded": ("!", "accent"), "broken": ("✗", "bad")}
START = "Start it with: workbench daemon"


def brief_lines(page: Page, brief: Brief) -> list[str]:
    """Print core memory, then what is pending."""
    lines = safe(brief.core).strip("\n").split("\n")
    lines += ["", page.paint(f"{brief.tokens:,} of {brief.cap:,} tokens", "quiet")]
    # Repeated changes of a file are one remark, with each change listed below it.
    notices = dict.fromkeys(safe_line(notice) for notice in brief.notices or _notices(brief))
    for notice in notices:
        lines += wrap(notice, page.width, first="! ", rest="  ")
    for alert in brief.alerts:
        lines += ["", *open_alert_lines(page, alert)]
    return lines


def _notices(brief: Brief) -> list[str]:
    notices = []
    if brief.proposals_waiting:
        notices.append(f"Proposals waiting for a decision: {brief.proposals_waiting}.")
    if brief.reflection_due:
        notices.append(f"A reflection is due; episodes not looked at yet: {brief.unprocessed_episodes}.")
    return notices


def doctor_lines(page: Page, diagnosis: Diagnosis) -> list[str]:
    """List the checks, each with its remedy if it failed."""
    width = max((len(check.name) for check in diagnosis.checks), default=0)
    lines: list[str] = []
    for check in diagnosis.checks:
        mark, style = _MARKS.get(check.state, ("?", "accent"))
        head = f"{mark} {pad(safe_line(check.name), width)}  "
        told = wrap(safe_line(check.detail), page.width, first=head)
        told[0] = page.paint(mark, style) + told[0][1:]
        lines += told
        if check.remedy:
            lines += wrap(safe_line(check.remedy), page.width, first=" " * (width + 4) + "→ ")
    broken = sum(check.state == "broken" for check in diagnosis.checks)
    degraded = sum(check.state == "degraded" for check in diagnosis.checks)
    if not broken and not degraded:
        return [*lines, "", "Everything works."]
    return [*lines, "", f"{broken} broken, {degraded} degraded; everything else works."]


def index_lines(page: Page, status: IndexStatus) -> list[str]:
    """Describe the index, its embedder, and what it misses."""
    rows = [
        ("holds", f"{status.chunks:,} chunks of {status.files:,} files, {status.entities:,} entities"),
        ("vectors", _vectors(status)),
        ("fresh", _freshness(page, status)),
        ("size", f"{status.size_bytes / 1e6:,.1f} MB"),
        ("place", status.place),
    ]
    if status.backend != "builtin":
        rows.insert(1, ("back end", status.backend))
    width = max(len(name) for name, _ in rows)
    lines: list[str] = []
    for name, told in rows:
        if told:
            lines += wrap(safe_line(told), page.width, first=f"{pad(name, width)}  ")
    if status.fallback:
        lines += wrap(safe_line(status.fallback), page.width, first="! ", rest="  ")
    return lines


def _vectors(status: IndexStatus) -> str:
    if status.provider == "none":
        return "none: words alone are searched"
    model = f", {status.model}" if status.model else ""
    return f"{status.provider}{model}" + (f", {status.dimensions} dimensions" if status.dimensions else "")


def _freshness(page: Page, status: IndexStatus) -> str:
    last = at_minute(page, status.last_sync) if status.last_sync else "never"
    if status.rebuilding is not None:
        return f"being rebuilt, {status.rebuilding:.0%} done; the old one answers"
    if status.dirty:
        waiting = f", {status.pending:,} to read" if status.pending else ""
        return f"files have changed since {last}{waiting}: workbench index"
    if status.pending:
        return f"all is read, {last}; {status.pending:,} to embed: workbench index"
    return f"up to date, {last}"


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
        lines += wrap(safe_line(problem), page.width, first="! ", rest="  ")
    if not status.running:
        lines += wrap(START, page.width, first="  → ", rest="    ")
    return lines


def daemon_check(status: DaemonStatus) -> Check:
    """Return `doctor`'s check of the daemon."""
    if status.running:
        who = f"process {status.pid}" if status.pid else "a process"
        if status.problems:
            problems = " ".join(status.problems)
            return Check(
                "daemon", "degraded", f"{who} runs, and says: {problems}", "See workbench daemon status"
            )
        return Check("daemon", "ok", f"{who} looks after this memory")
    if status.died:
        return Check("daemon", "degraded", "The daemon ended without saying so; it was killed.", START)
    return Check("daemon", "ok", "No daemon runs here; none has to.")


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

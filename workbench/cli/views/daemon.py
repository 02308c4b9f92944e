"""How the daemon is told of: its standing, the lines of its log, and the unit that systemd starts it by."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cli.printing import Page, pad, safe_line, wrap
from workbench.cli.views.times import at_minute
from workbench.engine.results.daemon import DaemonStatus
from workbench.engine.results.standing import Check

_DUE = {"sync": "look at all files", "upkeep": "upkeep", "reflect": "reflection"}
START = "Start it with: workbench daemon"
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
    """Tell whether a daemon runs, what it did last, what comes next and what does not work."""
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
    """Return the line of `doctor` about the daemon."""
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
    """Return a user unit of systemd.

    Args:
        program: The words that start this program.
        workspace: The workspace folder, absolute.
        config: The user's settings file where the environment names one.
    """
    command = " ".join(map(_quoted, (*program, "--workspace", workspace, "daemon")))
    setting = f"Environment={_quoted(f'WORKBENCH_CONFIG={config}', dollars=False)}\n" if config else ""
    description = safe_line(workspace).replace("%", "%%")
    return _UNIT.format(description=description, command=command, environment=setting)


def _quoted(word: str, *, dollars: bool = True) -> str:
    """Quote a word as systemd reads it; `$` stands for a variable in commands alone."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    text = text.replace("$", "$$") if dollars else text
    plain = text.isascii() and all(letter.isalnum() or letter in "/._-+,:=@%" for letter in text)
    return text if plain and text else f'"{text}"'

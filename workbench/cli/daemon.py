"""The command that looks after a workspace by itself, and what is asked of the process that does."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.asking_role import role_of
from workbench.cli.command import group
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.printing import Page, page_for, safe_line, write
from workbench.engine.agents.roles import Capability, parse_role, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.daemon.keeping import Told
    from workbench.engine.workspace import Workspace

daemon_command = group(
    "daemon",
    default="run",
    help="It runs in the foreground until a signal ends it, and logs one line on stderr for each thing done; with "
    "--json each line is JSON. Edits from outside are taken in as yours, changes of critical files raise alerts, the "
    "search index stays fresh, scores and the audit log are kept up, and reflection proposes when it is due. "
    "Nothing a reflection proposes is ever applied. One runs for a workspace.",
    answers="How does memory look after itself while I am away?",
    examples=(
        "workbench daemon status",
        "workbench daemon stop",
        "workbench daemon unit > ~/.config/systemd/user/workbench.service",
    ),
)


@daemon_command.bench_command("run", short_help="Look after this memory until a signal ends it", hidden=True)
@click.pass_obj
def run_command(bench: Invocation) -> int:
    """The foreground is yours or systemd’s: nothing is forked off."""
    _require_writing(bench)
    from workbench.engine.daemon.keeping import Daemon

    place = bench.locate()

    def open_door() -> Workspace:
        # No more than an agent may: approvals and critical files are a person's.
        return bench.workspace_class().open(place, role="main", clock=bench.clock(), reads_refresh=False)

    Daemon(open_door, _teller(json=bench.json)).run()
    return DONE


def _teller(*, json: bool) -> Callable[[Told], None]:
    """Return what writes the lines of the log, whole and at once."""

    def tell(told: Told) -> None:
        if json:
            from json import dumps

            from workbench.cli.json_output import as_json

            line = dumps(as_json(told), ensure_ascii=False)
            sys.stderr.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
            sys.stderr.buffer.flush()
            return
        page = page_for(sys.stderr)
        mark = page.paint("!", "accent") if told.problem else " "
        write([f"{told.time:%Y-%m-%d %H:%M:%S} {mark} {told.what:8} {safe_line(told.text)}"], to_errors=True)

    return tell


@daemon_command.bench_command(
    "status",
    short_help="Say whether a daemon runs here, and what it did last",
    answers="Is anybody looking after this memory?",
    examples=("workbench daemon status", "workbench daemon status --json"),
)
@click.pass_obj
def status_command(bench: Invocation) -> int:
    from workbench.cli.views.daemon import status_lines
    from workbench.engine.daemon.standing import read_status

    with bench.open(lenient=True) as workspace:
        status = read_status(workspace.state)
    return bench.report(status, lambda page: status_lines(page, status))


@daemon_command.bench_command(
    "stop",
    short_help="End the daemon of this workspace and wait until it is gone",
    answers="How do I end it?",
    examples=("workbench daemon stop",),
)
@click.pass_obj
def stop_command(bench: Invocation) -> int:
    _require_writing(bench)
    from workbench.engine.daemon.standing import end

    with bench.open(lenient=True) as workspace:
        status = end(workspace.state, workspace.root)

    def view(page: Page) -> list[str]:
        if not status.running:
            return ["No daemon runs here."]
        return [f"{page.paint('✓', 'good')} Process {status.pid} has ended."]

    return bench.report({"stopped": status.running, "pid": status.pid if status.running else None}, view)


@daemon_command.bench_command(
    "unit",
    short_help="Print a user unit that has systemd run it",
    answers="How does it start with my machine?",
    examples=("workbench daemon unit > ~/.config/systemd/user/workbench.service",),
)
@click.pass_obj
def unit_command(bench: Invocation) -> int:
    """Then: systemctl --user enable --now workbench. For a second workspace, give the file another name."""
    from workbench.cli.views.daemon import unit_text

    found = shutil.which("workbench")
    program = [str(Path(found).absolute())] if found else [sys.executable, "-m", "workbench"]
    config = os.environ.get("WORKBENCH_CONFIG") or None
    text = unit_text(
        program, str(bench.locate().resolve()), config and str(Path(config).expanduser().absolute())
    )
    return bench.report_text({"unit": text}, text)


def _require_writing(bench: Invocation) -> None:
    role = parse_role(role_of(bench.role))
    require(role, Capability.WRITE_MEMORY, doing="run or end the daemon")

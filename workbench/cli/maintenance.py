"""Commands that look after an installation: index, daemon, doctor and completion."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command, group
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.options import role_of
from workbench.cli.printing import Page, ProgressLine, page_for, safe_line, wrap, write
from workbench.engine.results.recall import IndexStatus
from workbench.engine.results.status import Check
from workbench.engine.roles import Capability, parse_role, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.daemon.loop import Told
    from workbench.engine.workspace import Workspace


SHELLS = ("bash", "zsh", "fish")
_AFTERWARDS = (
    "Memory itself is untouched. The next change begins a new history; workbench init begins it now."
)


@command(
    "doctor",
    answers="Something seems wrong; what is it, and what do I do?",
    examples=("workbench doctor", "workbench doctor --set-aside-history"),
)
@click.option("--set-aside-history", is_flag=True, help="Move a damaged history away and begin a new one.")
@click.option("-y", "--yes", is_flag=True, help="Do that without asking.")
@click.pass_obj
def doctor_command(bench: Invocation, set_aside_history: bool, yes: bool) -> int:
    """Changes nothing, unless told to. The exit code is 1 where something is broken; what is merely degraded
    still works. Where your own settings, the state and the cache are is said too. A local model is loaded and run
    once, also where that failed before. A history that is set aside stays beside the memory, whole, and can be
    moved back.
    """
    if set_aside_history:
        return _set_history_aside(bench, agreed=yes)
    with bench.open(lenient=True) as workspace:
        diagnosis = workspace.doctor()
        daemon = _daemon(workspace)
    diagnosis = replace(diagnosis, checks=(*diagnosis.checks, daemon, _own_settings()))

    def view(page: Page) -> list[str]:
        from workbench.cli.views.status import doctor_lines

        return doctor_lines(page, diagnosis)

    return bench.report(diagnosis, view)


def _daemon(workspace: Workspace) -> Check:
    from workbench.cli.views.status import daemon_check
    from workbench.engine.daemon.process import read_status

    return daemon_check(read_status(workspace.state))


def _own_settings() -> Check:
    from workbench.engine.settings.directories import user_settings_file

    file = user_settings_file(os.environ)
    return Check("config", "ok", str(file) if file.exists() else f"{file} (none yet)")


def _set_history_aside(bench: Invocation, *, agreed: bool) -> int:
    question = "Set the history aside, so that undo, audit and alerts start over?"
    with bench.open() as workspace:
        if not agreed and not bench.confirm(question):
            bench.warn(["Nothing was changed."])
            return DONE
        place = workspace.set_aside_history()

    def view(page: Page) -> list[str]:
        name = safe_line(place.name)
        return [
            f"{page.paint('✓', 'good')} The history is in {page.paint(name, 'place')} now; nothing of it was deleted.",
            *(page.paint(line, "quiet") for line in wrap(_AFTERWARDS, page.width, first="  ")),
        ]

    account: dict[str, object] = {"ok": True, "commit": None, "files": [], "ids": [], "setAside": place.name}
    return bench.report(account, view)


@command(
    "completion",
    answers="How do I get commands and options with the tab key?",
    examples=(
        'eval "$(workbench completion bash)"',
        "workbench completion fish > ~/.config/fish/completions/workbench.fish",
    ),
)
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.pass_obj
def completion_command(bench: Invocation, shell: str | None) -> int:
    """Without a name it is the shell of $SHELL. The example is a line for your shell’s startup file."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"Name your shell: {', '.join(SHELLS)}.", click.get_current_context())
    from click.shell_completion import get_completion_class

    from workbench.cli.root import COMPLETION_VARIABLE, PROGRAM, workbench

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(workbench, {}, PROGRAM, COMPLETION_VARIABLE).source()
    return bench.report_text({"shell": shell, "script": script}, script)


index_command = group(
    "index",
    default="update",
    help="The index is made from the files alone and kept outside the workspace; deleting it loses nothing. "
    "Searching brings it up to date by itself.",
    answers="Does search know everything, and what makes its vectors?",
    examples=("workbench index", "workbench index --force", "workbench index status"),
)


@index_command.bench_command("update", short_help="Bring the index up to date with the files", hidden=True)
@click.option(
    "--force",
    is_flag=True,
    help="Build it again beside the old one, which answers meanwhile; try a failed local model again.",
)
@click.option("--download", is_flag=True, help="First fetch the local model that the settings name.")
@click.pass_obj
def update(bench: Invocation, force: bool, download: bool) -> int:
    progress = _Progress()
    with bench.open() as workspace:
        if download:
            from workbench.engine.providers.selection import download_model_of

            download_model_of(workspace.settings.embedding, progress=progress.bytes)
        status = workspace.index(force=force, progress=progress.chunks)
    progress.end()
    return _report(bench, status)


@index_command.bench_command(
    "status",
    short_help="Say what the index holds and how fresh it is",
    answers="Which provider makes the vectors, and is anything missing?",
    examples=("workbench index status", "workbench index status --json"),
)
@click.pass_obj
def status(bench: Invocation) -> int:
    with bench.open() as workspace:
        found = workspace.index_status()
    return _report(bench, found)


def _report(bench: Invocation, status: IndexStatus) -> int:
    def view(page: Page) -> list[str]:
        from workbench.cli.views.status import index_lines

        return index_lines(page, status)

    return bench.report(status, view)


class _Progress(ProgressLine):
    """What indexing and downloading tell of themselves."""

    def chunks(self, done: int, total: int) -> None:
        self.tell(f"Indexing {done:,} of {total:,}", at_once=done == total)

    def bytes(self, done: int, total: int | None) -> None:
        megabytes = f"{done / 1e6:,.0f}" + (f" of {total / 1e6:,.0f} MB" if total else " MB")
        self.tell(f"Downloading {megabytes}", at_once=done == total)


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
    from workbench.engine.daemon.loop import Daemon

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
    from workbench.cli.views.status import status_lines
    from workbench.engine.daemon.process import read_status

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
    from workbench.engine.daemon.process import end

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
    from workbench.cli.views.status import unit_text

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

"""Commands that look after an installation: index, daemon, settings, doctor and completion."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli import collect_garbage_as_usual
from workbench.cli.command import command, group, program_words
from workbench.cli.invocation import DONE, Invocation, as_json, role_of
from workbench.cli.root import COMPLETION_VARIABLE, PROGRAM, workbench
from workbench.display.changes import account_lines
from workbench.display.settings import who_says
from workbench.display.status import daemon_check, doctor_lines, index_lines, status_lines, unit_text
from workbench.display.text import Page, ProgressLine, page_for, safe_line, write
from workbench.engine.clients.connecting import survey
from workbench.engine.clients.known import Machine
from workbench.engine.clients.probing import check_connections
from workbench.engine.daemon.process import end, read_status
from workbench.engine.results.audit import Check
from workbench.engine.roles import Capability, parse_role, require
from workbench.engine.settings.sections import user_settings_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from workbench.engine.daemon.loop import Told
    from workbench.engine.results.settings import SettingChanged, SettingsListed
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
def doctor_command(invocation: Invocation, set_aside_history: bool, yes: bool) -> int:
    """Changes nothing, unless told to. The exit code is 1 where something is broken; what is merely degraded
    still works. Where your own settings, the state and the cache are is said too. The server of each program that is
    connected is started with the very command written there, and asked for its tools. A local model is loaded and run
    once, also where that failed before. A history that is set aside stays beside the memory, whole, and can be
    moved back.
    """
    if set_aside_history:
        return _set_history_aside(invocation, agreed=yes)
    with invocation.open(lenient=True) as workspace:
        diagnosis = workspace.doctor()
        daemon = daemon_check(read_status(workspace.state))
    file = user_settings_file(os.environ)
    settings = Check("config", "ok", str(file) if file.exists() else f"{file} (none yet)")
    connected = tuple(check_connections(survey(Machine.present()).clients))
    checks = (*diagnosis.checks, daemon, settings, *connected)
    diagnosis = replace(
        diagnosis, checks=checks, ok=diagnosis.ok and all(one.state != "broken" for one in connected)
    )
    return invocation.report(diagnosis, doctor_lines)


def _set_history_aside(invocation: Invocation, *, agreed: bool) -> int:
    question = "Set the history aside, so that undo, audit and alerts start over?"
    with invocation.open() as workspace:
        if not agreed and not invocation.confirm(question):
            invocation.warn(["Nothing was changed."])
            return DONE
        place = workspace.set_aside_history()

    def draw(page: Page, _account: object) -> list[str]:
        name = page.paint(safe_line(place.name), "place")
        told = page.done(f"The history is in {name} now; nothing of it was deleted.")
        return [told, *page.wrapped(_AFTERWARDS, "quiet", first="  ")]

    account: dict[str, object] = {"ok": True, "commit": None, "files": [], "ids": [], "setAside": place.name}
    return invocation.report(account, draw)


@command(
    "completion",
    answers="How do I get commands and options with the tab key?",
    examples=(
        'eval "$(workbench completion bash)"',
        "workbench completion fish > ~/.config/fish/completions/workbench.fish",
    ),
)
@click.argument("shell", required=False, type=click.Choice(SHELLS))
def completion_command(invocation: Invocation, shell: str | None) -> int:
    """Without a name it is the shell of $SHELL. The example is a line for your shell’s startup file."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"Name your shell: {', '.join(SHELLS)}.", click.get_current_context())
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(workbench, {}, PROGRAM, COMPLETION_VARIABLE).source()
    return invocation.report_text({"shell": shell, "script": script}, script)


index_command = group(
    "index",
    default="update",
    help="The index is made from the files alone and kept outside the workspace; deleting it loses nothing. "
    "Searching brings it up to date by itself.",
    answers="Does search know everything, and what makes its vectors?",
    examples=("workbench index", "workbench index --force", "workbench index status"),
)


@index_command.subcommand("update", short_help="Bring the index up to date with the files", hidden=True)
@click.option(
    "--force",
    is_flag=True,
    help="Build it again beside the old one, which answers meanwhile; try a failed local model again.",
)
@click.option("--download", is_flag=True, help="First fetch the local model that the settings name.")
def update(invocation: Invocation, force: bool, download: bool) -> int:
    def chunks(done: int, total: int) -> None:
        line.tell(f"Indexing {done:,} of {total:,}", at_once=done == total)

    def fetched(done: int, total: int | None) -> None:
        megabytes = f"{done / 1e6:,.0f}" + (f" of {total / 1e6:,.0f} MB" if total else " MB")
        line.tell(f"Downloading {megabytes}", at_once=done == total)

    with invocation.open() as workspace, ProgressLine() as line:
        if download:
            from workbench.engine.providers.embedding.local import download_model

            download_model(workspace.settings.embedding, progress=fetched)
        status = workspace.index(force=force, progress=chunks)
    return invocation.report(status, index_lines)


@index_command.subcommand(
    "status",
    short_help="Say what the index holds and how fresh it is",
    answers="Which provider makes the vectors, and is anything missing?",
    examples=("workbench index status", "workbench index status --json"),
)
def status(invocation: Invocation) -> int:
    return invocation.ask(lambda it: it.index_status(), index_lines)


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


@daemon_command.subcommand("run", short_help="Look after this memory until a signal ends it", hidden=True)
def run_command(invocation: Invocation) -> int:
    """The foreground is yours or systemd’s: nothing is forked off."""
    _require_writing(invocation)
    from workbench.engine.clients.answering import HookServer
    from workbench.engine.daemon.loop import Daemon

    place = invocation.locate()

    def open_door() -> Workspace:
        # No more than an agent may: approvals and critical files are a person's.
        return invocation.workspace_class().open(
            place, role="main", clock=invocation.clock(), reads_refresh=False
        )

    def open_for_hooks(role: str) -> Workspace:
        # A hook waits for nobody who writes.
        return invocation.workspace_class().open(place, role=role, clock=invocation.clock(), lock_timeout=0)

    def hooks(tell: Callable[[str], None]) -> AbstractContextManager[None]:
        root = Path(os.path.realpath(place))
        return HookServer(root, open_for_hooks, invocation.clock(), tell).listening()

    collect_garbage_as_usual()
    Daemon(open_door, _teller(as_lines=invocation.json), beside=hooks).run()
    return DONE


def _teller(*, as_lines: bool) -> Callable[[Told], None]:
    """Return what writes the lines of the log, whole and at once."""

    def tell(told: Told) -> None:
        if as_lines:
            line = json.dumps(as_json(told), ensure_ascii=False)
            sys.stderr.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
            sys.stderr.buffer.flush()
            return
        page = page_for(sys.stderr)
        mark = page.paint("!", "accent") if told.problem else " "
        write([f"{told.time:%Y-%m-%d %H:%M:%S} {mark} {told.what:8} {safe_line(told.text)}"], to_errors=True)

    return tell


@daemon_command.subcommand(
    "status",
    short_help="Say whether a daemon runs here, and what it did last",
    answers="Is anybody looking after this memory?",
    examples=("workbench daemon status", "workbench daemon status --json"),
)
def status_command(invocation: Invocation) -> int:
    with invocation.open(lenient=True) as workspace:
        status = read_status(workspace.state)
    return invocation.report(status, status_lines)


@daemon_command.subcommand(
    "stop",
    short_help="End the daemon of this workspace and wait until it is gone",
    answers="How do I end it?",
    examples=("workbench daemon stop",),
)
def stop_command(invocation: Invocation) -> int:
    _require_writing(invocation)
    with invocation.open(lenient=True) as workspace:
        status = end(workspace.state, workspace.root)

    def draw(page: Page, _ended: object) -> list[str]:
        return [page.done(f"Process {status.pid} has ended.") if status.running else "No daemon runs here."]

    return invocation.report({"stopped": status.running, "pid": status.pid if status.running else None}, draw)


@daemon_command.subcommand(
    "unit",
    short_help="Print a user unit that has systemd run it",
    answers="How does it start with my machine?",
    examples=("workbench daemon unit > ~/.config/systemd/user/workbench.service",),
)
def unit_command(invocation: Invocation) -> int:
    """Then: systemctl --user enable --now workbench. For a second workspace, give the file another name."""
    config = os.environ.get("WORKBENCH_CONFIG") or None
    text = unit_text(
        program_words(),
        str(invocation.locate().resolve()),
        config and str(Path(config).expanduser().absolute()),
    )
    return invocation.report_text({"unit": text}, text)


def _require_writing(invocation: Invocation) -> None:
    role = parse_role(role_of(invocation.role))
    require(role, Capability.WRITE_MEMORY, doing="run or end the daemon")


settings_command = group(
    "settings",
    default="show",
    help="Each setting with its value and who says so: this workspace’s workbench.toml, your own config.toml, a "
    "variable, another program, or nobody.",
    answers="What is set here, where, and how do I change it?",
    examples=("workbench settings", 'workbench settings set decay.lambda "35 days"'),
)


@settings_command.subcommand("show", short_help="List the settings", hidden=True)
@click.option("--set", "only_set", is_flag=True, help="Only those that somebody set.")
def show(invocation: Invocation, only_set: bool) -> int:
    def draw(page: Page, listed: SettingsListed) -> list[str]:
        rows = [row for row in listed.settings if row.source != "default" or not only_set]
        width = max((len(row.key) for row in rows), default=0)
        lines: list[str] = []
        under = ""
        for row in rows:
            if row.section != under:
                under = row.section
                lines += [*([""] if lines else []), page.paint(under, "strong")]
            who = "" if row.source == "default" else page.paint(f"  {who_says(row)}", "quiet")
            lines.append(f"  {row.key:<{width}}  {safe_line(row.said)}{who}")
        return lines or ["Nobody set anything."]

    return invocation.ask(lambda it: it.settings_listed(), draw)


@settings_command.subcommand(
    "set",
    short_help="Change one",
    answers="How do I change this setting?",
    examples=("workbench settings set core.cap 2500", 'workbench settings set decay.lambda "35 days"'),
)
@click.argument("key")
@click.argument("value")
@click.option("--mine", is_flag=True, help="In your own config.toml, for all workspaces.")
def set_setting(invocation: Invocation, key: str, value: str, mine: bool) -> int:
    """VALUE is written as the list says it. What only you may set goes to your own config.toml."""
    return _change_setting(invocation, lambda it: it.setting_change(key, value, own=mine))


@settings_command.subcommand(
    "reset",
    short_help="Put one back to its default",
    answers="How do I take a setting back?",
    examples=("workbench settings reset core.cap",),
)
@click.argument("key")
def reset(invocation: Invocation, key: str) -> int:
    """Takes it out of the file that sets it; the next weaker one counts then, or the default."""
    return _change_setting(invocation, lambda it: it.setting_reset(key))


def _change_setting(invocation: Invocation, change: Callable[[Workspace], SettingChanged]) -> int:
    with invocation.open() as workspace:
        changed = change(workspace)

    def draw(page: Page, changed: SettingChanged) -> list[str]:
        name = safe_line(changed.key)
        if not changed.file:
            return [f"{name} is {safe_line(changed.after)} already."]
        said = f"{name} is {safe_line(changed.after)} now, in {safe_line(changed.file)}."
        return [page.done(said), *account_lines(page, changed)]

    return invocation.report(changed, draw)

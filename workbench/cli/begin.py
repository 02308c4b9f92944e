"""Commands that begin: lay out a workspace, build the sample, open the bench here or in a browser."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import cast

import click

from workbench.cli.command import command, complete_memory_or_file
from workbench.cli.invocation import DONE, Invocation, NoTerminal, refuse_for_a_scope, role_of
from workbench.display.text import Page, ProgressLine, bar, safe_line, write
from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.results.memories import Changed
from workbench.engine.roles import Capability, parse_role, require

SAMPLE_FOLDER = Path("workbench-demo")
BAR = 24
_BUILDING = "Building the sample: four months of a person and an agent"


@command(
    "init",
    answers="How do I start, with an empty folder or with an agent’s memory as it is?",
    examples=("workbench init ~/agent", "workbench init --timezone Europe/Vienna"),
)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--timezone", metavar="ZONE", help="Zone of its days, such as Asia/Taipei; else the system’s.")
def init_command(invocation: Invocation, path: Path | None, timezone: str | None) -> int:
    """An empty folder gets the templates. A folder that holds memory keeps every file as it is; only the
    history (.audit) is added, and what is there becomes its first commit.
    """
    place = path or invocation.workspace or Path.cwd()
    require(parse_role(role_of(invocation.role)), Capability.WRITE_MEMORY, doing="make a workspace")
    had_history = (place / layout.HISTORY).exists()
    changed = invocation.workspace_class().init(place, clock=invocation.clock(), timezone=timezone)
    zone = None
    if changed.commit is not None and not invocation.json:
        with invocation.workspace_class().open(place, role="person", clock=invocation.clock()) as workspace:
            zone = workspace.settings.timezone

    def draw(page: Page, changed: Changed) -> list[str]:
        if changed.commit is None and changed.warnings and not had_history:
            return [f"{safe_line(str(place))} is a workspace now; its history begins as soon as you decide."]
        if changed.commit is None:
            return [f"{safe_line(str(place))} is a workspace already; nothing had to change."]
        files = f"{len(changed.files)} files" if len(changed.files) != 1 else "1 file"
        now = "is a workspace already; taken into its history" if had_history else "is a workspace now"
        made = page.done(f"{safe_line(str(place))} {now}: {files}, commit")
        here = place.resolve() == Path.cwd()
        lines = [f"{made} {page.paint(changed.commit[:7], 'quiet')}."]
        if zone:
            lines.append(f"  Its days are those of {safe_line(zone)}; the setting “timezone” changes that.")
        return [*lines, "  Open it: workbench" + ("" if here else f" open {safe_line(str(place))}")]

    return invocation.report(changed, draw)


@command(
    "demo",
    answers="What does this look like with some months of life in it?",
    examples=("workbench demo", "workbench demo /tmp/sample --no-open"),
)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--no-open", is_flag=True, help="Only build it.")
def demo_command(invocation: Invocation, path: Path | None, no_open: bool) -> int:
    """The sample is built in ./workbench-demo unless you say where. It is a workspace like any other: change
    it, undo it, delete it. If it is there already, it is left as it is.
    """
    place = path or invocation.workspace or SAMPLE_FOLDER
    will_open = not no_open and not invocation.json
    if will_open:
        _need_terminal("Build it without opening: workbench demo --no-open")
    # Read by name, since the demo is a package of its own that most runs never need.
    build = cast("Callable[..., Changed]", import_module("workbench.demo.sample").build)
    there_before = (place / layout.HISTORY).exists()

    def told(done: int, total: int) -> None:
        share = done / max(total, 1)
        line.tell(f"{_BUILDING}  {bar(share, BAR)} {share:4.0%}")

    with ProgressLine() as line:
        if not there_before:
            line.tell(_BUILDING, at_once=True)
        changed = build(place, clock=invocation.clock(), progress=told)

    def draw(page: Page, _changed: Changed) -> list[str]:
        said = "was here already, and is left as it was" if there_before else "is ready"
        lines = [page.done(f"The sample {said}: {safe_line(str(place))}")]
        if will_open:
            return lines
        here = f"workbench --workspace {safe_line(quote(str(place)))}"
        return [*lines, f"  Open it: {here}", f"  Or ask it something: {here} search invoices"]

    code = invocation.report(changed, draw)
    return _run_bench(place, None, role_of(invocation.role)) if will_open else code


@command(
    "open",
    answers="Where do I see this memory among the others?",
    examples=("workbench open", "workbench open MEMORY.md"),
)
@click.argument("at", metavar="[ID-OR-PATH]", required=False, shell_complete=complete_memory_or_file)
def open_command(invocation: Invocation, at: str | None) -> int:
    """Takes a memory’s id, the path of a memory file, or a workspace folder."""
    if at is not None and invocation.workspace is None and Path(at).is_dir():
        invocation.workspace, at = Path(at), None
    return open_bench(invocation, at)


def open_bench(invocation: Invocation, at: str | None = None) -> int:
    """Open the bench on the workspace that is meant.

    Raises:
        NoTerminal: Nobody could see it.
        RoleRefused: A role was asked for that may do more than the environment allows.
    """
    _need_terminal("Ask for what you need instead: workbench --help")
    refuse_for_a_scope()
    role = role_of(invocation.role)
    path = invocation.find_or_none()
    if path is None and at is None and role == "person":
        begun = _begin_somewhere(invocation)
        if begun is None:
            return DONE
        path, at = begun
    return _run_bench(path or invocation.locate(), at, role)


def _begin_somewhere(invocation: Invocation) -> tuple[Path, str | None] | None:
    """Let the person choose what to begin with, where there is no workspace; None where they leave."""
    first_minute = import_module("workbench.tui.first_minute").first_minute

    def build(place: Path, told: Callable[[int, int], object]) -> object:
        return import_module("workbench.demo.sample").build(place, clock=invocation.clock(), progress=told)

    def make(place: Path) -> object:
        return invocation.workspace_class().init(place, clock=invocation.clock())

    begun = first_minute(SAMPLE_FOLDER, build=build, make=make)
    if begun is None:
        return None
    return begun.place, f"import:{begun.brings}" if begun.brings is not None else None


def _need_terminal(remedy: str) -> None:
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise NoTerminal("The bench needs a terminal, and this is not one.", remedy=remedy)


def _run_bench(path: Path, at: str | None, role: str) -> int:
    refuse_for_a_scope()
    run_app = cast("Callable[..., None]", import_module("workbench.tui.launch").run)
    run_app(path, at=at, role=role)
    return DONE


@command(
    "web",
    help="Serves the bench to a browser on this machine until you end it with Ctrl-C. The address has a token, and "
    "without it nothing is answered. Each page has a bench of its own; your editor and your clipboard’s program are "
    "not used there.",
    answers="Can I have the bench in a browser?",
    examples=("workbench web", "workbench web --port 8080"),
)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Where to listen; any port that is free if left out.",
)
@click.option(
    "--let-others-in",
    is_flag=True,
    help="Listen at an address that other machines reach, without encryption. Whoever has the token sees all memory.",
)
def web_command(invocation: Invocation, host: str, port: int, let_others_in: bool) -> int:
    refuse_for_a_scope()
    role, path = role_of(invocation.role), invocation.locate()
    try:
        serve = cast("Callable[..., None]", import_module("workbench.tui.web").serve)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"The browser needs a library that is not installed: {error.name}.",
            remedy="Install it with: pip install 'memory-workbench[web]'",
        ) from error

    def told(address: str) -> None:
        write([f"The bench of {safe_line(str(path))} is at", "", f"  {address}", "", "Ctrl-C ends it."])

    # Opened once here, so that what is wrong with it is said in the terminal.
    with invocation.workspace_class().open(path, role=role, clock=invocation.clock()):
        pass
    serve(path.resolve(), role, told=told, host=host, port=port, lets_others_in=let_others_in)
    return DONE

"""Commands that begin: lay out a workspace, build the sample, open the bench."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import cast

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation, NoTerminal, refuse_for_a_scope
from workbench.cli.options import complete_memory_or_file, role_of
from workbench.cli.printing import Page, bar, page_for, safe_line
from workbench.engine import layout
from workbench.engine.results.memories import Changed
from workbench.engine.roles import Capability, parse_role, require

SAMPLE_FOLDER = Path("workbench-demo")
BAR = 24


@command(
    "init",
    answers="How do I start, with an empty folder or with an agent’s memory as it is?",
    examples=("workbench init ~/agent", "workbench init --timezone Europe/Vienna"),
)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--timezone", metavar="ZONE", help="Zone of its days, such as Asia/Taipei; else the system’s.")
@click.pass_obj
def init_command(bench: Invocation, path: Path | None, timezone: str | None) -> int:
    """An empty folder gets the templates. A folder that holds memory keeps every file as it is; only the
    history (.audit) is added, and what is there becomes its first commit.
    """
    place = path or bench.workspace or Path.cwd()
    require(parse_role(role_of(bench.role)), Capability.WRITE_MEMORY, doing="make a workspace")
    had_history = (place / layout.HISTORY).exists()
    changed = bench.workspace_class().init(place, clock=bench.clock(), timezone=timezone)
    zone = None
    if changed.commit is not None and not bench.json:
        with bench.workspace_class().open(place, role="person", clock=bench.clock()) as workspace:
            zone = workspace.settings.timezone

    def view(page: Page) -> list[str]:
        if changed.commit is None and changed.warnings and not had_history:
            return [f"{safe_line(str(place))} is a workspace now; its history begins as soon as you decide."]
        if changed.commit is None:
            return [f"{safe_line(str(place))} is a workspace already; nothing had to change."]
        files = f"{len(changed.files)} files" if len(changed.files) != 1 else "1 file"
        made = f"{page.paint('✓', 'good')} {safe_line(str(place))} is a workspace now: {files}, commit"
        here = place.resolve() == Path.cwd()
        lines = [f"{made} {page.paint(changed.commit[:7], 'quiet')}."]
        if zone:
            lines.append(f"  Its days are those of {safe_line(zone)}; the setting “timezone” changes that.")
        return [*lines, "  Open it: workbench" + ("" if here else f" open {safe_line(str(place))}")]

    return bench.report(changed, view)


@command(
    "demo",
    answers="What does this look like with some months of life in it?",
    examples=("workbench demo", "workbench demo /tmp/sample --no-open"),
)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--no-open", is_flag=True, help="Only build it.")
@click.pass_obj
def demo_command(bench: Invocation, path: Path | None, no_open: bool) -> int:
    """The sample is built in ./workbench-demo unless you say where. It is a workspace like any other: change
    it, undo it, delete it. If it is there already, it is left as it is.
    """
    place = path or bench.workspace or SAMPLE_FOLDER
    will_open = not no_open and not bench.json
    if will_open:
        _need_terminal("Build it without opening: workbench demo --no-open")
    # Read by name, since the demo is a package of its own that most runs never need.
    build = cast(Callable[..., Changed], import_module("workbench.demo.sample").build)
    there_before = (place / layout.HISTORY).exists()
    changed = build(place, clock=bench.clock(), progress=_progress(bench))

    def view(page: Page) -> list[str]:
        said = "was here already, and is left as it was" if there_before else "is ready"
        lines = [f"{page.paint('✓', 'good')} The sample {said}: {safe_line(str(place))}"]
        if will_open:
            return lines
        here = f"workbench --workspace {safe_line(quote(str(place)))}"
        return [*lines, f"  Open it: {here}", f"  Or ask it something: {here} search wave"]

    code = bench.report(changed, view)
    return _run_bench(place, None, role_of(bench.role)) if will_open else code


@command(
    "open",
    answers="Where do I see this memory among the others?",
    examples=("workbench open", "workbench open MEMORY.md"),
)
@click.argument("at", metavar="[ID-OR-PATH]", required=False, shell_complete=complete_memory_or_file)
@click.pass_obj
def open_command(bench: Invocation, at: str | None) -> int:
    """Takes a memory’s id, the path of a memory file, or a workspace folder."""
    if at is not None and bench.workspace is None and Path(at).is_dir():
        bench.workspace, at = Path(at), None
    return open_bench(bench, at)


def open_bench(bench: Invocation, at: str | None = None) -> int:
    """Open the bench on the workspace that is meant.

    Raises:
        NoTerminal: Nobody could see it.
        RoleRefused: A role was asked for that may do more than the environment allows.
    """
    _need_terminal("Ask for what you need instead: workbench --help")
    return _run_bench(bench.locate(), at, role_of(bench.role))


def _need_terminal(remedy: str) -> None:
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise NoTerminal("The bench needs a terminal, and this is not one.", remedy=remedy)


def _run_bench(path: Path, at: str | None, role: str) -> int:
    refuse_for_a_scope()
    run_app = cast(Callable[..., None], import_module("workbench.tui.launch").run)
    run_app(path, at=at, role=role)
    return DONE


def _progress(bench: Invocation) -> Callable[[int, int], None]:
    """Return what draws progress on stderr: a line that rewrites itself, where a person looks on."""
    page = page_for(sys.stderr)
    drawn: set[int] = set()

    def draw(done: int, total: int) -> None:
        percent = 100 * done // max(total, 1)
        if bench.json or not page.terminal or percent in drawn:
            return
        drawn.add(percent)
        # Erases itself when all is done.
        line = f"  {bar(percent / 100, BAR)} {percent:3d}%" if done < total else ""
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    return draw

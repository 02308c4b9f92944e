"""The command that shows memory as it was, in whole or any one thing of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, safe_line
from workbench.engine.errors import NotFound

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


@command(
    "at",
    short_help="Show memory as it was at a moment",
    answers="What did the agent know back then?",
    examples=(
        "workbench audit at 3d",
        "workbench audit at abc1234 --core",
        "workbench audit at 2w --path MEMORY.md --raw",
        "workbench audit at 3d --show person--sam-okafor",
        "workbench audit at yesterday --graph person--sam-okafor --depth 2",
        "workbench audit at 2w --against now",
        "workbench audit at 2w --copy-to /tmp/as-it-was",
    ),
)
@click.argument("moment", metavar="TIME-OR-COMMIT")
@click.argument("ids", metavar="[ID]…", nargs=-1)
@click.option("--path", "--file", "path", metavar="PATH", help="Print this file as it was.")
@click.option("--raw", is_flag=True, help="With --path: its very bytes.")
@click.option("--core", is_flag=True, help="Show core memory.")
@click.option("--show", "memory", metavar="ID", help="Show one memory.")
@click.option("--graph", "entity", metavar="ENTITY", help="Show an entity and what lay around it.")
@click.option("--depth", type=click.IntRange(0, 6), metavar="N", help="With --graph: so many steps away; 1.")
@click.option("--scores", is_flag=True, help="Show the scores of the memories named by ID, or of all.")
@click.option(
    "--against",
    metavar="MOMENT",
    help="Show what differs at this later moment; now is the files as they are.",
)
@click.option(
    "--copy-to",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write every file out into a new or empty folder.",
)
@click.pass_obj
def at(
    bench: Invocation,
    moment: str,
    ids: tuple[str, ...],
    path: str | None,
    raw: bool,
    core: bool,
    memory: str | None,
    entity: str | None,
    depth: int | None,
    scores: bool,
    against: str | None,
    folder: Path | None,
) -> int:
    """A commit, or the newest commit not later than TIME: a day means its end, in the workspace's time zone; 3d, 12h
    and 2w are so long ago. Nothing is changed; `rollback` does that. Scores are computed for that moment with the
    settings as they are now.
    """
    asked = {"path": path, "memory": memory, "entity": entity, "against": against, "folder": folder}
    chosen = [name for name, value in asked.items() if value is not None]
    chosen += [name for name, value in (("core", core), ("scores", scores)) if value]
    _require_one(chosen, raw=raw, depth=depth, ids=ids)
    with bench.open() as workspace:
        if path is not None:
            return _file(bench, workspace, moment, path, raw=raw)
        if against is not None:
            return _comparison(bench, workspace, moment, against)
        if not chosen:
            return _overview(bench, workspace, moment)
        return _one_thing(
            bench, workspace, moment, ids, core, memory, entity, 1 if depth is None else depth, folder
        )


def _require_one(chosen: list[str], *, raw: bool, depth: int | None, ids: tuple[str, ...]) -> None:
    context = click.get_current_context()
    if len(chosen) > 1:
        raise click.UsageError(
            "Give one of --path, --core, --show, --graph, --scores, --against and --copy-to.", context
        )
    if raw and chosen != ["path"]:
        raise click.UsageError("--raw goes with --path.", context)
    if depth is not None and chosen != ["entity"]:
        raise click.UsageError("--depth goes with --graph.", context)
    if ids and chosen != ["scores"]:
        raise click.UsageError("Ids go with --scores; one memory is shown by --show ID.", context)


def _overview(bench: Invocation, workspace: Workspace, moment: str) -> int:
    found = workspace.audit_at(moment)
    core = workspace.at(found.commit).core() if found.commit and not bench.json else None

    def view(page: Page) -> list[str]:
        from workbench.cli.views.past import moment_lines

        return moment_lines(page, found, core)

    return bench.report(found, view, code=DONE if found.commit else NOTHING_FOUND)


def _file(bench: Invocation, workspace: Workspace, moment: str, path: str, *, raw: bool) -> int:
    if raw and not bench.json:
        content = workspace.at(moment).get(path)
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return DONE
    found = workspace.audit_at(moment, path=path)
    if not found.files:
        raise NotFound(
            f"There was no such file at {safe_line(moment)}.",
            where=path,
            remedy=f"List what there was: workbench audit at {safe_line(moment)}",
        )
    return bench.report_text(found, found.files[0].text or "")


def _comparison(bench: Invocation, workspace: Workspace, moment: str, against: str) -> int:
    compared = workspace.compare(moment, None if against.strip() == "now" else against)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.past import comparison_lines

        return comparison_lines(page, compared)

    return bench.report(compared, view)


def _one_thing(
    bench: Invocation,
    workspace: Workspace,
    moment: str,
    ids: tuple[str, ...],
    core: bool,
    memory: str | None,
    entity: str | None,
    depth: int,
    folder: Path | None,
) -> int:
    from workbench.cli.views.core import core_lines
    from workbench.cli.views.graph import graph_lines
    from workbench.cli.views.past import copied_lines, scores_lines
    from workbench.cli.views.shown import shown_lines
    from workbench.engine.results.past import PastScores

    past = workspace.at(moment)
    if core:
        held = past.core()
        return bench.report(held, lambda page: core_lines(page, held))
    if memory is not None:
        shown = past.show(memory)
        return bench.report(shown, lambda page: shown_lines(page, shown))
    if entity is not None:
        graph = past.graph(entity, depth=depth)
        return bench.report(graph, lambda page: graph_lines(page, graph))
    if folder is not None:
        copied = past.copy_to(folder)
        return bench.report(copied, lambda page: copied_lines(page, copied))
    scores = PastScores(past.commit, past.timestamp, tuple(past.scores(ids or None)))
    code = DONE if scores.scores else NOTHING_FOUND
    return bench.report(scores, lambda page: scores_lines(page, scores), code=code)

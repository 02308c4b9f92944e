"""Commands that account for memory: the audit trail, memory as it was, undo, redo, revert and rollback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import command, complete_file, group
from workbench.cli.invocation import DONE, FAILED, NOTHING_FOUND, Invocation
from workbench.display.audit import (
    actions_lines,
    alert_lines,
    blame_lines,
    commit_lines,
    comparison_lines,
    copied_lines,
    diff_lines,
    log_lines,
    moment_lines,
    scores_lines,
    since_lines,
    verified_lines,
)
from workbench.display.changes import changed_lines
from workbench.display.graph import graph_lines
from workbench.display.memories import shown_lines
from workbench.display.status import core_lines
from workbench.display.text import Page, ProgressLine, clip, safe_line
from workbench.engine.errors import ConfirmationNeeded, NotFound
from workbench.engine.results.audit import Alerts, PastScores
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from workbench.engine.results.audit import NextStep
    from workbench.engine.steps import Progress
    from workbench.engine.workspace import Workspace

ACTIONS_SHOWN = 40
SINCE_SHOWN = 12
ACTS_NAMED = 5
_REDO = "Do it again: workbench redo"
_YES_HELP = "Also where it is somebody else’s, without asking."


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


def _overview(invocation: Invocation, workspace: Workspace, moment: str) -> int:
    found = workspace.audit_at(moment)
    core = workspace.at(found.commit).core() if found.commit and not invocation.json else None
    return invocation.report(
        found, partial(moment_lines, core=core), code=DONE if found.commit else NOTHING_FOUND
    )


def _file(invocation: Invocation, workspace: Workspace, moment: str, path: str, *, raw: bool) -> int:
    if raw and not invocation.json:
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
    return invocation.report_text(found, found.files[0].text or "")


audit_command = group(
    "audit",
    default="log",
    help="Every change is a commit with an actor, an approval and a trigger; the log is the short form of "
    "that history.",
    answers="Who changed this, when, and did anybody agree?",
    examples=("workbench audit", "workbench audit log --actor bot:trigger-remember --limit 5"),
)


@audit_command.subcommand(
    "log",
    short_help="List changes, newest first",
    answers="What changed lately?",
    examples=("workbench audit log --file MEMORY.md", "workbench audit log --since 3d --action ARCHIVE"),
)
@click.option("--actor", metavar="ACTOR", help="Only by this actor, such as manual or “reflection:*”.")
@click.option(
    "--action", metavar="ACTION", help="Only of this kind: CREATE, EDIT, APPEND, ARCHIVE, REVERT, …"
)
@click.option("--file", metavar="PATH", help="Only of this file.")
@click.option(
    "--since", metavar="TIME", help="Only from this time on: a day, a time, 3d, 2w, 12h, today, yesterday."
)
@click.option("--until", metavar="TIME", help="Only up to this time, that day included.")
@click.option("--text", metavar="TEXT", help="Only where the summary says this.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Show at most N actions, {ACTIONS_SHOWN} if left out; with --json at most N entries, all if left out.",
)
def log(invocation: Invocation, /, limit: int | None, **wanted: Any) -> int:
    # One more than is shown says whether there are more.
    actions = None if invocation.json else limit or ACTIONS_SHOWN + 1
    with invocation.open() as workspace:
        found = workspace.audit_log(**wanted, limit=limit if invocation.json else None, actions=actions)
    filtered = any(value is not None for value in wanted.values())
    return invocation.report(
        found,
        partial(log_lines, most=limit or ACTIONS_SHOWN),
        code=NOTHING_FOUND if filtered and not found.entries else DONE,
    )


@audit_command.subcommand(
    "since",
    short_help="Say what was learned, changed, forgotten and faded since a moment",
    answers="What happened while I was away?",
    examples=("workbench audit since yesterday", "workbench audit since 2w --limit 50"),
)
@click.argument("time")
@click.option(
    "--limit", type=click.IntRange(min=1), default=SINCE_SHOWN, metavar="N", help="Show at most N of each."
)
def since(invocation: Invocation, /, time: str, limit: int) -> int:
    """Memory as it was then is compared with memory as it is; what came and went in between is not told. With --json
    everything is given.
    """
    return invocation.ask(lambda it: it.since(time), partial(since_lines, most=limit))


@audit_command.subcommand(
    "actions",
    short_help="List what was done, one action a row, newest first",
    answers="What was done lately, and by whom?",
    examples=("workbench audit actions", "workbench audit actions --memory person--sam-okafor --json"),
)
@click.option("--actor", metavar="ACTOR", help="Only by this actor, such as manual or “reflection:*”.")
@click.option("--file", metavar="PATH", help="Only what changed this file.")
@click.option("--memory", metavar="ID", help="Only what changed what this memory says.")
@click.option("--since", metavar="TIME", help="Only from this time on.")
@click.option("--until", metavar="TIME", help="Only up to this time, that day included.")
@click.option("--text", metavar="TEXT", help="Only where the summary says this.")
@click.option("--upkeep/--no-upkeep", default=None, help="With the system’s own housekeeping, or without it.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=ACTIONS_SHOWN, metavar="N", help="Show at most N actions."
)
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Pass over N actions.")
def actions(
    invocation: Invocation, /, limit: int, offset: int, upkeep: bool | None, memory: str | None, **wanted: Any
) -> int:
    """A reflection or an import is one action, however many commits it has. With --json upkeep is among them."""
    shown = invocation.json if upkeep is None else upkeep
    with invocation.open() as workspace:
        named = str(workspace.resolve(memory)) if memory else None
        found = workspace.actions(limit, offset, memory=named, upkeep=shown, **wanted)
    return invocation.report(found, actions_lines, code=DONE if found.actions or offset else NOTHING_FOUND)


@audit_command.subcommand(
    "show",
    short_help="Show one commit with everything that accounts for it",
    answers="Why was this changed, and by what?",
    examples=("workbench audit show abc1234",),
)
@click.argument("commit")
def show(invocation: Invocation, commit: str) -> int:
    return invocation.ask(lambda it: it.audit_show(commit), commit_lines)


@audit_command.subcommand(
    "diff",
    short_help="Show what a commit changed, line by line",
    answers="What did it say before, and what does it say now?",
    examples=("workbench audit diff abc1234", "workbench audit diff abc1234..def5678 --file MEMORY.md"),
)
@click.argument("commit", metavar="COMMIT[..COMMIT]")
@click.option("--file", metavar="PATH", help="Only of this file.")
def diff(invocation: Invocation, commit: str, file: str | None) -> int:
    return invocation.ask(lambda it: it.audit_diff(commit, path=file), diff_lines)


@audit_command.subcommand(
    "blame",
    short_help="Say who wrote each line of a file",
    answers="Who put this sentence there?",
    examples=("workbench audit blame MEMORY.md",),
)
@click.argument("path", shell_complete=complete_file)
def blame(invocation: Invocation, path: str) -> int:
    return invocation.ask(lambda it: it.audit_blame(path), blame_lines)


@audit_command.subcommand(
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
@click.option("--depth", type=click.IntRange(0, 6), metavar="N", help="With --graph: so many steps away.")
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
def at(
    invocation: Invocation,
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
    and 2w are so long ago. Days may be said in words: "14 oct", "last month", "two weeks ago"; first is the beginning.
    Nothing is changed; `rollback` does that. Scores are computed for that moment with the settings as they are now.
    """
    asked = {"path": path, "memory": memory, "entity": entity, "against": against, "folder": folder}
    chosen = [name for name, value in asked.items() if value is not None]
    chosen += [name for name, value in (("core", core), ("scores", scores)) if value]
    _require_one(chosen, raw=raw, depth=depth, ids=ids)
    with invocation.open() as workspace:
        if path is not None:
            return _file(invocation, workspace, moment, path, raw=raw)
        if against is not None:
            compared = workspace.compare(moment, None if against.strip() == "now" else against)
            return invocation.report(compared, comparison_lines)
        if not chosen:
            return _overview(invocation, workspace, moment)
        past = workspace.at(moment)
        if core:
            return invocation.report(past.core(), core_lines)
        if memory is not None:
            return invocation.report(past.show(memory), shown_lines)
        if entity is not None:
            graph = past.graph(entity, depth=depth)
            return invocation.report(graph, graph_lines)
        if folder is not None:
            return invocation.report(past.copy_to(folder), copied_lines)
        held = PastScores(past.commit, past.timestamp, tuple(past.scores(ids or None)))
        return invocation.report(held, scores_lines, code=DONE if held.scores else NOTHING_FOUND)


@audit_command.subcommand(
    "verify",
    short_help="Check that log, history and files agree",
    answers="Has anybody changed memory or its history unseen?",
    examples=("workbench audit verify", "workbench audit verify --deep"),
)
@click.option(
    "--deep",
    is_flag=True,
    help="Read every object of the history too, to its last byte; needs git, and takes longer.",
)
def verify(invocation: Invocation, deep: bool) -> int:
    """The exit code is 1 where they disagree, where an object is damaged, and where history was rewritten and
    nobody has acknowledged that yet.
    """

    def told(progress: Progress) -> None:
        of = f" of {progress.total:,}" if progress.total else ""
        line.tell(f"Checking {progress.phase}: {progress.done:,}{of}")

    with invocation.open() as workspace, ProgressLine() as line:
        verified = workspace.audit_verify(deep=deep, progress=told)
    return invocation.report(verified, verified_lines, code=DONE if verified.ok else FAILED)


@audit_command.subcommand(
    "alerts",
    short_help="List changes of critical files",
    answers="Did anybody touch who the agent is or how it is set up?",
    examples=("workbench audit alerts",),
)
def alerts(invocation: Invocation) -> int:
    return invocation.ask(lambda it: it.audit_alerts(), alert_lines)


@audit_command.subcommand(
    "ack",
    short_help="Acknowledge alerts",
    answers="I know about this change and want it; how do I confirm it?",
    examples=("workbench audit ack a-b9b0f52e", "workbench audit ack a-b9b0f52e a-17c2d40f"),
)
@click.argument("alerts", metavar="ALERT…", nargs=-1, required=True)
def ack(invocation: Invocation, alerts: tuple[str, ...]) -> int:
    """ALERT is an id that `audit alerts` gives; name as many as you like. Each is a commit of its own. Where one
    is unknown, none is acknowledged.
    """
    asked = tuple(dict.fromkeys(alerts))
    with invocation.open() as workspace:
        if len(asked) > 1:
            _all_known(asked, workspace.audit_alerts())
        done = [workspace.acknowledge(alert) for alert in asked]
    # What was acknowledged already has no commit.
    commits = [changed.commit for changed in done if changed.commit is not None]
    changed = Changed(
        commit=commits[-1] if commits else None,
        files=tuple(dict.fromkeys(file for one in done for file in one.files)),
        ids=tuple(dict.fromkeys(id_ for one in done for id_ in one.ids)),
        warnings=tuple(dict.fromkeys(warning for one in done for warning in one.warnings)),
    )
    new = [alert for alert, one in zip(asked, done, strict=True) if one.commit is not None]
    named, were = safe_line(", ".join(asked)), "was" if len(asked) == 1 else "were"

    said = f"Acknowledged {safe_line(', '.join(new))}."
    return invocation.report_change(changed, said, f"{named} {were} acknowledged already.")


def _all_known(asked: tuple[str, ...], alerts: Alerts) -> None:
    known = {alert.id for alert in alerts.alerts}
    for alert in asked:
        if alert not in known:
            raise NotFound(
                "There is no such alert; none was acknowledged.",
                where=alert,
                remedy="List them with: workbench audit alerts",
            )


@audit_command.subcommand(
    "prune",
    short_help="Sum up old entries of the log in monthly digests",
    answers="How do I keep the log short without losing history?",
    examples=("workbench audit prune",),
)
def prune(invocation: Invocation) -> int:
    """Entries older than the settings say (90 days) go into the digests; history keeps every commit, and open
    alerts stay.
    """
    return invocation.change(
        lambda it: it.audit_prune(), "Pruned the log.", "Nothing is old enough to be pruned."
    )


def _change(
    invocation: Invocation,
    change: Callable[[Workspace], Changed],
    said: str,
    unchanged: str,
    hint: str = "Have it again: workbench undo",
) -> int:
    with invocation.open() as workspace:
        changed = change(workspace)
        asks = hint == _REDO and not invocation.json and _is_of_others(workspace.next_steps().redo)
        acts = [] if invocation.json else [_act(workspace, commit) for commit in changed.ids[:ACTS_NAMED]]

    def draw(page: Page, changed: Changed) -> list[str]:
        lines = changed_lines(page, changed, said, unchanged)
        if changed.commit is not None:
            if (more := len(changed.ids) - ACTS_NAMED) > 0:
                acts.append(f"… and {more:,} more of the same action")
            lines[1:1] = [f"  {clip(act, page.width - 2)}" for act in acts]
            lines.append(page.paint(f"  {hint}{' --yes' if asks else ''}", "quiet"))
        return lines

    return invocation.report(changed, draw)


def _is_of_others(step: NextStep | None) -> bool:
    return step is not None and not step.own


def _act(workspace: Workspace, commit: str) -> str:
    """Say what a commit did that was taken back."""
    subject = safe_line(workspace.audit_show(commit).subject)
    return f"{commit[:7]} {subject}"


@command(
    "undo",
    answers="That was a mistake; how do I get back?",
    examples=("workbench undo", "workbench undo --mine", "workbench undo --yes"),
)
@click.option("--mine", is_flag=True, help="Take back your own newest action, whatever others did since.")
@click.option("--yes", "sure", is_flag=True, help=_YES_HELP)
def undo_command(invocation: Invocation, mine: bool, sure: bool) -> int:
    """Upkeep, alerts and pruning are left out; an import goes as a whole, and so does a reflection. Again, it walks
    further back; redo walks forward.

    Yours is what you did here and in the bench without naming another actor, and what you edited in other programs.
    What agents did, what a reflection changed (though you approved it) and what was done with --actor NAME is not: undo
    says whose it is and asks. --mine passes over it, and refuses where a later action rests on yours. An agent takes
    back nothing but its own.
    """

    def change(workspace: Workspace) -> Changed:
        if mine:
            return workspace.undo(mine=True)
        return _confirmed(invocation, workspace.undo, lambda: workspace.next_steps().undo, sure)

    return _change(invocation, change, "Undone:", "There is nothing to undo.", _REDO)


@command(
    "redo",
    answers="It was right after all; how do I have it again?",
    examples=("workbench redo", "workbench redo --yes"),
)
@click.option("--yes", "sure", is_flag=True, help=_YES_HELP)
def redo_command(invocation: Invocation, sure: bool) -> int:
    """Works until something else is changed. It asks, as undo does, where somebody else did or undid it."""
    return _change(
        invocation,
        lambda it: _confirmed(invocation, it.redo, lambda: it.next_steps().redo, sure),
        "Done again:",
        "There is nothing to redo.",
        "Take it back: workbench undo",
    )


def _confirmed(
    invocation: Invocation, act: Callable[..., Changed], shown: Callable[[], NextStep | None], sure: bool
) -> Changed:
    """Undo or redo, after asking at the terminal if the step is somebody else's."""
    try:
        return act(confirmed=sure)
    except ConfirmationNeeded as refusal:
        step = shown()
        if step is None or not invocation.can_ask:
            raise
        if not invocation.confirm(f"{safe_line(refusal.message)}. Go on?"):
            return Changed(None, warnings=("Nothing was changed.",))
        return act(confirmed=True, expected=step.commit)


@command(
    "revert",
    answers="One change of last week was wrong; how do I take back just that?",
    examples=("workbench revert abc1234", "workbench revert r-012.3"),
)
@click.argument("commit_or_item", metavar="COMMIT-OR-ITEM")
def revert_command(invocation: Invocation, commit_or_item: str) -> int:
    """Works on entries and facts, not on lines, so an entry is found though others were added after it. It
    asks nothing: undo takes the revert back.
    """
    said = f"Took back {safe_line(commit_or_item)}."
    return _change(invocation, lambda it: it.revert(commit_or_item), said, "Nothing was left to take back.")


@command(
    "rollback",
    answers="How do I get memory back as it was yesterday?",
    examples=(
        "workbench rollback --to 3d",
        "workbench rollback --to abc1234",
        "workbench rollback --file MEMORY.md@abc1234",
        "workbench rollback --memory entity:person--sam-okafor@abc1234",
        "workbench rollback --reflection r-012",
    ),
)
@click.option(
    "--to",
    metavar="TIME-OR-COMMIT",
    help="Everything, as a commit had it, or the newest commit not later than a time.",
)
@click.option("--file", metavar="PATH@COMMIT", help="One file, as a commit had it.")
@click.option("--memory", metavar="ID@COMMIT", help="One memory, with its pin, as a commit had it.")
@click.option(
    "--reflection", metavar="ID", help="What one reflection changed; the record of decisions stays."
)
def rollback_command(
    invocation: Invocation, to: str | None, file: str | None, memory: str | None, reflection: str | None
) -> int:
    """Exactly one of the four. Nothing of history is lost: the rollback is a commit that undo takes back. A memory
    that was not there at its commit is archived; one that is gone comes back in its place.
    """
    if sum(given is not None for given in (to, file, memory, reflection)) != 1:
        raise click.UsageError(
            "Give one of --to, --file, --memory and --reflection.", click.get_current_context()
        )
    if memory is not None and not all(memory.rpartition("@")[::2]):
        raise click.BadParameter(
            "Write ID@COMMIT, such as entity:person--sam-okafor@abc1234.", param_hint="--memory"
        )
    if file is not None and not all(file.rpartition("@")[::2]):
        raise click.BadParameter("Write PATH@COMMIT, such as MEMORY.md@abc1234.", param_hint="--file")
    goal = to or file or memory or f"before {reflection}"
    kept = "; the record of what was decided stays" if reflection else ""
    said = f"Rolled back to {safe_line(goal)}{kept}."
    return _change(
        invocation,
        lambda it: it.rollback(to=to, file=file, memory=memory, reflection=reflection),
        said,
        "Memory is as it was then; nothing had to change.",
    )

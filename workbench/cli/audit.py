"""The command for the audit trail: what changed, who did it, whether it is whole, what needs a look."""

from __future__ import annotations

import click

from workbench.cli import audit_at
from workbench.cli.command import group
from workbench.cli.completing import complete_file
from workbench.cli.invocation import DONE, FAILED, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, safe_line
from workbench.cli.progress_line import ProgressLine
from workbench.engine.errors import NotFound
from workbench.engine.results.audit import Alerts, VerifyProgress
from workbench.engine.results.memories import Changed

ACTIONS_SHOWN = 40

audit_command = group(
    "audit",
    default="log",
    help="Every change is a commit with an actor, an approval and a trigger; the log is the short form of "
    "that history.",
    answers="Who changed this, when, and did anybody agree?",
    examples=("workbench audit", "workbench audit log --actor bot:trigger-remember --limit 5"),
)


@audit_command.bench_command(
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
@click.pass_obj
def log(
    bench: Invocation,
    actor: str | None,
    action: str | None,
    file: str | None,
    since: str | None,
    until: str | None,
    text: str | None,
    limit: int | None,
) -> int:
    # One more than is shown says whether there are more.
    actions = None if bench.json else limit or ACTIONS_SHOWN + 1
    with bench.open() as workspace:
        found = workspace.audit_log(
            actor=actor,
            action=action,
            file=file,
            since=since,
            until=until,
            text=text,
            limit=limit if bench.json else None,
            actions=actions,
        )

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import log_lines

        return log_lines(page, found, most=limit or ACTIONS_SHOWN)

    filtered = any(value is not None for value in (actor, action, file, since, until, text))
    return bench.report(found, view, code=NOTHING_FOUND if filtered and not found.entries else DONE)


@audit_command.bench_command(
    "show",
    short_help="Show one commit with everything that accounts for it",
    answers="Why was this changed, and by what?",
    examples=("workbench audit show abc1234",),
)
@click.argument("commit")
@click.pass_obj
def show(bench: Invocation, commit: str) -> int:
    with bench.open() as workspace:
        shown = workspace.audit_show(commit)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import commit_lines

        return commit_lines(page, shown)

    return bench.report(shown, view)


@audit_command.bench_command(
    "diff",
    short_help="Show what a commit changed, line by line",
    answers="What did it say before, and what does it say now?",
    examples=("workbench audit diff abc1234", "workbench audit diff abc1234..def5678 --file MEMORY.md"),
)
@click.argument("commit", metavar="COMMIT[..COMMIT]")
@click.option("--file", metavar="PATH", help="Only of this file.")
@click.pass_obj
def diff(bench: Invocation, commit: str, file: str | None) -> int:
    with bench.open() as workspace:
        changes = workspace.audit_diff(commit, path=file)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import diff_lines

        return diff_lines(page, changes)

    return bench.report(changes, view)


@audit_command.bench_command(
    "blame",
    short_help="Say who wrote each line of a file",
    answers="Who put this sentence there?",
    examples=("workbench audit blame MEMORY.md",),
)
@click.argument("path", shell_complete=complete_file)
@click.pass_obj
def blame(bench: Invocation, path: str) -> int:
    with bench.open() as workspace:
        blamed = workspace.audit_blame(path)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import blame_lines

        return blame_lines(page, blamed)

    return bench.report(blamed, view)


audit_command.add_command(audit_at.at)


@audit_command.bench_command(
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
@click.pass_obj
def verify(bench: Invocation, deep: bool) -> int:
    """The exit code is 1 where they disagree, where an object is damaged, and where history was rewritten and
    nobody has acknowledged that yet.
    """
    line = ProgressLine()

    def told(progress: VerifyProgress) -> None:
        of = f" of {progress.total:,}" if progress.total else ""
        line.tell(f"Checking {progress.phase}: {progress.done:,}{of}")

    with bench.open() as workspace:
        try:
            verified = workspace.audit_verify(deep=deep, progress=told)
        finally:
            line.end()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import verified_lines

        return verified_lines(page, verified)

    return bench.report(verified, view, code=DONE if verified.ok else FAILED)


@audit_command.bench_command(
    "alerts",
    short_help="List changes of critical files",
    answers="Did anybody touch who the agent is or how it is set up?",
    examples=("workbench audit alerts",),
)
@click.pass_obj
def alerts(bench: Invocation) -> int:
    with bench.open() as workspace:
        found = workspace.audit_alerts()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import alert_lines

        return alert_lines(page, found)

    return bench.report(found, view)


@audit_command.bench_command(
    "ack",
    short_help="Acknowledge alerts",
    answers="I have seen this change and it is meant; how do I say so?",
    examples=("workbench audit ack a-b9b0f52e", "workbench audit ack a-b9b0f52e a-17c2d40f"),
)
@click.argument("alerts", metavar="ALERT…", nargs=-1, required=True)
@click.pass_obj
def ack(bench: Invocation, alerts: tuple[str, ...]) -> int:
    """ALERT is an id that `audit alerts` gives; name as many as you like. Each is a commit of its own. Where one
    is unknown, none is acknowledged.
    """
    asked = tuple(dict.fromkeys(alerts))
    with bench.open() as workspace:
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

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        said = f"Acknowledged {safe_line(', '.join(new))}."
        return changed_lines(page, changed, said, f"{named} {were} acknowledged already.")

    return bench.report(changed, view)


def _all_known(asked: tuple[str, ...], alerts: Alerts) -> None:
    known = {alert.id for alert in alerts.alerts}
    for alert in asked:
        if alert not in known:
            raise NotFound(
                "There is no such alert; none was acknowledged.",
                where=alert,
                remedy="List them with: workbench audit alerts",
            )


@audit_command.bench_command(
    "prune",
    short_help="Sum up old entries of the log in monthly digests",
    answers="How do I keep the log short without losing history?",
    examples=("workbench audit prune",),
)
@click.pass_obj
def prune(bench: Invocation) -> int:
    """Entries older than the settings say (90 days) go into the digests; history keeps every commit, and open
    alerts stay.
    """
    with bench.open() as workspace:
        changed = workspace.audit_prune()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        return changed_lines(page, changed, "Pruned the log.", "Nothing is old enough to be pruned.")

    return bench.report(changed, view)

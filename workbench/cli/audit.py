"""The command for the audit trail: what changed, who did it, whether it is whole, what needs a look."""

from __future__ import annotations

import click

from workbench.cli.command import group
from workbench.cli.completing import complete_file
from workbench.cli.invocation import DONE, FAILED, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, safe_line
from workbench.engine.errors import NotFound
from workbench.engine.results import AuditLog

ENTRIES_SHOWN = 40

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
    examples=("workbench audit log --file MEMORY.md", "workbench audit log --action ARCHIVE --text deploy"),
)
@click.option("--actor", metavar="ACTOR", help="Only by this actor, such as manual or “reflection:*”.")
@click.option(
    "--action", metavar="ACTION", help="Only of this kind: CREATE, EDIT, APPEND, ARCHIVE, REVERT, …"
)
@click.option("--file", metavar="PATH", help="Only of this file.")
@click.option("--since", metavar="TIME", help="Only from this time on.")
@click.option("--until", metavar="TIME", help="Only up to this time.")
@click.option("--text", metavar="TEXT", help="Only where the summary says this.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most so many; {ENTRIES_SHOWN} if left out, all with --json.",
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
    # One more than is shown tells whether there are more.
    asked = limit if limit is not None or bench.json else ENTRIES_SHOWN + 1
    with bench.open() as workspace:
        found = workspace.audit_log(
            actor=actor, action=action, file=file, since=since, until=until, text=text, limit=asked
        )

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import log_lines

        if limit is None and len(found.entries) > ENTRIES_SHOWN:
            more = page.paint(f"Older ones: --limit {ENTRIES_SHOWN * 5}, or --until.", "quiet")
            return [*log_lines(page, AuditLog(found.entries[:ENTRIES_SHOWN])), more]
        return log_lines(page, found)

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


@audit_command.bench_command(
    "at",
    short_help="Show memory as it was at a moment",
    answers="What did the agent know back then?",
    examples=("workbench audit at 2026-02-01T12:00Z", "workbench audit at 2026-02-01 --file MEMORY.md"),
)
@click.argument("time")
@click.option("--file", metavar="PATH", help="Print this file as it was.")
@click.pass_obj
def at(bench: Invocation, time: str, file: str | None) -> int:
    """The newest commit not later than TIME. Nothing is changed; `rollback --to` does that."""
    with bench.open() as workspace:
        moment = workspace.audit_at(time, path=file)
    if file is not None:
        if not moment.files:
            raise NotFound(
                f"There was no such file at {time}.",
                where=file,
                remedy=f"List what there was: workbench audit at {time}",
            )
        return bench.report_text(moment, moment.files[0].text or "")

    def view(page: Page) -> list[str]:
        from workbench.cli.views.audit import moment_lines

        return moment_lines(page, moment)

    return bench.report(moment, view, code=DONE if moment.commit else NOTHING_FOUND)


@audit_command.bench_command(
    "verify",
    short_help="Check that log, history and files agree",
    answers="Has anybody changed memory or its history unseen?",
    examples=("workbench audit verify",),
)
@click.pass_obj
def verify(bench: Invocation) -> int:
    """The exit code is 1 where they disagree."""
    with bench.open() as workspace:
        verified = workspace.audit_verify()

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
    short_help="Acknowledge an alert",
    answers="I have seen this change and it is meant; how do I say so?",
    examples=("workbench audit ack abc1234",),
)
@click.argument("alert")
@click.pass_obj
def ack(bench: Invocation, alert: str) -> int:
    """ALERT is the id that `audit alerts` gives."""
    with bench.open() as workspace:
        changed = workspace.acknowledge(alert)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        return changed_lines(
            page,
            changed,
            f"Acknowledged {safe_line(alert)}.",
            f"{safe_line(alert)} was acknowledged already.",
        )

    return bench.report(changed, view)


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

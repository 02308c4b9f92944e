"""The command group `sessions`: read conversations, write this workspace's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.command import command, group
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.options import text_of
from workbench.cli.printing import Page, ProgressLine, safe_line

if TYPE_CHECKING:
    from workbench.engine.results.sessions import CompactionProgress


FROM = click.option(
    "--from",
    "from_",
    metavar="PATH",
    help="A state folder, sessions.json, database or transcript of another program.",
)


@command("list", short_help="List sessions, the latest first", hidden=True)
@FROM
@click.pass_obj
def list_sessions(bench: Invocation, from_: str | None) -> int:
    with bench.open() as workspace:
        found = workspace.sessions(from_=from_)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import sessions_lines

        return sessions_lines(page, found)

    return bench.report(found, view, code=DONE if found.sessions else NOTHING_FOUND)


@command(
    "show",
    short_help="Show what was said in a session, page by page",
    answers="Who said that, and what came before it?",
    examples=(
        "workbench sessions show main",
        "workbench sessions show main --from-line -20",
        "workbench sessions show file:sessions/7d0c.jsonl#L12",
    ),
)
@click.argument("key")
@FROM
@click.option("--from-line", type=int, metavar="N", help="First line; a negative one counts from the end.")
@click.option("--lines", type=click.IntRange(1), default=200, show_default=True, help="Most lines.")
@click.pass_obj
def show(bench: Invocation, key: str, from_: str | None, from_line: int | None, lines: int) -> int:
    """Lines that could not be read are named and skipped, so that the others can be read all the same."""
    with bench.open() as workspace:
        found = workspace.session(key, from_=from_, line=from_line, limit=lines)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import session_lines

        return session_lines(page, found)

    return bench.report(found, view)


@command(
    "context",
    short_help="Show what a model would be shown of a session",
    answers="What does the agent still know of this conversation?",
    examples=("workbench sessions context main --budget 8000",),
)
@click.argument("key")
@FROM
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Most tokens; else the session’s window."
)
@click.option("--turns", type=click.IntRange(0), help="Most turns of the person’s; 0 for all that fit.")
@click.pass_obj
def context(bench: Invocation, key: str, from_: str | None, budget: int | None, turns: int | None) -> int:
    """The branch in use, with the summary of what was compacted; damaged histories are put right, and it says how."""
    with bench.open() as workspace:
        found = workspace.session_context(key, from_=from_, budget=budget, turns=turns)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import context_lines

        return context_lines(page, found)

    return bench.report(found, view, code=DONE if found.messages else NOTHING_FOUND)


@command(
    "append",
    short_help="Write one message to a session",
    answers="How does my agent keep its conversations here?",
    examples=(
        'workbench sessions append main "Remember: staging is eu-2"',
        'workbench sessions append main --speaker assistant "Noted."',
    ),
)
@click.argument("key")
@click.argument("words", metavar="TEXT…", nargs=-1, required=True)
@click.option(
    "--speaker", type=click.Choice(["user", "assistant", "toolResult"]), default="user", show_default=True
)
@click.option("--model", help="The model that answered.")
@click.option(
    "--total-tokens", type=click.IntRange(0), help="Tokens of the context, as the model counted them."
)
@click.option("--context-tokens", type=click.IntRange(1), help="Tokens of the model’s context window.")
@click.pass_obj
def append(
    bench: Invocation,
    key: str,
    words: tuple[str, ...],
    speaker: str,
    model: str | None,
    total_tokens: int | None,
    context_tokens: int | None,
) -> int:
    """The session begins with its first message, and starts over where it had ended or TEXT begins with /new.

    TEXT of - is read from stdin.
    """
    said = text_of(words, what="The message")
    with bench.open() as workspace:
        done = workspace.session_append(
            key,
            said,
            role=speaker,
            model=model,
            total_tokens=total_tokens,
            context_tokens=context_tokens,
        )

    def view(page: Page) -> list[str]:
        begun = f" A new session began ({done.reason})." if done.began else ""
        where = f"line {done.lines[0]:,}" if done.lines else "no line"
        return [
            f"{page.paint('✓', 'good')} {safe_line(done.key)}: {where} of {safe_line(done.session_id)}.{begun}"
        ]

    return bench.report(done, view)


@command(
    "compact",
    short_help="Let a summary stand for all but the newest messages",
    answers="It is getting full; how does the conversation go on?",
    examples=(
        "workbench sessions compact main --keep 8000",
        "workbench sessions compact main --from ~/.openclaw",
    ),
)
@click.argument("key")
@FROM
@click.option("--instructions", default="", metavar="TEXT", help="What the summary shall look at.")
@click.option("--keep", type=click.IntRange(0), metavar="TOKENS", help="How much of the end stays as it is.")
@click.pass_obj
def compact(bench: Invocation, key: str, from_: str | None, instructions: str, keep: int | None) -> int:
    """The transcript keeps everything. With --from, a copy in the own store is compacted, never the original.

    A chat model writes the summary where one is configured, else it is made of what was said.
    """
    line = ProgressLine()

    def told(progress: CompactionProgress) -> None:
        line.tell(f"Compacting: {progress.phase} {progress.done:,} of {progress.total:,}")

    with bench.open() as workspace:
        try:
            done = workspace.session_compact(
                key, instructions=instructions, keep_tokens=keep, from_=from_, progress=told
            )
        finally:
            line.end()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import compacted_lines

        return compacted_lines(page, done)

    return bench.report(done, view)


@command(
    "flush",
    short_help="Save what matters of a session to memory, where that is due",
    answers="Will it still know this when the conversation is compacted?",
    examples=("workbench sessions flush main --check", "workbench sessions flush main --now"),
)
@click.argument("key")
@FROM
@click.option("--check", is_flag=True, help="Only say whether it is due, and how far it is from that.")
@click.option("--now", is_flag=True, help="Save also where it is not due.")
@click.pass_obj
def flush(bench: Invocation, key: str, from_: str | None, check: bool, now: bool) -> int:
    """Once in each cycle between two compactions; each memory names the line that it comes from."""
    with bench.open() as workspace:
        if check:
            found = workspace.session_flush_check(key, from_=from_)
        else:
            done = workspace.session_flush(key, now=now, from_=from_)

    def view_check(page: Page) -> list[str]:
        from workbench.cli.views.sessions import check_lines, gauge

        return [f"{gauge(found)}{'flush due' if found.due else 'not due'}", *check_lines(page, found)]

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import flushed_lines

        return flushed_lines(page, done)

    return bench.report(found, view_check) if check else bench.report(done, view)


@command(
    "reset",
    short_help="Start a session over; its transcript stays",
    answers="How do I begin afresh without losing what was said?",
    examples=("workbench sessions reset main",),
)
@click.argument("key")
@click.option("--no-save", is_flag=True, help="Save nothing of it to memory.")
@click.pass_obj
def reset(bench: Invocation, key: str, no_save: bool) -> int:
    """What matters of it is saved to memory first."""
    with bench.open() as workspace:
        done = workspace.session_reset(key, save=not no_save)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import begun_lines

        return begun_lines(page, done)

    return bench.report(done, view)


@command(
    "repair",
    short_help="Mend a damaged transcript",
    answers="Why can it not be read any more, and how is that mended?",
    examples=("workbench sessions repair main",),
)
@click.argument("key")
@click.pass_obj
def repair(bench: Invocation, key: str) -> int:
    """Lines that cannot be read are emptied, so that all others keep their numbers; a copy stays beside the file."""
    with bench.open() as workspace:
        done = workspace.session_repair(key)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import repaired_lines

        return repaired_lines(page, done)

    return bench.report(done, view)


@command(
    "recover",
    short_help="Find a way on for a session in which a model run failed",
    answers="No model takes this conversation any more; what now?",
    examples=("workbench sessions recover main --failure overflow",),
)
@click.argument("key")
@click.option(
    "--failure",
    type=click.Choice(["overflow", "order", "damaged"]),
    default="overflow",
    show_default=True,
    help="Too long, turns out of order, or damaged.",
)
@click.option(
    "--attempt", type=click.IntRange(1), default=1, show_default=True, help="How often it has failed by now."
)
@click.pass_obj
def recover(bench: Invocation, key: str, failure: str, attempt: int) -> int:
    """Compact or mend it and try again; what fails again starts over, and its transcript stays."""
    with bench.open() as workspace:
        done = workspace.session_recover(key, failure, attempt=attempt)

    def view(page: Page) -> list[str]:
        return [
            f"{page.paint('✓', 'good')} {done.told}",
            page.paint(f"  {done.action} · {done.session_id}", "quiet"),
        ]

    return bench.report(done, view)


sessions_command = group(
    "sessions",
    default="list",
    help="KEY is a session’s key such as agent:main:main, also without its beginning (main), a session’s id, or the "
    "place of a line that a memory names, file:sessions/ID.jsonl#L12. With --from, the sessions of OpenClaw, Moltbot, "
    "Clawdbot and Claude Code are read where they are, plain files and databases; nothing there is ever written.",
    answers="What was talked about, and how full is it?",
    examples=("workbench sessions", "workbench sessions show main", "workbench sessions --from ~/.openclaw"),
)
for _command in (
    list_sessions,
    show,
    context,
    append,
    compact,
    flush,
    reset,
    repair,
    recover,
):
    sessions_command.add_command(_command)

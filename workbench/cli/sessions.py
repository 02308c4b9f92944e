"""The command group `sessions`: read conversations, write this workspace's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import group, text_of
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.display.sessions import (
    appended_lines,
    begun_lines,
    compacted_lines,
    context_lines,
    flush_check_lines,
    flushed_lines,
    recovered_lines,
    repaired_lines,
    session_lines,
    sessions_lines,
)
from workbench.display.text import ProgressLine

if TYPE_CHECKING:
    from workbench.engine.steps import Progress


FROM = click.option(
    "--from",
    "from_",
    metavar="PATH",
    help="A state folder, sessions.json, database or transcript of another program.",
)


SENDER = click.option(
    "--sender",
    default="",
    help="Who said it, such as telegram:42; sessions.reset_senders says who may start over.",
)


sessions_command = group(
    "sessions",
    default="list",
    help="KEY is a session’s key such as agent:main:main, also without its beginning (main), a session’s id, or the "
    "place of a line that a memory names, file:sessions/ID.jsonl#L12. With --from, the sessions of OpenClaw, Moltbot, "
    "Clawdbot and Claude Code are read where they are, plain files and databases; nothing there is ever written.",
    answers="What was talked about, and how full is the context?",
    examples=("workbench sessions", "workbench sessions show main", "workbench sessions --from ~/.openclaw"),
)


@sessions_command.subcommand("list", short_help="List sessions, the latest first", hidden=True)
@FROM
def list_sessions(invocation: Invocation, from_: str | None) -> int:
    with invocation.open() as workspace:
        found = workspace.sessions(from_=from_)
    return invocation.report(found, sessions_lines, code=DONE if found.sessions else NOTHING_FOUND)


@sessions_command.subcommand(
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
def show(invocation: Invocation, key: str, from_: str | None, from_line: int | None, lines: int) -> int:
    """Lines that could not be read are named and skipped, so that the others can be read all the same."""
    return invocation.ask(lambda it: it.session(key, from_=from_, line=from_line, limit=lines), session_lines)


@sessions_command.subcommand(
    "context",
    short_help="Show what a model would be shown of a session",
    answers="What does the agent still know of this conversation?",
    examples=(
        "workbench sessions context main --budget 8000",
        "workbench sessions context main --provider google --model gemini-3-pro --json",
    ),
)
@click.argument("key")
@FROM
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Most tokens; else the session’s window."
)
@click.option("--turns", type=click.IntRange(0), help="Most turns of the person’s; 0 for all that fit.")
@click.option("--provider", default="", help="Who is handed it: google, anthropic, openai or another.")
@click.option("--model", default="", help="The model that is handed it.")
def context(invocation: Invocation, /, key: str, **asked: Any) -> int:
    """The branch in use, with the summary of what was compacted; damaged histories are put right, and it says how.

    With --provider or --model it is made fit for that model: reasoning of others becomes text, what is sealed or
    signed for them is left out, and a history that begins with an answer gets a first turn for Google’s models.
    """
    with invocation.open() as workspace:
        found = workspace.session_context(key, **asked)
    return invocation.report(found, context_lines, code=DONE if found.messages else NOTHING_FOUND)


@sessions_command.subcommand(
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
@SENDER
def append(invocation: Invocation, /, key: str, words: tuple[str, ...], speaker: str, **counted: Any) -> int:
    """The session begins with its first message, and starts over where it had ended or TEXT begins with /new.

    A direct conversation such as telegram:direct:42 joins the main session, unless sessions.direct_scope says
    otherwise, it has a session of its own already, or memories are for that person. The answer names the session.

    TEXT of - is read from stdin.
    """
    said = text_of(words, what="The message")
    return invocation.ask(lambda it: it.session_append(key, said, role=speaker, **counted), appended_lines)


@sessions_command.subcommand(
    "compact",
    short_help="Replace by a summary all but the newest messages",
    answers="It is getting full; how does the conversation go on?",
    examples=(
        "workbench sessions compact main --keep 8000",
        "workbench sessions compact main --from ~/.openclaw",
    ),
)
@click.argument("key")
@FROM
@click.option("--instructions", default="", metavar="TEXT", help="What the summary should look at.")
@click.option("--keep", type=click.IntRange(0), metavar="TOKENS", help="How much of the end stays as it is.")
def compact(invocation: Invocation, key: str, from_: str | None, instructions: str, keep: int | None) -> int:
    """The transcript keeps everything. With --from, a copy in the own store is compacted, never the original.

    A chat model writes the summary where one is configured, else it is made of what was said.
    """

    def told(progress: Progress) -> None:
        line.tell(f"Compacting: {progress.phase} {progress.done:,} of {progress.total:,}")

    with invocation.open() as workspace, ProgressLine() as line:
        done = workspace.session_compact(
            key, instructions=instructions, keep_tokens=keep, from_=from_, progress=told
        )
    return invocation.report(done, compacted_lines)


@sessions_command.subcommand(
    "flush",
    short_help="Save what matters of a session to memory, where that is due",
    answers="Will it still know this when the conversation is compacted?",
    examples=("workbench sessions flush main --check", "workbench sessions flush main --now"),
)
@click.argument("key")
@FROM
@click.option("--check", is_flag=True, help="Only say whether it is due, and how far it is from that.")
@click.option("--now", is_flag=True, help="Save also where it is not due.")
def flush(invocation: Invocation, key: str, from_: str | None, check: bool, now: bool) -> int:
    """Once in each cycle between two compactions; each memory names the line that it comes from."""
    with invocation.open() as workspace:
        if check:
            return invocation.report(workspace.session_flush_check(key, from_=from_), flush_check_lines)
        done = workspace.session_flush(key, now=now, from_=from_)
    return invocation.report(done, flushed_lines)


@sessions_command.subcommand(
    "reset",
    short_help="Start a session over; its transcript stays",
    answers="How do I begin afresh without losing what was said?",
    examples=("workbench sessions reset main",),
)
@click.argument("key")
@click.option("--no-save", is_flag=True, help="Save nothing of it to memory.")
@SENDER
def reset(invocation: Invocation, key: str, no_save: bool, sender: str) -> int:
    """What matters of it is saved to memory first."""
    return invocation.ask(lambda it: it.session_reset(key, save=not no_save, sender=sender), begun_lines)


@sessions_command.subcommand(
    "repair",
    short_help="Mend a damaged transcript",
    answers="Why can it not be read any more, and how is that mended?",
    examples=("workbench sessions repair main",),
)
@click.argument("key")
def repair(invocation: Invocation, key: str) -> int:
    """Lines that cannot be read are emptied, so that all others keep their numbers; a copy stays beside the file."""
    return invocation.ask(lambda it: it.session_repair(key), repaired_lines)


@sessions_command.subcommand(
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
def recover(invocation: Invocation, key: str, failure: str, attempt: int) -> int:
    """Compact or mend it and try again; what fails again starts over, and its transcript stays."""
    return invocation.ask(lambda it: it.session_recover(key, failure, attempt=attempt), recovered_lines)

"""The commands that write sessions of this workspace."""

from __future__ import annotations

import click

from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page, safe_line
from workbench.cli.text_argument import text_of


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

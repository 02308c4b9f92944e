"""The commands by which a person approves, rejects and puts off what is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page, safe_line
from workbench.cli.review_applying import apply_now
from workbench.cli.review_words import chosen_items, require_items
from workbench.engine.reflection.kinds import Kind
from workbench.engine.results.memories import Changed
from workbench.engine.results.reflection import ReviewItem

_WORDS = click.argument("words", metavar="ID…", nargs=-1)
_SECTION = click.option(
    "--section", "sections", multiple=True, metavar="WORD", help="Every undecided item of a section."
)
_YES = click.option("-y", "--yes", is_flag=True, help="With --apply: do it without asking.")


def _decide(
    bench: Invocation,
    decision: str,
    words: Sequence[str],
    sections: Sequence[str],
    *,
    apply: bool = False,
    yes: bool = False,
) -> int:
    if not (words or sections):
        raise click.UsageError("Name the items, or say all.", click.get_current_context())
    with bench.open() as workspace:
        review = workspace.review()
        require_items(review)
        ids = chosen_items(review, words, sections, undecided=decision != "undecided")
        changed = workspace.review_decide(dict.fromkeys(ids, decision)) if ids else Changed(None)
        if apply:
            return apply_now(bench, workspace, yes=yes)
        after = None if bench.json else workspace.review()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines
        from workbench.cli.views.review import progress_line

        done = "Took back the decision on" if decision == "undecided" else decision.capitalize()
        named = ", ".join(map(safe_line, ids)) if len(ids) < 5 else f"{len(ids)} items"
        lines = changed_lines(page, changed, f"{done} {named}.", "They were decided so already.")
        if after is not None:
            decided = any(item.decision in ("approved", "rejected") for item in after.items)
            hint = "   Apply: workbench review apply" if decided else ""
            lines.append(page.paint(f"  {progress_line(after)}{hint}", "quiet"))
        return lines

    waits = [
        f"{item.id} waits: {item.waits}{_way_out(item)}"
        for item in (after.items if after else ())
        if item.waits and item.id in ids
    ]
    return bench.report(replace(changed, warnings=(*changed.warnings, *waits)), view)


def _way_out(item: ReviewItem) -> str:
    """Return the command that says in words what an approval alone leaves open; empty where nothing is."""
    fields = item.fields or {}
    if item.kind == Kind.CONTRADICTION and fields.get("resolve", "ask").casefold() == "ask":
        return f" Say it with: workbench review resolve {item.id} this"
    if item.kind == Kind.QUESTION and fields.get("answer", "…") in ("", "…"):
        return f" Give it with: workbench review answer {item.id} TEXT"
    return ""


@command(
    "approve",
    short_help="Approve items",
    answers="This is right; how do I say so?",
    examples=("workbench review approve 3", "workbench review approve all --apply"),
)
@_WORDS
@_SECTION
@click.option("--apply", is_flag=True, help="Apply at once what is approved.")
@_YES
@click.pass_obj
def approve(
    bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...], apply: bool, yes: bool
) -> int:
    """Nothing is written to memory before `apply`."""
    return _decide(bench, "approved", words, sections, apply=apply, yes=yes)


@command(
    "reject",
    short_help="Reject items, which then stay away",
    answers="This is wrong; how do I keep it out?",
    examples=("workbench review reject 2 5", "workbench review reject all --apply"),
)
@_WORDS
@_SECTION
@click.option("--apply", is_flag=True, help="Apply at once what is decided.")
@_YES
@click.pass_obj
def reject(
    bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...], apply: bool, yes: bool
) -> int:
    """Once applied, the same is not proposed again without new evidence; see `review rejected`."""
    return _decide(bench, "rejected", words, sections, apply=apply, yes=yes)


@command(
    "defer",
    short_help="Put items off until the next reflection",
    answers="I cannot say yet; how do I put it off?",
    examples=("workbench review defer 4",),
)
@_WORDS
@_SECTION
@click.pass_obj
def defer(bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...]) -> int:
    """They come again with the next reflection."""
    return _decide(bench, "deferred", words, sections)


@command(
    "undecide",
    short_help="Take decisions back before they are applied",
    answers="I decided too fast; how do I open it again?",
    examples=("workbench review undecide 3", "workbench review undecide all"),
)
@_WORDS
@click.option("--section", "sections", multiple=True, metavar="WORD", help="Every decided item of a section.")
@click.pass_obj
def undecide(bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...]) -> int:
    """What is applied already is taken back with `revert` or `rollback --reflection`."""
    return _decide(bench, "undecided", words, sections)

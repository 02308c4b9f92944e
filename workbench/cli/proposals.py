"""The commands by which the main agent or a person looks at proposals and decides on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import click

from workbench.cli.command import group
from workbench.cli.invocation import Invocation
from workbench.display.reviews import proposals_lines, settled_lines
from workbench.engine.errors import InvalidInput, Refused, RoleRefused
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.results.reviews import Proposal, Proposals, Settled

_WORDS = click.argument("words", metavar="N…", nargs=-1, required=True)
_REPLACING = click.option("--replacing", is_flag=True, help="Retire the memories that it contradicts.")
_YES = click.option("-y", "--yes", is_flag=True, help="With --replacing: also what is protected, unasked.")

proposals_command = group(
    "proposals",
    default="list",
    answers="What do sub-agents want remembered, and is it right?",
    examples=(
        "workbench proposals --from researcher",
        "workbench proposals commit 3",
        "workbench proposals settle 3 4",
    ),
    help="What is named by its number is decided as a whole, in one commit, which `workbench undo` takes back. "
    "In the mode “manual” (proposals.mode) only a person decides.",
)


@proposals_command.subcommand(
    "list",
    short_help="List what waits, with what it contradicts",
    hidden=True,
)
@click.option("--from", "sender", metavar="NAME", help="Of one agent alone.")
@click.option("--conflicts", is_flag=True, help="Only what contradicts something.")
def list_command(invocation: Invocation, sender: str | None, conflicts: bool) -> int:
    """Deferred ones are listed as well; the next reflection takes them up."""
    with invocation.open() as workspace:
        found = workspace.proposals()
    kept = tuple(
        each
        for each in found.proposals
        if (sender is None or each.from_ == sender) and (not conflicts or each.conflicts_with)
    )
    shown = Proposals(kept, found.problems)
    return invocation.report(shown, proposals_lines)


@proposals_command.subcommand(
    "commit",
    short_help="Store proposals as memories",
    answers="This is right; how do I let it in?",
    examples=(
        "workbench proposals commit 3",
        "workbench proposals commit 5 --store procedural",
        "workbench proposals commit 4 --replacing",
    ),
)
@_WORDS
@click.option("--store", type=click.Choice(MEMORY_STORES), help="Store it there, not where it was suggested.")
@click.option("--text", metavar="TEXT", help="Store these words instead; for one proposal.")
@_REPLACING
@_YES
def commit_command(
    invocation: Invocation,
    words: tuple[str, ...],
    store: str | None,
    text: str | None,
    replacing: bool,
    yes: bool,
) -> int:
    """“all” means every proposal that waits and contradicts nothing. Two that contradict each other are settled or both
    kept, not stored as if each were true. With --replacing the new one holds: a fact that
    says otherwise is retired and points to it, any other memory is archived; what is pinned, in core memory or in the
    vault only once you agree.
    """
    with invocation.open() as workspace:
        waiting = workspace.proposals()
        numbers = _numbers(words, waiting)
        settled = _in_place_of(
            invocation,
            [each for each in waiting.proposals if each.number in numbers] if replacing else [],
            lambda places: workspace.proposal_commit(numbers, store=store, text=text, replacing=places),
            yes=yes,
        )
    return _tell(invocation, settled)


@proposals_command.subcommand(
    "reject",
    short_help="Refuse proposals",
    answers="This is wrong; how do I keep it out?",
    examples=("workbench proposals reject 5 --reason duplicate",),
)
@_WORDS
@click.option("--reason", metavar="TEXT", default="", help="Why; it goes into the audit log.")
def reject_command(invocation: Invocation, words: tuple[str, ...], reason: str) -> int:
    """What a person refuses is remembered; an agent that proposes it again is told so."""
    with invocation.open() as workspace:
        numbers = _numbers(words, workspace.proposals())
        return _tell(invocation, workspace.proposal_reject(numbers, reason=reason))


@proposals_command.subcommand(
    "defer",
    short_help="Leave proposals to the next reflection",
    answers="I cannot say; can the reflection look at it?",
    examples=("workbench proposals defer 4",),
)
@_WORDS
def defer_command(invocation: Invocation, words: tuple[str, ...]) -> int:
    """The next reflection puts them before the person as items of its own; nothing is approved by that."""
    with invocation.open() as workspace:
        return _tell(invocation, workspace.proposal_defer(_numbers(words, workspace.proposals())))


@proposals_command.subcommand(
    "keep-both",
    short_help="Store what contradicts each other, less sure and linked",
    answers="Both may be true; how do I keep both?",
    examples=("workbench proposals keep-both 3 4",),
)
@_WORDS
def keep_both_command(invocation: Invocation, words: tuple[str, ...]) -> int:
    """Named alone, a proposal is stored together with those that it contradicts."""
    with invocation.open() as workspace:
        return _tell(invocation, workspace.proposal_keep_both(_numbers(words, workspace.proposals())))


@proposals_command.subcommand(
    "settle",
    short_help="Store one proposal and refuse those that contradict it",
    answers="Two agents disagree; how do I say who is right?",
    examples=("workbench proposals settle 3 4",),
)
@click.argument("keep", metavar="N")
@click.argument("words", metavar="OTHER…", nargs=-1, required=True)
@click.option("--reason", metavar="TEXT", default="", help="Why; it goes into the audit log.")
@_REPLACING
@_YES
def settle_command(
    invocation: Invocation, keep: str, words: tuple[str, ...], reason: str, replacing: bool, yes: bool
) -> int:
    """The first one named is stored, the others are refused, in one commit."""
    with invocation.open() as workspace:
        waiting = workspace.proposals()
        kept, others = _numbers((keep,), waiting), _numbers(words, waiting)
        settled = _in_place_of(
            invocation,
            [each for each in waiting.proposals if each.number in kept] if replacing else [],
            lambda places: workspace.proposal_settle(kept, others, reason=reason, replacing=places),
            yes=yes,
        )
    return _tell(invocation, settled)


def _in_place_of(
    invocation: Invocation,
    stored: Sequence[Proposal],
    decide: Callable[[bool | Collection[str]], Settled],
    *,
    yes: bool,
) -> Settled:
    """Carry out a verdict; a person is asked before what is protected gives way.

    Args:
        stored: What should take the place of the memories that it contradicts.
        decide: Carries it out, in place of nothing, of everything, or of what is named.
        yes: Whether not to ask.
    """
    named = {memory for each in stored for memory in each.conflicts_with if not memory.startswith("#")}
    if yes or not named:
        return decide(named)
    try:
        return decide(True)
    except RoleRefused:
        raise
    except Refused as refused:
        if not invocation.confirm(f"{refused.message} Shall it go?"):
            raise
        return decide(named)


def _numbers(words: Sequence[str], waiting: Proposals) -> list[int]:
    """Return the numbers that words name: `3`, `#3`, `3,4` or `all`."""
    numbers: dict[int, None] = {}
    for word in (part for each in words for part in each.split(",") if part.strip()):
        plain = word.strip().removeprefix("#")
        if plain == "all":
            numbers.update((each.number, None) for each in waiting.proposals if each.status == "pending")
        elif plain.isdecimal() and len(plain) < 10:
            numbers[int(plain)] = None
        else:
            raise InvalidInput(
                f"“{word[:40]}” is no proposal.",
                remedy="Name one by its number, as `workbench proposals` shows it.",
            )
    return list(numbers)


def _tell(invocation: Invocation, settled: Settled) -> int:
    return invocation.report(settled, settled_lines)

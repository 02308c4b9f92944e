"""Commands about what stays: archive or delete, bring back, protect, keep fresh, and how scores decay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import command, complete_entity, complete_memory, group
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.display.decay import decay_lines, explained_lines, fall_lines, trial_lines
from workbench.display.memories import forgotten_lines, match_lines
from workbench.display.text import Page, safe_line
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import MEMORY_STORES, parse_memory_id
from workbench.engine.process import interrupted_by_signals
from workbench.engine.results.decay import DecayEntry, DecayView, Fall
from workbench.engine.results.memories import Changed, Forgotten
from workbench.engine.sync.conflicts import is_conflict_id

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

LATEST = 36_500
MEMORIES_SHOWN = 30
ORDERS = ("score", "id", "made", "used", "uses")
GROUPS = ("store", "tag", "entity")


@command(
    "forget",
    answers="How do I make the agent stop acting on this?",
    examples=(
        "workbench forget old deploy script",
        "workbench forget episode:2026-02-02:14:30 --yes",
        "workbench forget person--mei-chen --hard --purge-history",
    ),
)
@click.argument("words", metavar="QUERY", nargs=-1, required=True, shell_complete=complete_memory)
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
@click.option("--hard", is_flag=True, help="Delete the file or lines, instead of archiving.")
@click.option("--purge-history", is_flag=True, help="Delete, and remove the text from history too.")
def forget_command(
    invocation: Invocation, words: tuple[str, ...], yes: bool, hard: bool, purge_history: bool
) -> int:
    """Shows what matches, then asks. QUERY is words, or ids where every word is one. Archived memories are
    hidden from search and come back with restore or undo; --hard can be undone as long as history has it.
    --purge-history cannot: it removes the text for good, or changes nothing; interrupted, it says which.
    """
    query, ids = _ids_or_query(words)
    hard = hard or purge_history
    with invocation.open() as workspace, interrupted_by_signals() if purge_history else nullcontext():
        if yes:
            done = workspace.forget(query, ids=ids, apply=True, hard=hard, purge_history=purge_history)
            return _report(invocation, done, hard=hard, purged=purge_history)
        found = workspace.forget(query, ids=ids, hard=hard, purge_history=purge_history)
        if not found.matches:
            return _report(invocation, found, hard=hard, purged=purge_history)
        if not agreed_to_archive(invocation, found, found, hard=hard, purge=purge_history):
            return DONE
        # Exactly what was shown, whatever has been written since.
        shown = [match.id for match in found.matches]
        said = query if purge_history else None
        done = workspace.forget(said, ids=shown, apply=True, hard=hard, purge_history=purge_history)
    return _report(invocation, done, hard=hard, purged=purge_history)


def _ids_or_query(words: Sequence[str]) -> tuple[str | None, list[str]]:
    try:
        return None, [word if is_conflict_id(word) else str(parse_memory_id(word)) for word in words]
    except InvalidInput:
        return " ".join(words), []


def agreed_to_archive(
    invocation: Invocation,
    preview: object,
    found: Forgotten,
    *,
    hard: bool,
    purge: bool = False,
    remedy: str = "Add --yes to confirm.",
    note: str | None = None,
) -> bool:
    """Show what would be forgotten and ask whether it shall be.

    Args:
        preview: The answer that holds what was found; it is printed as JSON where nobody can be asked.
        remedy: How to confirm where nobody can be asked.
        note: What to say below the matches, before the warnings.

    Raises:
        ConfirmationNeeded: There is no terminal to ask at; with JSON the refusal is part of the preview,
            and the program ends with its exit code.
    """
    matches = found.matches
    count = "this memory" if len(matches) == 1 else f"these {len(matches)} memories"
    question = f"Archive {count}?"
    if purge:
        question = f"Delete {count} and every trace in history, for good?"
    elif hard:
        question = f"Delete {count} from disk?"

    def draw(page: Page, _: object) -> list[str]:
        lines = [*match_lines(page, matches), *(page.wrapped(safe_line(note)) if note else ())]
        return lines + [line for told in found.warnings for line in page.wrapped(safe_line(told), first="! ")]

    return invocation.agree(question, preview, draw, remedy=remedy)


def _report(invocation: Invocation, done: Forgotten, *, hard: bool, purged: bool) -> int:
    return invocation.report(
        done,
        partial(forgotten_lines, hard=hard, purged=purged),
        code=DONE if done.matches or done.applied else NOTHING_FOUND,
    )


def _on_one_memory(
    invocation: Invocation, id_: str, change: Callable[[Workspace], Changed], said: str, unchanged: str
) -> int:
    with invocation.open() as workspace:
        changed = change(workspace)

    if changed.commit is None and not invocation.json:
        # That nothing had to change is said once.
        changed = replace(changed, warnings=())
    name = safe_line(changed.ids[0] if len(changed.ids) == 1 else id_)
    return invocation.report_change(changed, said.replace("{}", name), unchanged.replace("{}", name))


def _id_argument(callback: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("id_", metavar="ID", shell_complete=complete_memory)(callback)


@command(
    "restore",
    answers="It is still needed; how do I get it back?",
    examples=("workbench restore episode:2026-02-02:14:30",),
)
@_id_argument
def restore_command(invocation: Invocation, id_: str) -> int:
    """It returns to where it was, into the search, the graph and core memory."""
    return _on_one_memory(invocation, id_, lambda it: it.restore(id_), "Restored {}.", "{} is not archived.")


@command(
    "pin",
    answers="How do I make sure this is never forgotten?",
    examples=("workbench pin person--sam-okafor",),
)
@_id_argument
def pin_command(invocation: Invocation, id_: str) -> int:
    """A pinned memory keeps its full score, however long nobody asks for it."""
    return _on_one_memory(invocation, id_, lambda it: it.pin(id_), "Pinned {}.", "{} is pinned already.")


@command(
    "unpin",
    answers="This need not stay for ever; how do I let it fade?",
    examples=("workbench unpin person--sam-okafor",),
)
@_id_argument
def unpin_command(invocation: Invocation, id_: str) -> int:
    """Its score is again what its last access makes of it."""
    return _on_one_memory(invocation, id_, lambda it: it.unpin(id_), "Unpinned {}.", "{} is not pinned.")


@command(
    "reinforce",
    answers="This was used just now; how do I keep it fresh?",
    examples=("workbench reinforce procedure:how-to-deliver-a-chapter",),
)
@_id_argument
def reinforce_command(invocation: Invocation, id_: str) -> int:
    """Accesses are journalled first and reach history in batches, so this may show no commit yet."""
    return _on_one_memory(invocation, id_, lambda it: it.reinforce(id_), "Reinforced {}.", "Reinforced {}.")


decay_command = group(
    "decay",
    default="show",
    help="Lowest scores come first. Nothing is changed, whatever rate you try, unless you --keep it.",
    answers="What is the agent about to forget?",
    examples=(
        "workbench decay",
        "workbench decay --forecast 30,90",
        "workbench decay --fading 30",
        "workbench decay --lambda 0.05",
        "workbench decay --lambda 0.05 --keep",
        "workbench decay --store episodic --group tag",
        "workbench decay explain procedure:how-to-deliver-a-chapter",
    ),
)


def _days(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[int]:
    """Read numbers of days, with commas between them or given one by one."""
    try:
        days = sorted({int(part) for value in values for part in value.split(",")})
    except ValueError as error:
        raise click.BadParameter("Write 30, or 7,30,90.", context, parameter) from error
    if any(not 0 < day <= LATEST for day in days):
        raise click.BadParameter(f"Days are between 1 and {LATEST}.", context, parameter)
    return days


@decay_command.subcommand("show", short_help="Show how fresh every memory is, now and later", hidden=True)
@click.option(
    "--forecast",
    multiple=True,
    callback=_days,
    metavar="DAYS",
    help="Also the score in so many days; 7,30,90.",
)
@click.option(
    "--fading",
    type=click.IntRange(1, LATEST),
    metavar="DAYS",
    help="What passes a threshold within so many days, the soonest first.",
)
@click.option(
    "--lambda",
    "lambda_",
    type=click.FloatRange(min=0),
    metavar="X",
    help="What would change with this rate of decay a day.",
)
@click.option("--keep", is_flag=True, help="With --lambda: make it the rate of this workspace.")
@click.option("-y", "--yes", is_flag=True, help="Keep it without asking.")
@click.option("--store", type=click.Choice(MEMORY_STORES), metavar="STORE", help="Only memories of a store.")
@click.option("--tag", metavar="TAG", help="Only episodes with a tag.")
@click.option(
    "--entity",
    metavar="ENTITY",
    shell_complete=complete_entity,
    help="Only what names an entity, and the entity.",
)
@click.option("--group", "grouped", type=click.Choice(GROUPS), metavar="BY", help="By store, tag or entity.")
@click.option(
    "--sort",
    type=click.Choice(ORDERS),
    default="score",
    metavar="BY",
    help="By score, id, made, used or uses; the lowest or oldest first.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=MEMORIES_SHOWN,
    metavar="N",
    help=f"Print at most so many; {MEMORIES_SHOWN} if left out. JSON always has all.",
)
def show(
    invocation: Invocation,
    forecast: list[int],
    fading: int | None,
    lambda_: float | None,
    keep: bool,
    yes: bool,
    store: str | None,
    tag: str | None,
    entity: str | None,
    grouped: str | None,
    sort: str,
    limit: int,
) -> int:
    if keep and lambda_ is None:
        raise click.UsageError("--keep goes with --lambda X: say which rate.")
    if fading and (forecast or keep):
        raise click.UsageError("--fading goes with neither --forecast nor --keep.")
    with invocation.open() as workspace:
        wanted = _wanted(store, tag, str(workspace.resolve(entity)) if entity else None)
        if fading:
            return _falls(invocation, workspace, fading, lambda_, wanted, limit)
        standing: DecayView | None = None
        if lambda_ is not None and not (invocation.json and not keep):
            standing = _narrowed(workspace.decay(), wanted)
        decay = _narrowed(workspace.decay(forecast=forecast, lambda_=lambda_), wanted)
        order = _order(sort)
        decay = replace(decay, entries=tuple(sorted(decay.entries, key=order))) if order else decay

        def draw(page: Page, decay: DecayView) -> list[str]:
            if standing is not None:
                return trial_lines(page, standing, decay, limit=limit)
            course = partial(workspace.decay_course, decay) if forecast else None
            return decay_lines(page, decay, sort=sort, grouped=grouped, limit=limit, course=course)

        if not keep or lambda_ is None:
            return invocation.report(decay, draw)
        if not yes and not invocation.agree(
            f"Make λ {lambda_:g} a day the rate of this workspace?", decay, draw
        ):
            return DONE
        changed = workspace.decay_keep(lambda_)
    return invocation.report_change(
        changed, f"λ is {lambda_:g} a day now.", f"λ was {lambda_:g} a day already."
    )


def _falls(
    invocation: Invocation,
    workspace: Workspace,
    within: int,
    lambda_: float | None,
    wanted: Callable[[DecayEntry], bool] | None,
    limit: int,
) -> int:
    found = workspace.decay_falls(within, lambda_=lambda_)
    if wanted is not None:
        ids = {entry.id for entry in workspace.decay().entries if wanted(entry)}
        falls: tuple[Fall, ...] = tuple(fall for fall in found.falls if fall.id in ids)
        found = replace(found, falls=falls)
    return invocation.report(found, partial(fall_lines, tried=lambda_ is not None, limit=limit))


def _wanted(store: str | None, tag: str | None, entity: str | None) -> Callable[[DecayEntry], bool] | None:
    """Return the filter that was asked for, or None for all memories."""
    if store is None and tag is None and entity is None:
        return None
    return lambda entry: (
        (store is None or entry.store == store)
        and (tag is None or tag.casefold() in (known.casefold() for known in entry.tags))
        and (entity is None or entity in entry.entities)
    )


def _narrowed(decay: DecayView, wanted: Callable[[DecayEntry], bool] | None) -> DecayView:
    return decay if wanted is None else replace(decay, entries=tuple(filter(wanted, decay.entries)))


def _order(sort: str) -> Callable[[DecayEntry], tuple[datetime | int | str, str]] | None:
    """Return what entries are sorted by; by score they are sorted for people alone."""
    match sort:
        case "id":
            return lambda entry: (entry.id, "")
        case "made":
            return lambda entry: (entry.created, entry.id)
        case "used":
            return lambda entry: (entry.last_accessed, entry.id)
        case "uses":
            return lambda entry: (entry.access_count, entry.id)
    return None


def _day(context: click.Context, parameter: click.Parameter, value: str | None) -> date | None:
    try:
        return date.fromisoformat(value) if value else None
    except ValueError as error:
        raise click.BadParameter("Write a day as 2026-03-01.", context, parameter) from error


@decay_command.subcommand(
    "explain",
    short_help="Write out the formula of one score, and when it passes which threshold",
    answers="Why is this memory as fresh as it is?",
    examples=(
        "workbench decay explain procedure:how-to-deliver-a-chapter",
        "workbench decay explain person--sam-okafor --on 2026-12-24",
    ),
)
@click.argument("id_", metavar="ID", shell_complete=complete_memory)
@click.option("--on", callback=_day, metavar="DAY", help="As it is on that day if nobody touches it.")
@click.option(
    "--lambda", "lambda_", type=click.FloatRange(min=0), metavar="X", help="With this rate of decay a day."
)
def explain(invocation: Invocation, id_: str, on: date | None, lambda_: float | None) -> int:
    """The design document’s formula: base × e^(−λ·days) × log2(uses + 1) × type weight."""
    return invocation.ask(lambda it: it.decay_explain(id_, on=on, lambda_=lambda_), explained_lines)

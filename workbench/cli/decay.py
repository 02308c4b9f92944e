"""The command for decay: scores now and to come, what falls when, and what another rate would change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.options import complete_entity, complete_memory
from workbench.cli.printing import Page
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.results.decay import DecayEntry, DecayView, Fall

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

LATEST = 36_500
MEMORIES_SHOWN = 30
ORDERS = ("score", "id", "made", "used", "uses")
GROUPS = ("store", "tag", "entity")

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
        "workbench decay explain procedure:how-to-deploy-harbor",
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


@decay_command.bench_command("show", short_help="Show how fresh every memory is, now and later", hidden=True)
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
@click.pass_obj
def show(
    bench: Invocation,
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
    with bench.open() as workspace:
        wanted = _wanted(store, tag, str(workspace.resolve(entity)) if entity else None)
        if fading:
            return _falls(bench, workspace, fading, lambda_, wanted, limit)
        standing: DecayView | None = None
        if lambda_ is not None and not (bench.json and not keep):
            standing = _narrowed(workspace.decay(), wanted)
        decay = _narrowed(workspace.decay(forecast=forecast, lambda_=lambda_), wanted)
        order = _order(sort)
        decay = replace(decay, entries=tuple(sorted(decay.entries, key=order))) if order else decay

        def view(page: Page) -> list[str]:
            from workbench.cli.views.decay import decay_lines, trial_lines

            if standing is not None:
                return trial_lines(page, standing, decay, limit=limit)
            course = partial(workspace.decay_course, decay) if forecast else None
            return decay_lines(page, decay, sort=sort, grouped=grouped, limit=limit, course=course)

        if not keep or lambda_ is None:
            return bench.report(decay, view)
        if not yes and not bench.agree(f"Make λ {lambda_:g} a day the rate of this workspace?", decay, view):
            return DONE
        changed = workspace.decay_keep(lambda_)

    def told(page: Page) -> list[str]:
        from workbench.cli.views.changes import changed_lines

        return changed_lines(
            page, changed, f"λ is {lambda_:g} a day now.", f"λ was {lambda_:g} a day already."
        )

    return bench.report(changed, told)


def _falls(
    bench: Invocation,
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

    def view(page: Page) -> list[str]:
        from workbench.cli.views.decay import fall_lines

        return fall_lines(page, found, tried=lambda_ is not None, limit=limit)

    return bench.report(found, view)


def _wanted(store: str | None, tag: str | None, entity: str | None) -> Callable[[DecayEntry], bool] | None:
    """Return what tells whether a memory is asked for; None where all are."""
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


@decay_command.bench_command(
    "explain",
    short_help="Write out the formula of one score, and when it passes which threshold",
    answers="Why is this memory as fresh as it is?",
    examples=(
        "workbench decay explain procedure:how-to-deploy-harbor",
        "workbench decay explain person--sam-okafor --on 2026-12-24",
    ),
)
@click.argument("id_", metavar="ID", shell_complete=complete_memory)
@click.option("--on", callback=_day, metavar="DAY", help="As it is on that day if nobody touches it.")
@click.option(
    "--lambda", "lambda_", type=click.FloatRange(min=0), metavar="X", help="With this rate of decay a day."
)
@click.pass_obj
def explain(bench: Invocation, id_: str, on: date | None, lambda_: float | None) -> int:
    """The design document’s formula: base × e^(−λ·days) × log2(uses + 1) × type weight."""
    with bench.open() as workspace:
        explained = workspace.decay_explain(id_, on=on, lambda_=lambda_)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.decay import explained_lines

        return explained_lines(page, explained)

    return bench.report(explained, view)

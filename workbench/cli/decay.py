"""The command for decay: scores and statuses now, and in days to come."""

from __future__ import annotations

import click

from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page

LATEST = 36_500
MEMORIES_SHOWN = 30


def _days(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[int]:
    """Read numbers of days, with commas between them or given one by one."""
    try:
        days = sorted({int(part) for value in values for part in value.split(",")})
    except ValueError as error:
        raise click.BadParameter("Write 30, or 7,30,90.", context, parameter) from error
    if any(not 0 < day <= LATEST for day in days):
        raise click.BadParameter(f"Days are between 1 and {LATEST}.", context, parameter)
    return days


@command(
    "decay",
    answers="What is the agent about to forget?",
    examples=("workbench decay", "workbench decay --forecast 30,90", "workbench decay --lambda 0.05"),
)
@click.option(
    "--forecast",
    multiple=True,
    callback=_days,
    metavar="DAYS",
    help="Also the score in so many days; 7,30,90.",
)
@click.option(
    "--lambda",
    "lambda_",
    type=click.FloatRange(min=0),
    metavar="X",
    help="What would change with this rate of decay a day.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=MEMORIES_SHOWN,
    metavar="N",
    help=f"Print at most so many; {MEMORIES_SHOWN} if left out. JSON always has all.",
)
@click.pass_obj
def decay_command(bench: Invocation, forecast: list[int], lambda_: float | None, limit: int) -> int:
    """Lowest scores come first. Nothing is changed, whatever rate you try: the settings hold the real one."""
    with bench.open() as workspace:
        decay = workspace.decay(forecast=forecast, lambda_=lambda_)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.decay import decay_lines

        return decay_lines(page, decay, tried=lambda_ is not None, limit=limit)

    return bench.report(decay, view)

"""The command for settings: list them with who says so, and change one where it may stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.invocation import Invocation
from workbench.display.changes import account_lines
from workbench.display.settings import who_says
from workbench.display.text import Page, safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.settings import SettingChanged, SettingsListed
    from workbench.engine.workspace import Workspace

settings_command = group(
    "settings",
    default="show",
    help="Each setting with its value and who says so: this workspace’s workbench.toml, your own config.toml, a "
    "variable, another program, or nobody.",
    answers="What is set here, where, and how do I change it?",
    examples=("workbench settings", 'workbench settings set decay.lambda "35 days"'),
)


@settings_command.subcommand("show", short_help="List the settings", hidden=True)
@click.option("--set", "only_set", is_flag=True, help="Only those that somebody set.")
def show(invocation: Invocation, only_set: bool) -> int:
    def draw(page: Page, listed: SettingsListed) -> list[str]:
        rows = [row for row in listed.settings if row.source != "default" or not only_set]
        width = max((len(row.key) for row in rows), default=0)
        lines: list[str] = []
        under = ""
        for row in rows:
            if row.section != under:
                under = row.section
                lines += [*([""] if lines else []), page.paint(under, "strong")]
            who = "" if row.source == "default" else page.paint(f"  {who_says(row)}", "quiet")
            lines.append(f"  {row.key:<{width}}  {safe_line(row.said)}{who}")
        return lines or ["Nobody set anything."]

    return invocation.ask(lambda it: it.settings_listed(), draw)


@settings_command.subcommand(
    "set",
    short_help="Change one",
    answers="How do I change this setting?",
    examples=("workbench settings set core.cap 2500", 'workbench settings set decay.lambda "35 days"'),
)
@click.argument("key")
@click.argument("value")
@click.option("--mine", is_flag=True, help="In your own config.toml, for all workspaces.")
def set_setting(invocation: Invocation, key: str, value: str, mine: bool) -> int:
    """VALUE is written as the list says it. What only you may set goes to your own config.toml."""
    return _change(invocation, lambda it: it.setting_change(key, value, own=mine))


@settings_command.subcommand(
    "reset",
    short_help="Put one back to its default",
    answers="How do I take a setting back?",
    examples=("workbench settings reset core.cap",),
)
@click.argument("key")
def reset(invocation: Invocation, key: str) -> int:
    """Takes it out of the file that sets it; the next weaker one counts then, or the default."""
    return _change(invocation, lambda it: it.setting_reset(key))


def _change(invocation: Invocation, change: Callable[[Workspace], SettingChanged]) -> int:
    with invocation.open() as workspace:
        changed = change(workspace)

    def draw(page: Page, changed: SettingChanged) -> list[str]:
        name = safe_line(changed.key)
        if not changed.file:
            return [f"{name} is {safe_line(changed.after)} already."]
        said = f"{name} is {safe_line(changed.after)} now, in {safe_line(changed.file)}."
        return [page.done(said), *account_lines(page, changed)]

    return invocation.report(changed, draw)

"""The top of the command line: it imports the command that is chosen, and is the outermost shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from workbench import __version__
from workbench.cli.command import SETTINGS, BenchCommand, BenchGroup, invocation_of, write_options
from workbench.cli.commands import COMMANDS, TOPICS
from workbench.cli.failure import (
    READER_GONE,
    asks_for_json,
    debugging,
    describe,
    drop_stdout,
    is_expected,
    tell,
)
from workbench.cli.invocation import Invocation

PROGRAM = "workbench"
COMPLETION_VARIABLE = "_WORKBENCH_COMPLETE"


class Workbench(BenchGroup):
    """The `workbench` command; its commands are imported one at a time, when they are chosen."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        listed = COMMANDS.get(cmd_name)
        if listed is None:
            return None
        module = import_module(f"workbench.cli.{listed.module}")
        found: BenchCommand | BenchGroup = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        found.short_help = listed.purpose
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in COMMANDS)
        for topic, commands in TOPICS.items():
            with formatter.section(topic):
                rows = [(name.ljust(width), listed.purpose) for name, listed in commands.items()]
                formatter.write_dl(rows)
        write_options(self, ctx, formatter)

    def main(self, args: Sequence[str] | None = None, *_settings: Any, **extra: Any) -> NoReturn:
        """Run a command line and exit with its code, whatever happens.

        Args:
            args: The words after the program's name; those of `sys.argv` by default.
            extra: `obj` may bring an `Invocation` with a door of its own; the rest has no effect.
        """
        arguments = list(sys.argv[1:] if args is None else args)
        instruction = os.environ.get(COMPLETION_VARIABLE)
        if instruction:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, PROGRAM, COMPLETION_VARIABLE, instruction))
        sys.exit(self._run(arguments, extra.get("obj") or Invocation()))

    def _run(self, arguments: list[str], invocation: Invocation) -> int:
        try:
            try:
                with self.make_context(PROGRAM, list(arguments), obj=invocation) as context:
                    code = self.invoke(context) or 0
            except click.exceptions.Exit as done:
                code = done.exit_code
            sys.stdout.flush()
        except BrokenPipeError:
            drop_stdout()
            return READER_GONE
        except Exception as error:  # the outermost shell: whatever it is becomes one message
            return self._fail(error, json=invocation.json or asks_for_json(arguments))
        except KeyboardInterrupt as error:
            return self._fail(error, json=invocation.json or asks_for_json(arguments))
        return int(code)

    def _fail(self, error: BaseException, *, json: bool) -> int:
        failure = describe(error)
        try:
            if failure.kind == "interrupted" and not json:
                sys.stderr.write("\n")
            tell(failure, json=json)
            if debugging() and not is_expected(error):
                import traceback

                traceback.print_exception(error)
        except BrokenPipeError:
            drop_stdout()
        return failure.code


def _show_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"workbench {__version__}")
        context.exit()


@click.pass_context
def _alone(context: click.Context) -> int | None:
    """Open the bench where no command is named."""
    if context.invoked_subcommand is not None:
        return None
    from workbench.cli.begin import open_bench

    return open_bench(invocation_of(context))


workbench = Workbench(
    PROGRAM,
    callback=_alone,
    invoke_without_command=True,
    context_settings=SETTINGS,
    short_help="Memory for AI agents that people can see, correct and trust",
    help="Alone, it opens the bench on the nearest workspace. "
    "`workbench COMMAND --help` explains a command, with an example.",
    examples=("workbench demo", "workbench search hybrid", "workbench audit log --limit 5"),
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Say which version this is.",
        )
    ],
)

"""The top of the command line: the table of commands, of which the chosen one is imported, and the outermost shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from workbench import __version__
from workbench.cli.command import SETTINGS, BenchCommand, BenchGroup, invocation_of, write_options
from workbench.cli.invocation import (
    READER_GONE,
    Invocation,
    asks_for_json,
    debugging,
    describe,
    drop_stdout,
    is_expected,
    tell,
)

PROGRAM = "workbench"
COMPLETION_VARIABLE = "_WORKBENCH_COMPLETE"


class Listed(NamedTuple):
    """A command before it is imported.

    Args:
        module: Its module in this package; the command is the module's attribute `NAME_command`.
        purpose: One sentence without its full stop.
    """

    module: str
    purpose: str


TOPICS: dict[str, dict[str, Listed]] = {
    "Begin": {
        "init": Listed("begin", "Lay out a workspace here, or adopt the memory that is here already"),
        "demo": Listed("begin", "Build a sample workspace and open the bench on it"),
        "open": Listed("begin", "Open the bench, at one memory if you name one"),
        "web": Listed("begin", "Show the bench in a browser on this machine"),
    },
    "Remember": {
        "remember": Listed("remember", "Store something in the memory it belongs to"),
        "message": Listed("remember", "Do what one message of a conversation asks of memory"),
        "propose": Listed("remember", "Ask for something to be remembered, as an agent that may not write"),
        "edit": Listed("edit", "Change one memory or file in your editor"),
        "core": Listed("edit", "Show or change what the agent always has in mind"),
        "secrets": Listed("secrets", "Decide on what looks like a key or a password"),
    },
    "Find": {
        "search": Listed("search", "Find memories by what they say"),
        "show": Listed("search", "Show one memory with everything known about it"),
        "get": Listed("search", "Print a memory file, or some lines of it"),
        "graph": Listed("graph", "Show or change what is known about people, projects and things"),
        "brief": Listed("search", "Print what an agent needs at the start of a session"),
    },
    "Forget": {
        "forget": Listed("forget", "Archive memories, or delete them for good"),
        "restore": Listed("forget", "Bring an archived memory back"),
        "pin": Listed("forget", "Protect a memory from decay"),
        "unpin": Listed("forget", "Let a pinned memory decay again"),
        "reinforce": Listed("forget", "Count an access, so that a memory stays fresh"),
        "decay": Listed("forget", "Show how fresh every memory is, now and later"),
    },
    "Reflect": {
        "reflect": Listed("review", "Propose what should be learned from what is new"),
        "review": Listed("review", "Decide on what a reflection proposes"),
        "proposals": Listed("proposals", "Decide on what agents propose"),
    },
    "Account for it": {
        "audit": Listed("audit", "Show who changed what, when, and on whose approval"),
        "undo": Listed("audit", "Take back the newest action"),
        "redo": Listed("audit", "Do again what was undone last"),
        "revert": Listed("audit", "Take back one commit, whatever came after it"),
        "rollback": Listed("audit", "Return to how memory was"),
    },
    "Give it to agents": {
        "connect": Listed("connect", "Give this memory to an agent’s program: its configuration and hooks"),
        "disconnect": Listed("connect", "Take this memory out of an agent’s program again"),
        "mcp": Listed("serving", "Serve this memory to an agent over MCP"),
        "agents-md": Listed("connect", "Print instructions for an agent’s prompt"),
    },
    "Bring it along": {
        "import": Listed("transfer", "Bring in memory, conversations and documents from elsewhere"),
        "export": Listed("transfer", "Hand the whole memory over, to be kept or imported elsewhere"),
        "sync": Listed("sync", "Bring this memory and a git remote together: one memory on several devices"),
        "hub": Listed("hub", "Keep many memories in one PostgreSQL database, and search them all"),
    },
    "Follow conversations": {
        "sessions": Listed("sessions", "Show conversations and what is kept of them"),
    },
    "Look after it": {
        "index": Listed("maintenance", "Bring the search index up to date, or say how it is"),
        "daemon": Listed(
            "maintenance", "Look after this memory until you end it: adopt, index, reflect in time"
        ),
        "settings": Listed("maintenance", "Show every setting with who says so, or change one"),
        "doctor": Listed("maintenance", "Say what works here, what does not, and how to mend it"),
        "completion": Listed("maintenance", "Print the completion script for your shell"),
    },
}

COMMANDS: dict[str, Listed] = {name: listed for topic in TOPICS.values() for name, listed in topic.items()}
# Run by programs alone, and so in no list.
HIDDEN: dict[str, Listed] = {
    "hook": Listed("hook", "Tell an agent’s program what it needs at a moment of a session"),
}


class Workbench(BenchGroup):
    """The `workbench` command; its commands are imported one at a time, when they are chosen."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        listed = COMMANDS.get(cmd_name) or HIDDEN.get(cmd_name)
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
        context: click.Context | None = None
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
        except (Exception, KeyboardInterrupt) as error:  # the outermost shell, of one message
            if context is not None and context.invoked_subcommand == "hook":
                # A client that an exit code stops must not be stopped by the options of another version either.
                from workbench.cli.hook_moment import note

                note(describe(error).message)
                return 0
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

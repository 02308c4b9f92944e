"""What every command has in common: the options taken anywhere, and help that teaches."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from workbench.cli.invocation import Invocation
from workbench.engine.patterns import lazy_pattern

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 88}
NAMES_SHOWN = 3
_LIST_ITEM = lazy_pattern(r"-+\s")
_MASK = "\ue000"

Callback = Callable[..., "int | None"]


def _unmasked(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_unmasked(item) for item in value)
    return value.removeprefix(_MASK) if isinstance(value, str) else value


def shared_options() -> list[click.Option]:
    """Return `--workspace`, `--role` and `--json`, which may come before or after any command."""
    return [
        click.Option(
            ["-w", "--workspace"],
            metavar="PATH",
            type=click.Path(path_type=Path),
            expose_value=False,
            callback=_take_workspace,
            help="The workspace folder; else WORKBENCH_WORKSPACE, the nearest one upward, or your default.",
        ),
        click.Option(
            ["--role"],
            metavar="ROLE",
            expose_value=False,
            callback=_take_role,
            help="Who asks: person, main, agent:NAME or reader; else WORKBENCH_ROLE, or a person.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=_take_json,
            help="Answer with JSON on stdout, errors too.",
        ),
    ]


def _take_workspace(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        invocation_of(context).workspace = value


def _take_role(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        invocation_of(context).role = value


def _take_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        invocation_of(context).json = True


def invocation_of(context: click.Context) -> Invocation:
    """Return what this run of the program was asked, wherever in the chain of commands it was said."""
    return context.find_root().ensure_object(Invocation)


class Teaching(click.Command):
    """A command whose help says what it answers and how it is used.

    Args:
        short_help: The purpose, one sentence without its full stop; those in the table of
            commands have it from there.
        help: What more there is to know, if anything.
        answers: The question a person has when they need this command.
        examples: Command lines that work on the sample workspace.
    """

    def __init__(self, *args: Any, answers: str = "", examples: Sequence[str] = (), **settings: Any) -> None:
        settings.setdefault("context_settings", SETTINGS)
        super().__init__(*args, **settings)
        self.answers = answers
        self.examples = tuple(examples)
        self.params.extend(shared_options())

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{self.short_help}.")
            if self.help:
                formatter.write_paragraph()
                formatter.write_text(inspect.cleandoc(self.help))
            if self.answers:
                formatter.write_paragraph()
                formatter.write_text(f"Answers: {self.answers}")
        if self.examples:
            with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, ctx, formatter)


class BenchCommand(Teaching):
    """A command that does one thing."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # “- item” is Markdown, not an option; it is masked while options are looked for.
        rest = super().parse_args(ctx, [_MASK + word if _LIST_ITEM.match(word) else word for word in args])
        ctx.params = {name: _unmasked(value) for name, value in ctx.params.items()}
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        options, *words = super().collect_usage_pieces(ctx)
        return [*words, options]


class BenchGroup(Teaching, click.Group):
    """A command with further commands below it; without one it does what its `default` does.

    Args:
        default: The name of the command that is meant where none is named.
    """

    def __init__(self, *args: Any, default: str | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.default = default

    def subcommand(self, name: str, **settings: Any) -> Callable[[Callback], BenchCommand]:
        """Declare a command below this one, as `command` declares one at the top."""

        def declare(callback: Callback) -> BenchCommand:
            made = command(name, **settings)(callback)
            self.add_command(made)
            return made

        return declare

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._with_default(args, completing=ctx.resilient_parsing))

    def _with_default(self, args: list[str], *, completing: bool) -> list[str]:
        """Put the default command's name where a command's name is missing."""
        if self.default is None:
            return args
        place = 0
        while place < len(args):
            word = args[place]
            if word in {"-w", "--workspace", "--role"}:
                place += 2
            elif word == "--json" or word.startswith(("--workspace=", "-w", "--role=")):
                place += 1
            elif word in self.commands or word in {"-h", "--help"}:
                return args
            else:
                break
        bare = place >= len(args)
        if bare and completing:
            return args
        takes_words = any(isinstance(param, click.Argument) for param in self.commands[self.default].params)
        if bare or takes_words or args[place].startswith("-"):
            return [*args[:place], self.default, *args[place:]]
        return args

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        found = self.get_command(ctx, name)
        if found is None and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, self.list_commands(ctx), NAMES_SHOWN, 0.5)
            meant = " Did you mean " + " or ".join(f"“{option}”" for option in near) + "?" if near else ""
            raise click.UsageError(f"There is no command “{ctx.command_path} {name}”.{meant}", ctx)
        return (name if found else None), found, args[1:]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.default is None:
            super().format_usage(ctx, formatter)
            return
        with click.Context(self.commands[self.default], info_name=ctx.info_name, parent=ctx.parent) as inner:
            pieces = self.commands[self.default].collect_usage_pieces(inner)
        formatter.write_usage(ctx.command_path, " ".join(pieces))
        formatter.write_usage(ctx.command_path, "COMMAND …", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (name, found.get_short_help_str())
            for name in self.list_commands(ctx)
            if (found := self.get_command(ctx, name)) is not None and not found.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        write_options(self.commands[self.default] if self.default else self, ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return list(self.commands)


def command(name: str, **settings: Any) -> Callable[[Callback], BenchCommand]:
    """Declare a command; its callback is given the invocation, and returns the exit code, or None for 0.

    Args:
        settings: Of `BenchCommand`.
    """

    def declare(callback: Callback) -> BenchCommand:
        made = click.command(name, cls=BenchCommand, **settings)(click.pass_obj(callback))
        assert isinstance(made, BenchCommand)
        return made

    return declare


def group(name: str, **settings: Any) -> BenchGroup:
    """Declare a command with further commands below it."""
    return BenchGroup(name, callback=lambda: None, **settings)


def write_options(taught: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the command's own options, then those that every command takes."""
    own: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    for param in taught.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            everywhere = not param.expose_value or "--help" in param.opts
            (shared if everywhere else own).append(record)
    for title, records in (("Options", own), ("Options of every command", shared)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)

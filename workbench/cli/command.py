"""What commands have in common: options, help that teaches, a text or `-` for stdin, names for the tab key."""

from __future__ import annotations

import difflib
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from workbench.cli.invocation import Invocation, role_of
from workbench.display.text import unsafe_characters
from workbench.engine import layout
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.identifiers import entity_name
from workbench.engine.patterns import lazy_pattern
from workbench.engine.roles import within

if TYPE_CHECKING:
    from workbench.engine.scoped_memory import ScopedMemory

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


MOST_OFFERED = 200
SCOPE_VARIABLE: Final = "WORKBENCH_SCOPE"


def complete_entity(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the ids of entities, in the short form that shells do not take apart at a colon."""
    return _offer(context, begun, _entities)


def complete_memory(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the ids of entities and procedures."""
    return _offer(context, begun, _entities, _procedures)


def complete_file(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the paths of memory files."""
    return _offer(context, begun, _files)


def complete_memory_or_file(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer ids and paths."""
    return _offer(context, begun, _entities, _procedures, _files)


def _offer(context: click.Context, begun: str, *sources: Callable[[Path], Iterator[str]]) -> list[str]:
    try:
        root = invocation_of(context).locate()
        names = (name for source in sources for name in source(root))
        offered = (name for name in names if name.startswith(begun) and not any(unsafe_characters(name)))
        return sorted(islice(offered, MOST_OFFERED))
    except (OSError, WorkbenchError):
        # The line is not finished: whatever is wrong is said when it is run.
        return []


def _stems(folder: Path) -> Iterator[str]:
    if folder.is_dir():
        with os.scandir(folder) as found:
            yield from (entry.name[:-3] for entry in found if entry.name.endswith(".md"))


def _entities(root: Path) -> Iterator[str]:
    return map(entity_name, _stems(root / layout.ENTITIES))


def _procedures(root: Path) -> Iterator[str]:
    return (f"procedure:{stem}" for stem in _stems(root / layout.PROCEDURES))


def _files(root: Path) -> Iterator[str]:
    yield from (path.name for path in root.glob("*.md") if layout.is_memory_file(path.name))
    for path in (root / "memory").rglob("*.md"):
        name = path.relative_to(root).as_posix()
        if layout.is_memory_file(name):
            yield name


scope_option = click.option(
    "--scope",
    metavar="SCOPE",
    help="Ask as person:NAME or group:NAME, which know only what is for them; else WORKBENCH_SCOPE, or the owner.",
)


def scope_of(asked: str | None) -> str | None:
    """Return the scope that a door is opened for; None for the owner's.

    Args:
        asked: What the command line says; None where it says nothing.

    Raises:
        InvalidInput: One of them is no scope.
        RoleRefused: The command line names another scope than the environment.
    """
    return within(asked, os.environ.get(SCOPE_VARIABLE, "").strip() or None)


def scoped_door(invocation: Invocation, asked: str | None, role: str | None = None) -> ScopedMemory | None:
    """Open the door of the scope that is meant, for use in a `with` statement; None where the owner asks.

    Args:
        role: Who asks; as of every command by default.
    """
    scope = scope_of(asked)
    if scope is None:
        return None
    from workbench.engine.scoped_memory import ScopedMemory

    role = role_of(invocation.role) if role is None else role
    return ScopedMemory.open(invocation.find(), scope=scope, role=role, clock=invocation.clock())


def program_words() -> list[str]:
    """Return the command line that starts this very program anywhere, without arguments."""
    # The one that runs, then the one beside this Python: another one of the search path may be another version.
    for place in (Path(sys.argv[0]), Path(sys.executable).with_name("workbench")):
        if place.name == "workbench" and place.is_file() and os.access(place, os.X_OK):
            return [str(place.absolute())]
    found = shutil.which("workbench")
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", "workbench"]


def text_of(words: tuple[str, ...], *, what: str) -> str:
    """Return the words as one text, or all of stdin where they are a single `-`.

    Args:
        what: What is missing where there is nothing, for the usage error.
    """
    try:
        text = sys.stdin.buffer.read().decode() if words == ("-",) else " ".join(words)
        # Bytes of the command line that are no UTF-8 arrive as lone surrogates.
        text.encode()
    except UnicodeError as error:
        raise InvalidInput(f"{what} is not UTF-8.", remedy="Give it as UTF-8.") from error
    if not text.strip():
        raise click.UsageError(f"{what} is empty.", click.get_current_context(silent=True))
    return text

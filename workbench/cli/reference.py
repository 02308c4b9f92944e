"""The reference of the commands as Markdown, made from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from workbench.cli.command import SETTINGS, BenchGroup, Teaching
from workbench.cli.root import PROGRAM, TOPICS, workbench

_BEGINNING = """\
# Commands

Made from the commands themselves: `python -m workbench.cli.reference > docs/commands.md`.

`workbench` alone opens the bench on the nearest workspace. Every command takes `--workspace PATH` and `--json`, before
or after its name. With `--json` the answer is JSON on stdout, errors too; times in JSON are UTC, times for people are
those of the workspace’s own time zone. What asks for confirmation takes `--yes`.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | failed, or something is broken |
| 2 | the command line makes no sense as given |
| 3 | nothing was found |
| 4 | another program is writing, or what was to be changed has changed meanwhile |
| 5 | refused: not allowed, outside the workspace, over the budget, or not confirmed |

| variable | does |
| --- | --- |
| `WORKBENCH_WORKSPACE` | names the workspace |
| `WORKBENCH_NOW` | sets the clock, such as `2026-02-02T14:30:00Z`, to try how memory fades over months |
| `WORKBENCH_DEBUG` | shows where an unexpected error happened |
| `EDITOR`, `VISUAL` | the editor that `edit` opens |
| `NO_COLOR` | turns colours off |
"""


def render_table() -> str:
    """Return the table of commands: one row each, in the order of `--help`."""
    rows = ["| command | does |", "| --- | --- |"]
    for commands in TOPICS.values():
        rows += [
            f"| `{_cell(_usage(name))}` | {_cell(listed.purpose)} |" for name, listed in commands.items()
        ]
    return "\n".join(rows) + "\n"


def render_reference() -> str:
    """Return the whole reference: per command its usage, what it answers, its options and examples."""
    parts = []
    for topic, commands in TOPICS.items():
        parts.append(f"## {topic}")
        for name in commands:
            parts += _command_parts(name, _find(name), 3)
    shared = [param for param in workbench.get_params(_context()) if isinstance(param, click.Option)]
    parts += ["## Options of every command", _options(shared, everywhere=True)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _context() -> click.Context:
    return click.Context(workbench, info_name=PROGRAM, **SETTINGS)


def _find(name: str) -> Teaching:
    found = workbench.get_command(_context(), name)
    assert isinstance(found, Teaching)
    return found


def _usage(name: str) -> str:
    found = _find(name)
    below = [command for command in _below(found) if not command.hidden]
    described = next(iter(_default(found)), found)
    words = [piece for piece in _pieces(described) if not piece.startswith("[OPTIONS")]
    named = f" · {' · '.join(str(command.name) for command in below)}" if below else ""
    return " ".join([name, *words]) + named


def _pieces(command: click.Command) -> list[str]:
    return command.collect_usage_pieces(click.Context(command, info_name=command.name, parent=_context()))


def _below(command: Teaching) -> Iterator[Teaching]:
    if isinstance(command, BenchGroup):
        yield from (found for found in command.commands.values() if isinstance(found, Teaching))


def _default(command: Teaching) -> Iterator[Teaching]:
    if isinstance(command, BenchGroup):
        yield from (found for found in _below(command) if found.name == command.default)


def _command_parts(path: str, command: Teaching, level: int) -> list[str]:
    described = next(iter(_default(command)), command)
    usage = " ".join([PROGRAM, path, *_pieces(described)])
    more = command.help.replace("\n", " ") if command.help else ""
    own = [param for param in described.params if isinstance(param, click.Option) and param.expose_value]
    parts = [
        f"{'#' * level} {path}",
        f"{command.short_help}.",
        f"*{command.answers}*" if command.answers else "",
        f"```sh\n{usage}\n```",
        " ".join(more.split()),
        _options(own),
        "```sh\n" + "\n".join(command.examples) + "\n```" if command.examples else "",
    ]
    for found in _below(command):
        if not found.hidden and found is not described:
            parts += _command_parts(f"{path} {found.name}", found, level + 1)
    return parts


def _options(options: list[click.Option], *, everywhere: bool = False) -> str:
    context = _context()
    records = [
        record
        for option in options
        if everywhere or "--help" not in option.opts
        if (record := option.get_help_record(context)) is not None
    ]
    if not records:
        return ""
    rows = [f"| `{_cell(names)}` | {_cell(about)} |" for names, about in records]
    return "\n".join(["| option | means |", "| --- | --- |", *rows])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def render_page() -> str:
    """Return `docs/commands.md`: what holds for every command, then each of them."""
    return f"{_BEGINNING}\n{render_table()}\n{render_reference()}"


if __name__ == "__main__":
    click.echo(render_page(), nl=False)

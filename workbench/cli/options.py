"""What several commands take: the role, the scope, a text or `-` for stdin, and names that the tab key completes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from workbench.cli.command import invocation_of
from workbench.display.text import unsafe_characters
from workbench.engine import layout
from workbench.engine.errors import InvalidInput, RoleRefused, WorkbenchError
from workbench.engine.identifiers import entity_name
from workbench.engine.roles import Role, parse_role, within

if TYPE_CHECKING:
    from workbench.cli.invocation import Invocation
    from workbench.engine.scoped_memory import ScopedMemory

MOST_OFFERED = 200
ROLE_VARIABLE: Final = "WORKBENCH_ROLE"
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


def role_of(asked: str | None) -> str:
    """Return the role that a door is opened in.

    Args:
        asked: What the command line says; None where it says nothing.

    Raises:
        InvalidInput: One of them is no role.
        RoleRefused: The command line asks for more than the environment allows.
    """
    set_ = os.environ.get(ROLE_VARIABLE, "").strip()
    given = parse_role(set_ or "person")
    if asked is None:
        return str(given)
    wanted = parse_role(asked.strip())
    if not set_ or _is_within(wanted, given):
        return str(wanted)
    raise RoleRefused(
        f"This shell acts as {given} and may not act as {wanted}.",
        where=ROLE_VARIABLE,
        remedy=f"Leave --role out, or have {ROLE_VARIABLE} changed where it was set.",
    )


def _is_within(wanted: Role, given: Role) -> bool:
    """Return True if a role may do no more than another; agents are only within themselves."""
    if given.kind == "agent" and wanted.kind == "agent":
        return wanted == given
    return wanted.capabilities <= given.capabilities


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

"""Holds still what differs from run to run, and reaches the program: all that a recording knows of its insides.

The clock stands where `WORKBENCH_NOW` says. Nothing of the project's own is replaced, only three functions of the
standard library that the project calls through their modules: `secrets.token_hex` makes all identifiers,
`time.monotonic` decides how long to read at most, and `shutil.which` finds git and no other installed program. The
project is entered at four places: `run_program`, `workspace_class`, `shape` and `commands`. Change them here when what
they import is renamed, and nowhere else in this package.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

NOW = "2026-02-02T20:00:00Z"
COLUMNS = "80"
_FOUND = ("git", "env", "nice")
# A loaded machine must not change how much is read: what is bounded by seconds gets a thousand times as many.
_SLOWER = 1000
_monotonic, _which = time.monotonic, shutil.which


class Ids:
    """Gives the identifiers of one step: others in each step, the same in each run."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._given: Counter[int] = Counter()

    def __call__(self, nbytes: int | None = None) -> str:
        size = nbytes or 32
        # Each size is counted by itself: names of temporary files, which are shorter, move no identifier.
        self._given[size] += 1
        said = f"{self._step}/{size}/{self._given[size]}"
        return hashlib.shake_256(said.encode()).hexdigest(size)


def hold_still(step: str) -> None:
    """Have identifiers be those of a step, and time budgets never run out."""
    secrets.token_hex = Ids(step)
    time.monotonic = lambda: _monotonic() / _SLOWER
    shutil.which = _found  # type: ignore[assignment]  # nobody here asks for bytes


def _found(cmd: str, mode: int = os.F_OK | os.X_OK, path: str | None = None) -> str | None:
    return _which(cmd, mode, path) if cmd in _FOUND else None


@contextmanager
def variables(given: Mapping[str, str]) -> Iterator[None]:
    """Let these be all variables of this process during a block."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(given)
    tempfile.tempdir = None
    time.tzset()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = None
        time.tzset()


def run_program() -> None:
    """Run the command line in `sys.argv`, as the installed program does."""
    from workbench.__main__ import main

    main()


def workspace_class() -> Any:
    """Return the door to memory."""
    from workbench.engine import Workspace

    return Workspace


def shape(value: object) -> Any:
    """Turn a result into JSON values, as every interface does."""
    from workbench.engine import to_json

    return to_json(value)


def commands() -> dict[str, click.Command]:
    """Return every command by the words that name it; groups that do something by themselves too."""
    from workbench.cli.root import workbench

    found: dict[str, click.Command] = {}
    _collect(workbench, click.Context(workbench), "", found)
    return found


def _collect(group: click.Group, context: click.Context, above: str, found: dict[str, click.Command]) -> None:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        path = f"{above} {name}".strip()
        found[path] = command
        if isinstance(command, click.Group):
            _collect(command, context, path, found)


def public(kind: type) -> set[str]:
    """Return the public names of a class."""
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def start_fixed() -> None:
    """Run the program as a process of its own that is held still; the step stands before the program's own words."""
    step = sys.argv.pop(1)
    hold_still(step)
    sys.argv[0] = "workbench"
    run_program()


LAUNCHER: Callable[[], None] = start_fixed

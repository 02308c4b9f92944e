"""The command line: every command opens a workspace, asks it one thing and prints the answer."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

# So many more objects before Python looks for garbage: most of what a command makes lives until it ends, and looking it
# through takes a tenth of a cold search.
_GARBAGE = 100_000
# What Python begins with: objects more than there were, looks at the young, looks at those somewhat older.
_USUAL_GARBAGE = (700, 10, 10)


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit with its code.

    Args:
        arguments: The words after the program's name; those of `sys.argv` by default.
    """
    gc.set_threshold(_GARBAGE)
    _open_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["hook"]:
        from workbench.cli.quick_hook import carried_out

        if carried_out(words):
            sys.exit(0)

    from workbench.cli.root import workbench

    workbench.main(words)


def collect_garbage_as_usual() -> None:
    """Look for garbage as often as any program does: for a command that stays, and makes what does not live on."""
    gc.set_threshold(*_USUAL_GARBAGE)


def _open_closed_streams() -> None:
    """Let what nobody reads go nowhere. A closed descriptor would be given to the next file, and be written into."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until the program ends

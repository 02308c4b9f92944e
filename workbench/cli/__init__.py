"""The command line: every command opens a workspace, asks it one thing and prints the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit with its code.

    Args:
        arguments: The words after the program's name; those of `sys.argv` by default.
    """
    from workbench.cli.root import workbench

    workbench.main(arguments)

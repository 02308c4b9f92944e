"""For whom a run of the program asks: the owner, unless a scope is named.

Whoever starts an agent for a group chat sets `WORKBENCH_SCOPE` for it; then nothing but that scope can be asked.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from workbench.engine.scopes import within

if TYPE_CHECKING:
    from workbench.cli.invocation import Invocation
    from workbench.engine.workspace.scoped import ScopedMemory

VARIABLE: Final = "WORKBENCH_SCOPE"

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
    return within(asked, os.environ.get(VARIABLE, "").strip() or None)


def scoped_door(bench: Invocation, asked: str | None, role: str | None = None) -> ScopedMemory | None:
    """Open the door of the scope that is meant, for use in a `with` statement; None where the owner asks.

    Args:
        bench: This run.
        asked: What the command line says.
        role: Who asks; as of every command by default.
    """
    scope = scope_of(asked)
    if scope is None:
        return None
    from workbench.cli.asking_role import role_of
    from workbench.engine.workspace.scoped import ScopedMemory

    role = role_of(bench.role) if role is None else role
    return ScopedMemory.open(bench.find(), scope=scope, role=role, clock=bench.clock())

"""In whose role a run of the program acts: a person's, unless it is told otherwise.

Whoever starts an agent sets `WORKBENCH_ROLE` for it; `--role` then may name a role that may do less, never more, and no
other agent.
"""

from __future__ import annotations

import os
from typing import Final

from workbench.engine.agents.roles import Role, parse_role
from workbench.engine.errors import RoleRefused

VARIABLE: Final = "WORKBENCH_ROLE"


def role_of(asked: str | None) -> str:
    """Return the role that a door is opened in.

    Args:
        asked: What the command line says; None where it says nothing.

    Raises:
        InvalidInput: One of them is no role.
        RoleRefused: The command line asks for more than the environment allows.
    """
    set_ = os.environ.get(VARIABLE, "").strip()
    given = parse_role(set_ or "person")
    if asked is None:
        return str(given)
    wanted = parse_role(asked.strip())
    if not set_ or _is_within(wanted, given):
        return str(wanted)
    raise RoleRefused(
        f"This shell acts as {given} and may not act as {wanted}.",
        where=VARIABLE,
        remedy=f"Leave --role out, or let whoever set {VARIABLE} change it.",
    )


def _is_within(wanted: Role, given: Role) -> bool:
    """Tell whether a role may do no more than another, and speaks for no other agent."""
    if given.kind == "agent" and wanted.kind == "agent":
        return wanted == given
    return wanted.capabilities <= given.capabilities

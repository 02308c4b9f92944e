"""The roles a workspace can be opened in, and what each may do (design document §13.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, RoleRefused

_AGENT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


class Capability(StrEnum):
    """A right of a role; the value completes “may not …”."""

    READ = "read memory"
    PROPOSE = "propose memories"
    WRITE_MEMORY = "write memory"
    DECIDE_PROPOSALS = "decide on proposals of sub-agents"
    DECIDE_REVIEW = "decide on a reflection"
    ACKNOWLEDGE = "acknowledge alerts"
    HARD_DELETE = "delete memories for good"
    PURGE = "purge history"
    CHANGE_SETTINGS = "change settings"
    TOUCH_CRITICAL = "change critical files"
    ROLLBACK = "take changes back"


_READER = frozenset({Capability.READ})
_AGENT = _READER | {Capability.PROPOSE}
# Undoing is writing: if it would change a critical file, it needs that right as well.
_MAIN = _AGENT | {Capability.WRITE_MEMORY, Capability.DECIDE_PROPOSALS, Capability.ROLLBACK}
_PERSON = frozenset(Capability)

_BY_KIND = {"person": _PERSON, "main": _MAIN, "agent": _AGENT, "reader": _READER}


@dataclass(frozen=True)
class Role:
    """The role a workspace was opened with.

    Args:
        kind: `person`, `main`, `agent` or `reader`.
        name: The agent's name if `kind` is `agent`, else "".
    """

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return everything the role may do."""
        return _BY_KIND[self.kind]

    def may(self, capability: Capability) -> bool:
        """Return whether the role may do something."""
        return capability in self.capabilities


PERSON = Role("person")
MAIN = Role("main")
READER = Role("reader")


def parse_role(text: str) -> Role:
    """Parse a role as given to `Workspace.open`: `person`, `main`, `agent:NAME` or `reader`.

    Raises:
        InvalidInput: The role is unknown, or the agent's name is invalid.
    """
    kind, colon, name = text.partition(":")
    if kind == "agent":
        # Proposals carry only this name, which must not pass for the main agent or the person.
        if not _AGENT_NAME.fullmatch(name) or name in _BY_KIND:
            raise InvalidInput(
                f"“{name[:80]}” cannot be the name of an agent.",
                where=text[:80],
                remedy="A name is no role, has up to 64 of a-z, 0-9, - and _, and starts with a letter or digit.",
            )
        return Role("agent", name)
    if colon or kind not in _BY_KIND:
        raise InvalidInput(
            f"“{text[:80]}” is no role.", remedy="The roles are person, main, agent:NAME and reader."
        )
    return Role(kind)


def require(role: Role, capability: Capability, *, doing: str = "") -> None:
    """Raise unless the role has a capability.

    Args:
        role: The asking role.
        capability: The required right.
        doing: What is being done, to complete “may not …”; the capability's value by default.

    Raises:
        RoleRefused: The role may not; the remedy says what to do instead.
    """
    if role.may(capability):
        return
    who = {"main": "The main agent", "agent": f"The agent {role.name}", "reader": "A reader"}[role.kind]
    raise RoleRefused(
        f"{who} may not {doing or capability.value}.", where=str(role), remedy=_remedy(role, capability)
    )


def require_by_hand(role: Role, path: str) -> None:
    """Raise unless the role may write a file by hand: files with people's decisions are for people only.

    Args:
        role: The asking role.
        path: Workspace-relative.

    Raises:
        RoleRefused: The file records decisions, and the role is not a person's.
    """
    if layout.is_decided(path) and not role.may(Capability.DECIDE_REVIEW):
        require(role, Capability.DECIDE_REVIEW, doing=f"write {path} by hand")


def _remedy(role: Role, capability: Capability) -> str:
    if role.kind == "reader":
        return "Open the workspace in another role."
    if role.kind == "agent" and capability is Capability.WRITE_MEMORY:
        return "Propose it instead; the main agent or the person decides."
    if role.kind == "agent" and capability in _MAIN:
        return "Ask the main agent or the person to do it."
    return "Ask the person to do it, in the bench or with the workbench command."

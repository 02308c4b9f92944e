"""Who asks: the roles a workspace can be opened in and what each may do (design document §13.1), and scopes.

A scope says who a memory is for, and which scopes another one may see.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from typing import Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

AGENT_NAME: Final = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)

SHARED: Final = "shared"
"""The scope of shared memories."""
PATTERN: Final = r"(?:person|group):[a-z0-9][a-z0-9._-]{0,63}"
"""A scope for some people, as a regular expression without groups."""
_SCOPE: Final = lazy_pattern(PATTERN, re.ASCII)
_NAMES_OF_SHARED: Final = (SHARED, "all")
_KINDS: Final = {"group": "group", "channel": "group", "room": "group", "dm": "person", "direct": "person"}
_UNSAFE: Final = lazy_pattern(r"[^a-z0-9._-]+", re.ASCII)
_LONGEST_SLUG: Final = 48


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
        if not AGENT_NAME.fullmatch(name) or name in _BY_KIND:
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


def require_vault(path: str, *, may_write: bool) -> None:
    """Raise if a note of the vault would be written by an agent that may not (design document §12.1).

    Args:
        path: Of a file that would be written, workspace-relative; or the vault's folder.
        may_write: Whether who asks may write notes of the vault.

    Raises:
        RoleRefused: The path is in the vault, and they may not.
    """
    if may_write or not (path == layout.VAULT or path.startswith(f"{layout.VAULT}/")):
        return
    raise RoleRefused(
        "The main agent may not write the vault here: the setting vault.main_writes is false.",
        where=path,
        remedy="Ask the person to do it, with `workbench remember --store vault`, or name another store.",
    )


def _remedy(role: Role, capability: Capability) -> str:
    if role.kind == "reader":
        return "Open the workspace in another role."
    if role.kind == "agent" and capability is Capability.WRITE_MEMORY:
        return "Propose it instead; the main agent or the person decides."
    if role.kind == "agent" and capability in _MAIN:
        return "Ask the main agent or the person to do it."
    return "Ask the person to do it, in the bench or with the workbench command."


def parse_scope(text: str) -> str:
    """Parse who a memory is for: `person:SLUG`, `group:SLUG`, `shared`, or a session key.

    Args:
        text: Any text; `all` means `shared`, and `agent:main:telegram:group:123` means `group:telegram-123`.

    Raises:
        InvalidInput: It is something else.
    """
    name = text.strip()
    if name in _NAMES_OF_SHARED:
        return SHARED
    if _SCOPE.fullmatch(name):
        return name
    of_session = scope_of_session(name)
    if of_session is None:
        raise InvalidInput(
            f"“{name[:80]}” is no scope.",
            remedy="Write person:NAME or group:NAME (up to 64 of a-z, 0-9, ., - and _), or shared.",
        )
    return of_session


def parse_door_scope(text: str) -> str:
    """Parse a scope to open a workspace for; `shared` is not one.

    Raises:
        InvalidInput: It is not a scope of a person or group.
    """
    scope = parse_scope(text)
    if scope == SHARED:
        raise InvalidInput(
            "A door is for one person or one group.", remedy="Name them: person:NAME or group:NAME."
        )
    return scope


def scope_of_session(key: str) -> str | None:
    """Return the scope for a session key that names a chat; None for the agent's own sessions and invalid keys.

    A name that is unfit for a scope gets a unique suffix, so that no two chats share a scope.
    """
    parts = key.strip().split(":")
    if len(parts) < 3 or parts[0] != "agent":
        return None
    rest = parts[2:]
    for at, part in enumerate(rest):
        kind = _KINDS.get(part)
        if kind is None or at + 1 >= len(rest):
            continue
        raw = ":".join((*rest[:at], *rest[at + 1 :]))
        slug = _UNSAFE.sub("-", raw.casefold()).strip("-.") or "chat"
        # The usual form, CHANNEL:KIND:ID, is unambiguous if each part is plain.
        plain = at == 1 and len(rest) == 3 and f"{rest[0]}-{rest[2]}" == slug and "-" not in rest[0]
        if not plain or len(slug) > _LONGEST_SLUG:
            digest = hashlib.sha256(f"{part}:{raw}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
            slug = f"{slug[:_LONGEST_SLUG].strip('-.') or 'chat'}-{digest}"
        return f"{kind}:{slug}"
    return None


def written_scope(text: str) -> str | None:
    """Return the scope written in a file, or None (the owner's own) for anything else."""
    name = text.strip()
    return name if name == SHARED or _SCOPE.fullmatch(name) else None


def sees(door: str, memory: str | None) -> bool:
    """Return whether one scope may see memories of another; memories without a scope are the owner's own."""
    return memory is not None and memory in (door, SHARED)


def within(asked: str | None, allowed: str | None) -> str | None:
    """Return the requested scope, restricted to the only one that the environment allows.

    Raises:
        InvalidInput: One of them is not a scope.
        RoleRefused: The requested scope is not the allowed one.
    """
    wanted = parse_door_scope(asked) if asked is not None else None
    if allowed is None:
        return wanted
    own = parse_door_scope(allowed)
    if wanted not in (None, own):
        raise RoleRefused(
            f"This shell is for {own} and may not act for {wanted}.",
            where="WORKBENCH_SCOPE",
            remedy="Leave --scope out.",
        )
    return own

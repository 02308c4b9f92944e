"""Scopes: who a memory is for, and which scopes another scope may see."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from workbench.engine.errors import InvalidInput, RoleRefused

SHARED: Final = "shared"
"""The scope of shared memories."""
PATTERN: Final = r"(?:person|group):[a-z0-9][a-z0-9._-]{0,63}"
"""A scope for some people, as a regular expression without groups."""
_SCOPE: Final = re.compile(PATTERN, re.ASCII)
_NAMES_OF_SHARED: Final = (SHARED, "all")
_KINDS: Final = {"group": "group", "channel": "group", "room": "group", "dm": "person", "direct": "person"}
_UNSAFE: Final = re.compile(r"[^a-z0-9._-]+", re.ASCII)
_LONGEST_SLUG: Final = 48


def parse_scope(text: str) -> str:
    """Parse who a memory is for: `person:SLUG`, `group:SLUG`, `shared`, or a session key.

    Args:
        text: Any text; `all` means `shared`, and `agent:main:telegram:group:123` means `group:telegram-123`.

    Raises:
        InvalidInput: It is none of these.
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

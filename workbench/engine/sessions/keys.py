"""Session keys, which name a conversation's owner and place: parsing and rendering."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from workbench.engine.errors import InvalidInput

MAIN = "main"
MOST_CHARACTERS = 512
_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
_PLACES = ("group", "channel")
# January 2026 says `dm`, later versions `direct`; both mean the same.
_DIRECT = ("dm", "direct")
_SUFFIXES = ("topic", "thread")
_BARE = {"cron": "cron", "hook": "hook"}

Kind = Literal[
    "main", "direct", "group", "channel", "subagent", "acp", "cron", "hook", "node", "global", "other"
]
ResetType = Literal["direct", "group", "thread"]


@dataclass(frozen=True)
class SessionKey:
    """A parsed session name.

    Args:
        kind: Kind of conversation; `other` if only its name is known.
        agent: Its agent, or "".
        name: Peer, group, job or id, depending on the kind; for `other`, everything after the agent.
        channel: Its messenger, such as `telegram`, or "".
        account: The account there, or "".
        direct: For a direct conversation the word used, `dm` or `direct`; else "".
        suffix: `topic`, `thread` or "".
        suffix_id: Its number or id.
    """

    kind: Kind
    agent: str = ""
    name: str = ""
    channel: str = ""
    account: str = ""
    direct: str = ""
    suffix: str = ""
    suffix_id: str = ""

    def __str__(self) -> str:
        return render_key(self)

    @property
    def type(self) -> ResetType:
        """Return its type for the reset policy: thread, group or direct."""
        if self.suffix:
            return "thread"
        return "group" if self.kind in _PLACES else "direct"

    @property
    def is_shared(self) -> bool:
        """Return whether others besides the user read along."""
        return self.kind in _PLACES

    def spellings(self) -> tuple[str, ...]:
        """Return every spelling of this key, its own first: `dm` and `direct` are equal."""
        if self.kind != "direct":
            return (str(self),)
        others = (str(replace(self, direct=word)) for word in _DIRECT if word != self.direct)
        return (str(self), *others)


def parse_key(text: str) -> SessionKey:
    """Parse a session key in any of its forms, lower-casing it.

    Raises:
        InvalidInput: It is empty, too long, or malformed.
    """
    key = text.strip().lower()
    if not key or len(key) > MOST_CHARACTERS or not key.isprintable():
        raise InvalidInput(
            f"“{text[:60] if text.isprintable() else ascii(text)[:60]}” is no session key.",
            remedy="Keys look like agent:main:main or agent:main:telegram:group:42; "
            "list them with: workbench sessions",
        )
    if not key.startswith("agent:"):
        return _without_agent(key)
    agent, colon, rest = key[len("agent:") :].partition(":")
    if not _AGENT.fullmatch(agent) or not colon or not rest:
        raise InvalidInput(
            f"“{text[:60]}” names no agent and session.",
            remedy="Write agent:NAME:SESSION; a name has up to 64 of a-z, 0-9, - and _.",
        )
    return replace(_of_agent(rest), agent=agent)


def render_key(key: SessionKey) -> str:
    """Render a session key; the inverse of `parse_key`."""
    body: str
    match key.kind:
        case "main" | "global":
            body = key.kind
        case "node":
            body = f"node-{key.name}"
        case "direct" | "group" | "channel":
            word = (key.direct or _DIRECT[1]) if key.kind == "direct" else key.kind
            body = ":".join(part for part in (key.channel, key.account, word, key.name) if part)
        case "other":
            body = key.name
        case _:
            body = f"{key.kind}:{key.name}"
    suffix = f":{key.suffix}:{key.suffix_id}" if key.suffix else ""
    return (f"agent:{key.agent}:" if key.agent else "") + body + suffix


def is_key(given: object) -> bool:
    """Return whether something parses as a session key."""
    try:
        return isinstance(given, str) and bool(parse_key(given))
    except InvalidInput:
        return False


def is_session_id(text: object) -> bool:
    """Return whether a text is valid as a session id, and so in a file name."""
    return isinstance(text, str) and bool(_SESSION_ID.fullmatch(text)) and ".." not in text


def checked_session_id(text: object) -> str:
    """Return a session id after checking it.

    Raises:
        InvalidInput: It is invalid; an id can never lead to another path.
    """
    if isinstance(text, str) and is_session_id(text):
        return text
    raise InvalidInput(
        f"{ascii(text)[:60]} cannot be the id of a session.",
        remedy="An id has up to 128 letters, digits, dots, - and _, such as a UUID.",
    )


def _without_agent(key: str) -> SessionKey:
    head, _, rest = key.partition(":")
    if key == "global":
        return SessionKey("global")
    if head in _BARE and rest:
        return SessionKey("cron" if head == "cron" else "hook", name=rest)
    if key.startswith("node-") and len(key) > len("node-"):
        return SessionKey("node", name=key[len("node-") :])
    if key == "agent" or key.startswith("agent:"):
        raise InvalidInput(f"“{key[:60]}” names no agent.", remedy="Write agent:NAME:SESSION.")
    return SessionKey("other", name=key)


def _of_agent(rest: str) -> SessionKey:
    body, suffix, suffix_id = _parted(rest)
    parts = body.split(":")
    key = _body(parts)
    if key is None:
        return SessionKey("other", name=rest)
    return replace(key, suffix=suffix, suffix_id=suffix_id)


def _parted(rest: str) -> tuple[str, str, str]:
    """Split a topic or thread off the end of a key."""
    for word in _SUFFIXES:
        body, found, number = rest.rpartition(f":{word}:")
        if found and body and number and ":" not in number:
            return body, word, number
    return rest, "", ""


def _body(parts: list[str]) -> SessionKey | None:
    if not all(parts):
        return None
    match parts:
        case ["main"]:
            return SessionKey("main")
        case ["subagent" | "acp" | "cron" as kind, *name] if name:
            return SessionKey(kind, name=":".join(name))
        case ["dm" | "direct" as word, *peer] if peer:
            return SessionKey("direct", name=":".join(peer), direct=word)
        case [channel, "dm" | "direct" as word, *peer] if peer:
            return SessionKey("direct", name=":".join(peer), channel=channel, direct=word)
        case [channel, "group" | "channel" as kind, *name] if name:
            return SessionKey(kind, name=":".join(name), channel=channel)
        case [channel, account, "dm" | "direct" as word, *peer] if peer:
            return SessionKey("direct", name=":".join(peer), channel=channel, account=account, direct=word)
        case _:
            return None

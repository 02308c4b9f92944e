"""Session keys, which name a conversation's owner and place, and the policy by which its session ends.

A policy ends a session daily, after silence, or on request; the next message begins a new one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.clock import in_zone
from workbench.engine.errors import InvalidInput
from workbench.engine.patterns import lazy_pattern
from workbench.engine.settings.foreign_files import read_foreign_document
from workbench.engine.values import dataclass

MAIN = "main"
MOST_CHARACTERS = 512
_AGENT = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_SESSION_ID = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
_PLACES = ("group", "channel")
# January 2026 says `dm`, later versions `direct`; both mean the same.
_DIRECT = ("dm", "direct")
_SUFFIXES = ("topic", "thread")
_BARE = {"cron": "cron", "hook": "hook"}

Kind = Literal[
    "main", "direct", "group", "channel", "subagent", "acp", "cron", "hook", "node", "global", "other"
]
ResetType = Literal["direct", "group", "thread"]

DEFAULT_HOUR = 4
DEFAULT_IDLE_MINUTES = 60
TRIGGERS = ("/new", "/reset")
_MOST_MINUTES = 5_256_000
_WORDS = lazy_pattern(
    r"(?:(?P<none>none)|(?:daily(?: (?P<hour>\d{1,2}))?)?(?:(?:^| )idle(?: (?P<idle>\d{1,7}))?)?)"
)

Reason = Literal["", "daily", "idle"]
# From agents/NAME/agent/DATABASE up to the state folder.
_ABOVE = 5


@dataclass(frozen=True)
class SessionKey:
    """A parsed session name.

    Args:
        kind: Kind of conversation; `other` if only its name is known.
        agent: Its agent, or "".
        name: Peer, group, job or id, depending on the kind; for `main`, its name where that is another; for
            `other`, everything after the agent.
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
        case "main":
            body = key.name or key.kind
        case "global":
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


@dataclass(frozen=True)
class DirectRules:
    """Which session a direct conversation belongs to (session workflow §2; Moltbot's `session.dmScope`).

    Args:
        scope: `main`, or who has a session of their own: `per-peer`, `per-channel-peer`, `per-account-channel-peer`.
        by_peer: The same for some, such as `telegram:42`, or `*` for all; this is decided whatever sessions there are.
        links: The name of the person behind an account, by `CHANNEL:ID` or `ID`.
        main: The name of the main session.
        resetting: Who may begin a new session by a word: such accounts and names, `direct`, or `*`.
    """

    scope: str = MAIN
    by_peer: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    main: str = MAIN
    resetting: Sequence[str] = (_DIRECT[1],)

    def is_main(self, key: SessionKey) -> bool:
        """Return whether a key, topics aside, is that of an agent's main session."""
        return key.kind == "main" or (key.kind == "other" and bool(key.agent) and key.name == self.main)

    def main_of(self, key: SessionKey) -> SessionKey:
        """Return the main session of a key's agent, with the key's topic or thread."""
        main = self.main if self.main != MAIN else ""
        return SessionKey("main", agent=key.agent, name=main, suffix=key.suffix, suffix_id=key.suffix_id)

    def decides(self, key: SessionKey) -> bool:
        """Return whether a direct conversation is decided by itself, whatever sessions there are."""
        return bool(self.by_peer) and self._by_peer(key) is not None

    def of(self, key: SessionKey) -> SessionKey:
        """Return the session that a conversation belongs to, where it has no session yet."""
        if self.is_main(key):
            return self.main_of(key)
        if key.kind != "direct":
            return key
        scope = self._by_peer(key) or self.scope
        if scope == MAIN:
            return self.main_of(key)
        key = replace(key, name=self.link(key) or key.name)
        if scope == "per-peer":
            return replace(key, channel="", account="")
        if scope == "per-channel-peer":
            return replace(key, account="")
        return replace(key, account=key.account or "default") if key.channel else key

    def may_reset(self, key: SessionKey, sender: str) -> bool:
        """Return whether somebody may begin a new session by a word.

        Args:
            key: Of the conversation in which it is said.
            sender: `CHANNEL:ID` of who says it; "" for who talks alone with the agent there, who is the owner in a
                session that names nobody else. In a group nobody is known without it.
        """
        if "*" in self.resetting:
            return True
        peer = peer_of(key)
        if not sender and not peer:
            return not key.is_shared
        who = sender.strip().lower() or peer
        if "direct" in self.resetting and who == peer:
            return True
        known = {each.lower() for each in self.resetting} - {_DIRECT[1]}
        return who in known or self.links.get(who, "*").lower() in known

    def _by_peer(self, key: SessionKey) -> str | None:
        named = (peer_of(key), self.link(key), "*")
        return next((self.by_peer[each] for each in named if each in self.by_peer), None)

    def link(self, key: SessionKey) -> str:
        """Return the name of the person behind a direct conversation, or ""."""
        named = key.name if key.name in self.links.values() else ""
        return self.links.get(peer_of(key)) or self.links.get(key.name) or named


def peer_of(key: SessionKey) -> str:
    """Return who a direct conversation is with, as `CHANNEL:ID` or `ID`; "" for other keys."""
    return ":".join(filter(None, (key.channel, key.name))) if key.kind == "direct" else ""


@dataclass(frozen=True)
class ResetPolicy:
    """When a session ends by itself.

    Args:
        at_hour: Daily hour at which it ends, in the workspace's zone, 0–23; None for never.
        idle_minutes: Minutes of silence after which it ends; None for never. With both, whichever comes first.
    """

    at_hour: int | None = DEFAULT_HOUR
    idle_minutes: int | None = None


@dataclass(frozen=True)
class ResetRules:
    """The policies of all sessions.

    Args:
        default: For sessions with no specific policy.
        by_type: By `direct` (also `dm`), `group` or `thread`.
        by_channel: By the key's channel; takes precedence over the type.
        triggers: Words that begin a new session at the start of a message.
    """

    default: ResetPolicy = field(default_factory=ResetPolicy)
    by_type: Mapping[str, ResetPolicy] = field(default_factory=dict)
    by_channel: Mapping[str, ResetPolicy] = field(default_factory=dict)
    triggers: Sequence[str] = TRIGGERS

    def of(self, key: SessionKey) -> ResetPolicy:
        if key.channel in self.by_channel:
            return self.by_channel[key.channel]
        names = ("direct", "dm") if key.type == "direct" else (key.type,)
        return next((self.by_type[name] for name in names if name in self.by_type), self.default)


@dataclass(frozen=True)
class Freshness:
    """Whether a session is still open.

    Args:
        fresh: Whether it is.
        reason: What ended it: `daily`, `idle` or "".
        expires: When it ends if nothing more is said; None for never.
    """

    fresh: bool
    reason: Reason = ""
    expires: datetime | None = None


def freshness(updated: datetime | None, now: datetime, zone: ZoneInfo, policy: ResetPolicy) -> Freshness:
    """Return whether a session is still open (research note §2.10).

    Args:
        updated: Its last use, aware; None if unknown, which counts as ended.
        now: Aware.
        zone: Zone of the hour; days with a clock change have their boundary too.
    """
    if policy.at_hour is None and policy.idle_minutes is None:
        return Freshness(True)
    if updated is None:
        return Freshness(False, "daily" if policy.at_hour is not None else "idle")
    ends: list[tuple[datetime, Reason]] = []
    if policy.at_hour is not None:
        ends.append((boundary_after(updated, policy.at_hour, zone), "daily"))
    if policy.idle_minutes is not None:
        ends.append((updated + timedelta(minutes=policy.idle_minutes), "idle"))
    # Of an aware time only the instant counts, whatever its zone.
    end, reason = min(ends, key=lambda each: each[0].timestamp())
    over = now.timestamp() >= end.timestamp() if reason == "daily" else now.timestamp() > end.timestamp()
    return Freshness(False, reason, end) if over else Freshness(True, "", end)


def boundary_after(moment: datetime, hour: int, zone: ZoneInfo) -> datetime:
    """Return the first instant after a moment when local time shows the hour, in UTC.

    An hour skipped by a clock change is the instant of the jump; of a repeated hour the first counts.
    """
    local = in_zone(moment, zone)
    for days in range(3):
        wall = datetime.combine(local.date() + timedelta(days=days), time(hour), zone)
        # Via UTC, because a skipped hour does not exist in local time.
        end = datetime.fromtimestamp(_instant(wall), UTC)
        if end.timestamp() > moment.timestamp():
            return end
    raise AssertionError("three days hold a boundary")


def _instant(wall: datetime) -> float:
    before, after = wall.replace(fold=0).timestamp(), wall.replace(fold=1).timestamp()
    # In a gap the later reading names the earlier instant; the jump lies between both.
    return before if before <= after else _jump(after, before, wall)


def _jump(low: float, high: float, wall: datetime) -> float:
    """Return the instant when local time skipped an hour, to the second."""
    zone = wall.tzinfo
    first, last = int(low), int(high)
    offset = datetime.fromtimestamp(first, zone).utcoffset()
    while last - first > 1:
        middle = (first + last) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            first = middle
        else:
            last = middle
    return float(last)


def read_trigger(message: str, triggers: Sequence[str] = TRIGGERS) -> tuple[str, str] | None:
    """Return the trigger at the start of a message and the text after it, or None.

    Args:
        triggers: Words such as `/new`; case is ignored.
    """
    said = message.strip()
    for trigger in sorted(triggers, key=len, reverse=True):
        head, rest = said[: len(trigger)], said[len(trigger) :]
        if trigger and head.casefold() == trigger.casefold() and (not rest or rest[0].isspace()):
            return trigger, rest.strip()
    return None


def parse_policy(text: str) -> ResetPolicy:
    """Parse a configured policy: `daily`, `daily 4`, `idle 60`, `daily 4 idle 60` or `none`.

    Raises:
        InvalidInput: It has another form.
    """
    words = " ".join(text.lower().split())
    found = _WORDS.fullmatch(words)
    if words and found:
        if found["none"]:
            return ResetPolicy(None, None)
        hour = int(found["hour"] or DEFAULT_HOUR) if "daily" in words else None
        idle = int(found["idle"] or DEFAULT_IDLE_MINUTES) if "idle" in words else None
        if (hour is None or hour < 24) and (idle is None or 0 < idle <= _MOST_MINUTES):
            return ResetPolicy(hour, idle)
    raise InvalidInput(
        f"“{text[:60]}” is no reset policy.",
        remedy="Write daily 4, idle 60, daily 4 idle 60, or none.",
    )


def render_policy(policy: ResetPolicy) -> str:
    """Render a policy; the inverse of `parse_policy`."""
    daily = f"daily {policy.at_hour}" if policy.at_hour is not None else ""
    idle = f"idle {policy.idle_minutes}" if policy.idle_minutes is not None else ""
    return " ".join(part for part in (daily, idle) if part) or "none"


def foreign_rules(place: Path) -> ResetRules | None:
    """Return the configured reset rules for the sessions at a place, or None if no readable configuration sets any.

    Reads `mode`, `atHour` and `idleMinutes` of `session.reset`, `resetByType` and `resetByChannel`, and older versions'
    `session.idleMinutes`.

    Args:
        place: A state folder, or something in it.
    """
    for folder in islice((place, *place.parents), _ABOVE):
        for name in layout.FOREIGN_SETTINGS:
            session = _read(folder / name).get("session")
            if isinstance(session, Mapping):
                return _rules(session)
    return None


def _rules(session: Mapping[str, Any]) -> ResetRules | None:
    default = _policy(session.get("reset")) or _policy({"mode": "idle", **session}, needs_minutes=True)
    by_type, by_channel = _policies(session.get("resetByType")), _policies(session.get("resetByChannel"))
    if default is None and not by_type and not by_channel:
        return None
    return ResetRules(default or ResetPolicy(), by_type, by_channel)


def _policies(table: object) -> dict[str, ResetPolicy]:
    rows = table.items() if isinstance(table, Mapping) else ()
    return {str(name).lower(): policy for name, row in rows if (policy := _policy(row)) is not None}


def _policy(row: object, *, needs_minutes: bool = False) -> ResetPolicy | None:
    if not isinstance(row, Mapping):
        return None
    mode, hour, minutes = row.get("mode", "daily"), row.get("atHour"), row.get("idleMinutes")
    if needs_minutes and minutes is None:
        return None
    wanted = ResetPolicy(
        (DEFAULT_HOUR if hour is None else hour) if mode == "daily" else None,
        DEFAULT_IDLE_MINUTES if minutes is None and mode == "idle" else minutes if mode != "none" else None,
    )
    try:
        return parse_policy(render_policy(wanted))
    except InvalidInput:
        return None


def _read(place: Path) -> Mapping[str, Any]:
    try:
        return read_foreign_document(place) or {}
    except (OSError, ValueError, RecursionError):
        return {}

"""When a session ends and the next message begins a new one: daily, after silence, or on request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.clock import in_zone
from workbench.engine.errors import InvalidInput
from workbench.engine.sessions.keys import SessionKey

DEFAULT_HOUR = 4
DEFAULT_IDLE_MINUTES = 60
TRIGGERS = ("/new", "/reset")
_MOST_MINUTES = 5_256_000
_WORDS = re.compile(
    r"(?:(?P<none>none)|(?:daily(?: (?P<hour>\d{1,2}))?)?(?:(?:^| )idle(?: (?P<idle>\d{1,7}))?)?)"
)

Reason = Literal["", "daily", "idle"]
# From agents/NAME/agent/DATABASE up to the state folder.
_ABOVE = 5
_LARGEST = 512 * 1024


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
        policy: The session's.
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
        message: A user message.
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
        InvalidInput: It is none of these forms.
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
    from workbench.engine.file_access import read_regular_file
    from workbench.engine.settings.relaxed_json import read_relaxed_json

    try:
        content = read_regular_file(place, _LARGEST)
        document = read_relaxed_json(content.decode("utf-8-sig")) if content else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}

"""Reads the moments that people name: times, days, so long ago, commits."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo

from workbench.engine.clock import parse_time
from workbench.engine.errors import InvalidInput

_END_OF_DAY = time(23, 59, 59)
AGO = re.compile(r"([1-9]\d{0,4})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_DAYS = ("today", "yesterday")
COMMIT = re.compile(r"(?i)[0-9a-f]{4,40}|head|main")


def read_time(text: str, name: str, now: datetime, *, end: bool = False) -> datetime:
    """Read a time: ISO 8601, `3d` (ago, likewise `12h` and `2w`), `now`, `today` or `yesterday`.

    One without a zone is in the workspace's. Where clocks are put back, what they show twice means its first
    occurrence, or its second where an end is asked for; where they are put forward, what they never show means the
    moment they change, or the second before it where an end is asked for.

    Args:
        text: What was written.
        name: What the time is for, for the error.
        now: In the workspace's zone, a `ZoneInfo`.
        end: Whether a bare day means its end.

    Raises:
        InvalidInput: It is no time.
    """
    stripped = text.strip()
    zone = now.tzinfo or UTC
    if stripped == "now":
        return now
    if (ago := AGO.fullmatch(stripped)) is not None:
        try:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        except OverflowError:
            raise InvalidInput(f"“{text}” is not a time.", where=name, remedy="Name a later one.") from None
    if stripped in _DAYS:
        stripped = (now.date() - timedelta(days=_DAYS.index(stripped))).isoformat()
    parsed = parse_time(stripped, where=name)
    written = datetime.fromisoformat(stripped)
    if "T" not in stripped and " " not in stripped:
        written = datetime.combine(written.date(), _END_OF_DAY if end else time.min)
    try:
        return _shown(written, zone, end=end) if written.tzinfo is None else parsed
    except OverflowError:
        raise InvalidInput(f"“{text}” is too far away.", where=name, remedy="Name a nearer time.") from None


def _shown(local: datetime, zone: tzinfo, *, end: bool) -> datetime:
    """Return when clocks of a zone show a time, even where they do so twice or never."""
    earlier, later = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    first, second = earlier.astimezone(UTC), later.astimezone(UTC)
    if first <= second:
        return later if end else earlier
    # Never shown: between the two readings the offset changes; find the second it does.
    while (gap := int((first - second).total_seconds())) > 1:
        middle = second + timedelta(seconds=gap // 2)
        if middle.astimezone(zone).utcoffset() == earlier.utcoffset():
            second = middle
        else:
            first = middle
    return (second if end else first).astimezone(zone)

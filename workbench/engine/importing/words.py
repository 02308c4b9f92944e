"""Days, times and names as they stand in foreign words."""

from __future__ import annotations

import re
import unicodedata
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime

_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3])[:：]([0-5]\d)(?![\d])")
_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 40


def day_in(text: str) -> date | None:
    """Return the first day, `YYYY-MM-DD`, in a text; None where there is none."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[1])
        except ValueError:
            continue
    return None


def clock_in(text: str) -> tuple[int, int] | None:
    """Return the first time of day in a text as hour and minute; None where there is none."""
    found = _CLOCK.search(text)
    return (int(found[1]), int(found[2])) if found else None


def moment_of(value: object) -> datetime | None:
    """Return the moment that ISO 8601 text, or seconds or milliseconds since 1970, mean; None where they mean none."""
    try:
        if isinstance(value, str) and value:
            moment = datetime.fromisoformat(value)
            return _in_every_zone(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return _in_every_zone(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _in_every_zone(moment: datetime) -> datetime | None:
    """Return a moment that every zone has a day for; None for one at the ends of the calendar."""
    return moment if MINYEAR < moment.year < MAXYEAR else None


def slug(name: str) -> str:
    """Return a name as one word of lower-case letters and digits, for folders and actors."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _NAME.sub("-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "import"

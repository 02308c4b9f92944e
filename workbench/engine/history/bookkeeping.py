"""Knows the dates and counters that files keep about themselves, which a revert does not turn back."""

from __future__ import annotations

import re

_FIELDS = re.compile(r"^<!--\s*(.*?)\s*-->$", re.DOTALL)
_FIELD = re.compile(r"^\s*([^:|]+?)\s*:\s*(.*?)\s*$", re.DOTALL)
_MOVING = frozenset(
    {
        "access_count",
        "current_score",
        "decay_score",
        "last_accessed",
        "last_updated",
        "last_used",
        "modified",
        "updated",
    }
)


def is_bookkeeping(name: str) -> bool:
    """Tell whether a key or field holds a date or counter that moves on with every change."""
    return re.sub(r"[\s-]+", "_", name.strip().casefold()) in _MOVING


def merge_bookkeeping(before: str, after: str, now: str, *, kind: str) -> str | None:
    """Set a metadata comment or a key of the front matter back, leaving moved-on bookkeeping as it is now.

    Args:
        before: The unit's text before the change that is taken back.
        after: Its text as the change left it.
        now: Its text now.
        kind: The unit's kind; only `comment` and `front` hold bookkeeping.

    Returns:
        The text, or None where something other than bookkeeping was changed again.
    """
    if kind == "front":
        return now if is_bookkeeping(now.partition(":")[0]) else None
    if kind != "comment":
        return None
    parsed = [_fields(text) for text in (before, after, now)]
    old, new, current = parsed
    if old is None or new is None or current is None:
        return None
    merged = dict(current)
    for name in {**old, **new, **current}:
        was, left_as, found = old.get(name), new.get(name), current.get(name)
        if was == left_as or found == was:
            continue
        if found == left_as:
            if was is None:
                merged.pop(name, None)
            else:
                merged[name] = was
        elif not is_bookkeeping(name):
            return None
    return "<!-- " + " | ".join(f"{name}: {value}" for name, value in merged.items()) + " -->"


def _fields(comment: str) -> dict[str, str] | None:
    inside = _FIELDS.match(comment.strip())
    if not inside:
        return None
    found = [_FIELD.match(part) for part in inside.group(1).split("|")]
    fields = {match.group(1): match.group(2) for match in found if match}
    return fields if len(fields) == len(found) else None

"""Takes the whole objects out of an answer that was cut short."""

from __future__ import annotations

import json
from typing import Any, Final

_DECODER: Final = json.JSONDecoder(strict=False)


def whole_objects(text: str, key: str) -> list[dict[str, Any]]:
    """Return the objects of a list that came whole before the answer ended.

    Args:
        text: The beginning of a JSON object.
        key: Under which it has the list.
    """
    _, found, rest = text.partition(f'"{key}"')
    start = rest.find("[")
    if not found or start < 0 or rest[:start].strip() != ":":
        return []
    objects: list[dict[str, Any]] = []
    at = start + 1
    while True:
        while at < len(rest) and rest[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _DECODER.raw_decode(rest, at)
        except (ValueError, RecursionError):
            return objects
        if isinstance(value, dict):
            objects.append(value)

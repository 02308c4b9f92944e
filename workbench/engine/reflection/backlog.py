"""Items for which a proposal had no room: kept beside the index until the next reflection takes them up.

A line for the reflection, then one for each item, best first; lines that are not yet their turn are handed on unread.
Losing the file costs time only: the mark in the reflection log then says from where to read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.values import dataclass


@dataclass(frozen=True)
class Backlog:
    """What waits.

    Args:
        items: Those whose turn it is, best first.
        later: The lines of the others.
    """

    items: tuple[ReviewItem, ...] = ()
    later: tuple[bytes, ...] = ()


def render_backlog(reflection: str, items: Iterable[ReviewItem], later: Iterable[bytes] = ()) -> bytes:
    """Write the items as lines of JSON.

    Args:
        reflection: The one that had no room for them, `r-012`.
        items: Best first.
        later: Lines of a backlog that come behind them.
    """
    lines = [_line(reflection), *(_line(asdict(item)) for item in items), *later]
    return b"\n".join(lines)


def parse_backlog(content: bytes, reflection: str, most: int) -> Backlog | None:
    """Read items back; None where the file is damaged or belongs to another reflection.

    Args:
        content: As `render_backlog` wrote it.
        reflection: The newest one that was written.
        most: Items to read; the others are later.
    """
    head, *lines = content.split(b"\n")
    try:
        if json.loads(head) != reflection:
            return None
        return Backlog(tuple(_item(json.loads(line)) for line in lines[:most]), tuple(lines[most:]))
    except (ValueError, KeyError, TypeError):
        return None


def _line(value: object) -> bytes:
    return json.dumps(value).encode()


def _item(held: object) -> ReviewItem:
    if not isinstance(held, dict):
        raise TypeError("an item is an object")
    return ReviewItem(
        id=_text(held["id"]),
        kind=_text(held["kind"]),
        text=_text(held["text"]),
        target=_text(held["target"]),
        before=_text(held["before"]),
        confidence=_text(held["confidence"]),
        reason=_text(held["reason"]),
        evidence=tuple(Evidence(_text(each["id"]), _text(each["quote"])) for each in _list(held["evidence"])),
        needs=tuple(map(_text, _list(held["needs"]))),
        fields=tuple((_text(label), _text(value)) for label, value in _list(held["fields"])),
        section=_text(held["section"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("an item's words are text")
    return value


def _list(value: object) -> Sequence[dict[str, object]]:
    if not isinstance(value, list):
        raise TypeError("an item's parts are lists")
    return value

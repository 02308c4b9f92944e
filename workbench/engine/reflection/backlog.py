"""Items for which a proposal had no room: kept beside the index until the next reflection takes them up.

Losing the file costs time only: the mark in the reflection log then says from where to read again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields

from workbench.engine.documents import Evidence, ReviewItem

_TEXTS = {"id", "kind", "text", "target", "before", "confidence", "reason", "decision", "section"}


def render_backlog(reflection: str, items: Sequence[ReviewItem]) -> bytes:
    """Write the items as JSON.

    Args:
        reflection: The one that had no room for them, `r-012`.
        items: Best first.
    """
    return json.dumps(
        {"reflection": reflection, "items": [asdict(item) for item in items]}, ensure_ascii=False
    ).encode("utf-8", "surrogatepass")


def parse_backlog(content: bytes, reflection: str) -> tuple[ReviewItem, ...] | None:
    """Read the items back; None where the file is damaged or belongs to another reflection.

    Args:
        content: As `render_backlog` wrote it.
        reflection: The newest one that was written.
    """
    try:
        held = json.loads(content.decode("utf-8", "surrogatepass"))
        if held["reflection"] != reflection:
            return None
        return tuple(_item(each) for each in held["items"])
    except (ValueError, KeyError, TypeError):
        return None


def _item(held: dict[str, object]) -> ReviewItem:
    names = {each.name for each in fields(ReviewItem)}
    given = {name: value for name, value in held.items() if name in names and name in _TEXTS}
    if not all(isinstance(value, str) for value in given.values()):
        raise TypeError("an item's words are text")
    evidence, needs, more = held["evidence"], held["needs"], held["fields"]
    if not (isinstance(evidence, list) and isinstance(needs, list) and isinstance(more, list)):
        raise TypeError("an item's parts are lists")
    return ReviewItem(
        **given,  # type: ignore[arg-type]  # checked above to be text, as these fields are
        evidence=tuple(Evidence(str(each["id"]), str(each["quote"])) for each in evidence),
        needs=tuple(map(str, needs)),
        fields=tuple((str(label), str(value)) for label, value in more),
    )

"""What an entity is called, how old it is and whether it is pinned, told from the beginning of its file alone."""

from __future__ import annotations

import re
from typing import NamedTuple

# A title in plain words, and one comment below it.
_PLAIN = re.compile(rb"# ([^\n\r\t\\`*_\[\]<>&!#~]+)\n+<!-- ([^\n\r<>]*) -->\n")
MERGED = re.compile(rb"merged\s*into", re.IGNORECASE)
_WIDE_COLON = "："
_MOST_LABEL = 200


class Head(NamedTuple):
    """The beginning of the file of an entity.

    Args:
        created: As written, `2026-01-15`; empty where it does not say.
    """

    label: str
    created: str
    pinned: bool


def plain_head(content: bytes, entity: str) -> Head | None:
    """Return the head of an entity that was merged into none; None where only taking its file apart tells.

    Args:
        content: Its file, as the engine writes it.
        entity: Its id, `type--slug`.
    """
    match = _PLAIN.match(content)
    if match is None or content.count(b"<!--") > 1 or MERGED.search(content):
        return None
    try:
        title, comment = match[1].decode().strip(), match[2].decode()
    except UnicodeDecodeError:
        return None
    if _WIDE_COLON in comment:
        return None
    fields = {}
    for part in comment.split("|"):
        key, _, value = part.partition(":")
        if value.strip():
            fields[key.strip().lower()] = value.strip()
    label = fields.get("label", title)
    if not label or label == entity or len(label) > _MOST_LABEL or not label.isprintable():
        return None
    return Head(label, fields.get("created", ""), fields.get("pinned", "").lower() in ("yes", "true"))

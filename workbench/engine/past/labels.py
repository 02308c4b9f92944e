"""The label of an entity, told from the beginning of its file where that is written as the engine writes it."""

from __future__ import annotations

import re

# A title in plain words, and one comment below it.
_PLAIN = re.compile(rb"# ([^\n\r\t\\`*_\[\]<>&!#~]+)\n+<!-- ([^\n\r<>]*) -->\n")
_LABEL = re.compile(rb"(?:^|\|)\s*label\s*:\s*([^|]*)", re.IGNORECASE)
_MERGED = re.compile(rb"merged\s*into", re.IGNORECASE)
_WIDE_COLON = "：".encode()


def plain_label(content: bytes, entity: str) -> str | None:
    """Return the label of an entity that was merged into none; None where only taking its file apart tells.

    Args:
        content: Its file.
        entity: Its id, `type--slug`.
    """
    match = _PLAIN.match(content)
    if match is None or content.count(b"<!--") > 1 or _MERGED.search(content) or _WIDE_COLON in match[2]:
        return None
    said = _LABEL.findall(match[2])
    try:
        label = (said[0] if said else match[1]).decode().strip()
    except UnicodeDecodeError:
        return None
    return label if label and label != entity and len(said) < 2 and label.isprintable() else None

"""What is left of the proposal once decided items are taken out of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.outline import read_headings
from workbench.engine.markdown.source import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.markdown.review import PendingReflection

# What looks like an item but cannot be read as one: somebody’s handwriting, which is not thrown away.
_UNREAD_ITEM: Final = re.compile(r"^[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]+\[.?\][ \t]", re.MULTILINE)


def without_items(pending: PendingReflection, item_ids: Iterable[str]) -> bytes | None:
    """Return the file without some items and without headings that are bare by that; None where nothing waits.

    Args:
        pending: The proposal.
        item_ids: Items to take out.
    """
    gone = list(item_ids)
    held = {item.section for item in pending.items if item.id in gone}
    left = pending.remove(gone) if gone else pending
    text = left.render().decode("utf-8", "surrogateescape")
    if not left.items and not _UNREAD_ITEM.search(text):
        return None
    source = left.source
    for heading in reversed(read_headings(source)):
        body = source.lines_of(heading.section)[1:]
        if heading.level == 2 and heading.text in held and all(is_blank(line) for line in body):
            source = source.splice(heading.section.start, heading.section.end, ())
    return source.render()

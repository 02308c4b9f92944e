"""Whether what an item would change still reads as it did when the item was proposed.

A stamp, written with the proposal, is a digest of just those lines: other edits of the same file make nothing
stale. An item that adds something is stale once it is there already.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection.items import AS_OF, field_of
from workbench.engine.reflection.review.current_text import CurrentText, current_text
from workbench.engine.reflection.review.duplicates import find_duplicate
from workbench.engine.reflection.review.item_changes import targets
from workbench.engine.reflection.review.item_reading import read_item
from workbench.engine.reflection.review.parsed_files import ParsedFiles
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.review.item_changes import ItemChange

_CHANGED = "What it would change reads otherwise by now."
_GONE = "What it would change is no longer there."


@dataclass(frozen=True, slots=True)
class Staleness:
    """Whether an item is stale.

    Args:
        stale: Whether it is.
        now: What stands there now; empty where nothing does.
        reason: One sentence; empty where it is not stale.
    """

    stale: bool
    now: str = ""
    reason: str = ""


FRESH = Staleness(False)


def stamp(item: ReviewItem, view: FileView, zone: tzinfo) -> ReviewItem:
    """Return an item with the digest of what it would change, as it reads now; an older stamp is replaced.

    Args:
        item: As proposed; with or without an id.
        view: The files.
        zone: The workspace’s.
    """
    fields = tuple((label, value) for label, value in item.fields if label != AS_OF)
    change = _readable(item if item.id else replace(item, id="r-0.0"))
    mark = _mark(change, ParsedFiles.of(view), zone) if change is not None else None
    return replace(item, fields=(*fields, (AS_OF, mark)) if mark else fields)


def check(item: ReviewItem, view: FileView, zone: tzinfo) -> Staleness:
    """Return whether what an item would change has moved on.

    An item without a stamp, such as one that somebody wrote by hand, is judged by its `was`. One that was
    given another target by hand has no past to compare. An item that cannot be read is not stale.
    """
    change = _readable(item)
    if change is None:
        return FRESH
    files = ParsedFiles.of(view)
    try:
        already = find_duplicate(change, files)
        if already is not None:
            return Staleness(True, already.text, already.note or "This stands there already.")
        stamped = field_of(item, AS_OF)
        current = current_text(change, files, zone)
    except WorkbenchError:
        # A path that leads nowhere: applying says what is wrong with it.
        return FRESH
    target, _, digest = stamped.partition("-")
    if stamped and target != _digest(*targets(change)):
        return FRESH
    if current is None:
        return Staleness(True, "", _GONE) if stamped else FRESH
    if stamped:
        return FRESH if digest == _of(current) else Staleness(True, current.text, _CHANGED)
    return FRESH if _says(current, item) else Staleness(True, current.text, _CHANGED)


def check_all(items: Iterable[ReviewItem], view: FileView, zone: tzinfo) -> dict[str, Staleness]:
    """Return the staleness of several items by their ids."""
    files = ParsedFiles.of(view)
    return {item.id: check(item, files, zone) for item in items}


def _says(current: CurrentText, item: ReviewItem) -> bool:
    return not item.before or not current.text or text_key(item.before) == text_key(current.text)


def _readable(item: ReviewItem) -> ItemChange | None:
    try:
        return read_item(item)
    except WorkbenchError:
        return None


def _mark(change: ItemChange, files: ParsedFiles, zone: tzinfo) -> str | None:
    try:
        current = current_text(change, files, zone)
    except WorkbenchError:
        return None
    return f"{_digest(*targets(change))}-{_of(current)}" if current is not None else None


def _of(current: CurrentText) -> str:
    return _digest(*current.basis, length=10)


def _digest(*parts: str, length: int = 4) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:length]

"""Which approved items cannot be applied now, and why: told from the items alone."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput
from workbench.engine.memory.wording import clip
from workbench.engine.reflection.review.item_changes import creates, lacks_words
from workbench.engine.reflection.review.item_reading import read_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.review.staleness import Staleness

_SHOWN: Final = 120


def own_reasons(items: Iterable[ReviewItem], stale: Mapping[str, Staleness]) -> dict[str, str]:
    """Return why approved items wait by themselves, by their ids.

    Args:
        items: All items of the file, whatever was decided.
        stale: Of the approved ones, at least.
    """
    approved = (item for item in items if item.decision == "approved")
    return {item.id: reason for item in approved if (reason := _own_reason(item, stale))}


def what_waits(
    items: Iterable[ReviewItem], reasons: Mapping[str, str], exists: Callable[[str], bool]
) -> dict[str, str]:
    """Return why approved items wait, by themselves or for others, by their ids.

    Args:
        items: All items of the file, whatever was decided.
        reasons: Items that wait by themselves, or could not be applied when that was tried.
        exists: Whether there is an entity, by `type--slug`.
    """
    by_id = {item.id: item for item in items}
    approved = [item for item in by_id.values() if item.decision == "approved"]
    waits = dict(reasons)
    needed_by: dict[str, list[ReviewItem]] = {}
    for item in approved:
        for need in item.needs:
            needed_by.setdefault(need, []).append(item)
    # What waits keeps those waiting that need it, and these again others.
    change = deque(item for item in approved if item.id not in waits)
    while change:
        item = change.popleft()
        reason = "" if item.id in waits else _unmet(item, by_id, waits, exists)
        if reason:
            waits[item.id] = reason
            change.extend(needed_by.get(item.id, ()))
    return {item.id: waits[item.id] for item in approved if item.id in waits}


def _own_reason(item: ReviewItem, stale: Mapping[str, Staleness]) -> str:
    try:
        change = read_item(item)
    except InvalidInput as error:
        return error.told
    found = stale.get(item.id)
    if found is not None and found.stale:
        now = f" Now: {clip(found.now, _SHOWN)}" if found.now else ""
        return f"{found.reason}{now}"
    return lacks_words(change)


def _unmet(
    item: ReviewItem, by_id: Mapping[str, ReviewItem], waits: Mapping[str, str], exists: Callable[[str], bool]
) -> str:
    """Return the item that this one needs and that was not approved; one no longer in the file does not count."""
    for need in item.needs:
        other = by_id.get(need)
        if other is None or other is item or _made(other, exists):
            continue
        if other.decision != "approved":
            return f"It needs {need}, which is {other.decision}."
        if need in waits:
            return f"It needs {need}, which waits itself."
    return ""


def _made(item: ReviewItem, exists: Callable[[str], bool]) -> bool:
    """Return whether the entity that an item would make is there anyway."""
    try:
        entity = creates(read_item(item))
    except InvalidInput:
        return False
    return entity is not None and exists(entity)

"""Core memory rewritten by a model, as single changes that keep within its cap whichever of them are approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.core_room import Room
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model_mind import material
from workbench.engine.reflection.model_mind.schemas import items_schema, record

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda
    from workbench.engine.reflection.model_mind.inquiry import Inquiry

_KINDS: Final = (Kind.CORE_CHANGE, Kind.PROMOTION, Kind.DEMOTION)


def rewrite_core(inquiry: Inquiry, agenda: Agenda, items: tuple[ReviewItem, ...]) -> tuple[ReviewItem, ...]:
    """Return the model's changes of core memory, one for each place, as far as there is room for all of them.

    Raises:
        NoAnswer: The model gave none.
    """
    snapshot, sizes, shown = inquiry.snapshot, inquiry.sizes, inquiry.shown()
    data = {
        **material.about(snapshot),
        "core": material.core_rows(snapshot, shown, sizes.passages),
        "room": material.core_room(snapshot),
        "proposed": material.proposed_rows(snapshot, items, shown, sizes.near),
        "areas": material.area_rows(snapshot, agenda, shown, sizes.core),
        "memories": material.often_rows(snapshot, shown, sizes.core // 2),
    }
    most = min(inquiry.allowance(), sizes.answer)
    answer = inquiry.questions.ask("rewrite_core", data, record(items=items_schema(_KINDS)), most=most)
    room = Room(snapshot)
    places: set[str] = set()
    kept: list[ReviewItem] = []
    without_room = 0
    for item in inquiry.read_items(answer, shown, _KINDS):
        changes = item.target.count(":") > 1
        if changes and item.target in places:
            continue
        if not room.take(item):
            without_room += 1
            continue
        places.add(item.target)
        kept.append(item)
    if without_room:
        inquiry.questions.note(f"Core memory has no room for {without_room} of them.")
    return tuple(kept)

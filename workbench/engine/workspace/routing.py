"""Asks the rules, or the model that is configured, where a memory belongs and what a message wants."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    from workbench.engine.triggers import Detection, EntityMention, Routing
    from workbench.engine.workspace.ground import Ground

_OWNER_ITEM = "core:identity:name"


def route(ground: Ground, text: str, *, explicit: bool, pinned: bool) -> Routing:
    """Decide where a text belongs, by the configured model or by rules.

    Args:
        ground: The open workspace.
        text: What is to be remembered.
        explicit: Whether the user asked for it.
        pinned: Whether it shall never decay.
    """
    from workbench.engine.triggers import RoutingHints, route_by_model, route_by_rules

    hints = RoutingHints(
        owner=_owner(ground), known=lambda name: _known(ground, name), protect=pinned, explicit=explicit
    )
    model = ground.settings.model
    if not model.configured:
        return route_by_rules(text, hints)
    from workbench.engine.providers import OpenAICompatibleChat

    chat = OpenAICompatibleChat(
        base_url=model.base_url,
        api_key=model.api_key,
        model=model.name,
        headers=model.headers,
        timeout_s=model.timeout,
    )
    return route_by_model(text, chat, hints)


def read_message(ground: Ground, text: str) -> Detection:
    """Tell what one message asks of memory, with the user's own phrases beside ours."""
    from workbench.engine.triggers import detect, load_phrases

    own = ground.settings.triggers.phrases
    place = (ground.root / Path(own).expanduser()) if own else None
    return detect(text, load_phrases(place))


def _known(ground: Ground, name: str) -> EntityMention | None:
    from workbench.engine.identifiers import ENTITY_TYPES
    from workbench.engine.triggers import EntityMention

    entity = ground.lookups.named(name)
    if entity is None or entity.type not in ENTITY_TYPES:
        return None
    return EntityMention(entity.label, entity.type)  # type: ignore[arg-type]  # one of the five, as just checked


def _owner(ground: Ground) -> str:
    return _owner_in(ground.files.read(layout.CORE) or b"")


@lru_cache(maxsize=2)
def _owner_in(core: bytes) -> str:
    from workbench.engine.documents import CoreMemory

    item = CoreMemory.parse(core).item(_OWNER_ITEM)
    name = item.text.partition(":")[2].strip() if item else ""
    return name if name and not name.startswith("[") else "User"

"""Asks the rules, or the model that is configured, where a memory belongs and what a message wants."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from workbench.engine import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.requests import RememberRequest
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.triggers.model import (
        Detection,
        EntityMention,
        EntityType,
        Routing,
        RoutingHints,
        Store,
    )

_OWNER_ITEM = "core:identity:name"


def route(context: WorkspaceContext, request: RememberRequest) -> Routing:
    """Decide where a text belongs, by the configured model or by rules.

    Args:
        context: The open workspace.
        request: What is to be remembered.

    Raises:
        InvalidInput: One of its entities is neither a name with a type nor an id.
    """
    from workbench.engine.triggers.model import Store
    from workbench.engine.triggers.model_routing import route_by_model
    from workbench.engine.triggers.rules import route_by_rules

    # A word that is no store is refused by the store's planner.
    text, wanted = request.text, request.store.strip().lower() if request.store else None
    hints = replace(
        _hints(context),
        protect=request.pinned,
        explicit=request.is_asked_for,
        store=cast("Store", wanted) if wanted in get_args(Store) else None,
        entities=tuple(each for entity in request.entities if (each := _given(context, entity))),
    )
    if not context.settings.model.configured:
        return route_by_rules(text, hints)
    from workbench.engine.providers.selection import chat_model

    chat = chat_model(context.settings)
    if chat is None:
        return route_by_rules(text, hints)
    with closing(chat):
        return route_by_model(text, chat, hints)


def answers_by_rules(context: WorkspaceContext) -> Callable[[str], Routing]:
    """Return what decides where a person's answer belongs: rules alone, for nothing may wait for a network then."""
    from workbench.engine.triggers.rules import route_by_rules

    hints = replace(_hints(context), explicit=True)
    return lambda text: route_by_rules(text, hints)


def _hints(context: WorkspaceContext) -> RoutingHints:
    """Return what a workspace knows that tells where a text belongs."""
    from workbench.engine.triggers.model import RoutingHints

    return RoutingHints(
        owner=owner_of(context),
        known=lambda name: _mention(context.lookups.named(name)),
        called=lambda name: _mention(context.lookups.called(name)),
        relations=own_relations(context),
    )


def read_message(context: WorkspaceContext, text: str) -> Detection:
    """Tell what one message asks of memory, with the user's own phrases beside ours."""
    from workbench.engine.triggers.detection import detect
    from workbench.engine.triggers.phrases import load_phrases

    own = context.settings.triggers.phrases
    place = (context.root / Path(own).expanduser()) if own else None
    return detect(text, load_phrases(place))


def _mention(entity: EntityRecord | None) -> EntityMention | None:
    from workbench.engine.identifiers import ENTITY_TYPES
    from workbench.engine.triggers.model import EntityMention

    if entity is None or entity.type not in ENTITY_TYPES:
        return None
    return EntityMention(entity.label, cast("EntityType", entity.type), marked=True)


def _given(context: WorkspaceContext, text: str) -> EntityMention | None:
    from workbench.engine.memory.entities import parse_entity
    from workbench.engine.triggers.model import EntityMention

    named = parse_entity(text)
    if not named.type:
        return _mention(context.lookups.entity(f"entity:{named.name}"))
    return EntityMention(named.name, cast("EntityType", named.type), marked=True)


def own_relations(context: WorkspaceContext) -> tuple[str, ...]:
    """Return the relations of this workspace beyond those of design document §6.3."""
    return _relations_in(context.files.read(layout.RELATIONS) or b"", tuple(context.settings.graph.relations))


@lru_cache(maxsize=2)
def _relations_in(file: bytes, settings: tuple[str, ...]) -> tuple[str, ...]:
    from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
    from workbench.engine.triggers.model_routing import RELATIONS

    types = RelationVocabulary.parse(file, layout.RELATIONS).types
    names = [name for kind in types for name in (kind.name, kind.inverse) if name]
    own = dict.fromkeys((*names, *(canonical_relation(name) for name in settings)))
    return tuple(name for name in own if name not in RELATIONS)


def owner_of(context: WorkspaceContext) -> str:
    """Return the person’s name as core memory has it; `User` where it does not say."""
    return _owner_in(context.files.read(layout.CORE) or b"")


@lru_cache(maxsize=2)
def _owner_in(core: bytes) -> str:
    from workbench.engine.markdown.core import CoreMemory

    item = CoreMemory.parse(core).item(_OWNER_ITEM)
    name = item.text.partition(":")[2].strip() if item else ""
    return name if name and not name.startswith("[") else "User"

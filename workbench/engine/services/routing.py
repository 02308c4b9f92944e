"""What words ask for: where a memory belongs, what a message wants, and what of it a person rejected before."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from workbench.engine import layout
from workbench.engine.language.periods import period_alone
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
from workbench.engine.markdown.reflection_records import RejectedClaims
from workbench.engine.memory.entities import parse_entity
from workbench.engine.reflection.rejections import rejected_before, warnings_of
from workbench.engine.triggers.detection import detect_all
from workbench.engine.triggers.model import (
    ALONE,
    NOTHING_DETECTED,
    Detection,
    EntityMention,
    Routing,
    RoutingHints,
    Store,
    Surroundings,
)
from workbench.engine.triggers.model_routing import RELATIONS, route_by_model
from workbench.engine.triggers.phrases import PhraseBook, load_phrases
from workbench.engine.triggers.rules import route_by_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.history.plan import FileView
    from workbench.engine.requests import RememberRequest
    from workbench.engine.services.context import WorkspaceContext


_OWNER_ITEM = "core:identity:name"


def route(context: WorkspaceContext, request: RememberRequest) -> Routing:
    """Decide where a text belongs, by the configured model or by rules.

    Args:
        request: What is to be remembered.

    Raises:
        InvalidInput: One of its entities is neither a name with a type nor an id.
    """
    # A word that is no store is refused by the store's planner.
    text, wanted = request.text, request.store.strip().lower() if request.store else None
    hints = replace(
        _hints(context),
        protect=request.pinned,
        explicit=request.is_asked_for,
        store=cast("Store", wanted) if wanted in get_args(Store) else None,
        entities=tuple(each for entity in request.entities if (each := _given(context, entity))),
    )
    if request.by_rules:
        return route_by_rules(text, hints)
    with context.chat_model() as chat:
        return route_by_rules(text, hints) if chat is None else route_by_model(text, chat, hints)


def answers_by_rules(context: WorkspaceContext) -> Callable[[str], Routing]:
    """Return what decides where a person's answer belongs: rules alone, for nothing may wait for a network then."""
    hints = replace(_hints(context), explicit=True)
    return lambda text: route_by_rules(text, hints)


def _hints(context: WorkspaceContext) -> RoutingHints:
    """Return what a workspace knows that tells where a text belongs."""
    return RoutingHints(
        owner=owner_of(context),
        known=lambda name: _mention(context.lookups.named(name)),
        called=lambda name: _mention(context.lookups.called(name)),
        relations=own_relations(context),
    )


def phrases_of(context: WorkspaceContext) -> PhraseBook:
    """Return the phrases by which people ask something of memory, with the user's own beside ours."""
    own = context.settings.triggers.phrases
    return load_phrases(context.root / Path(own).expanduser() if own else None)


def read_message(context: WorkspaceContext, text: str, around: Surroundings = ALONE) -> Detection:
    """Return what one message asks of memory: the first thing, what needs a time and names none left out.

    Args:
        around: What is known of the conversation and of memory.
    """
    today = context.now().date()
    found = detect_all(text, phrases_of(context), around)
    meant = (each for each in found if not each.needs_time or period_alone(each.payload, today) is not None)
    return next(meant, NOTHING_DETECTED)


def _mention(entity: EntityRecord | None) -> EntityMention | None:
    return EntityMention(entity.label, entity.type, marked=True) if entity is not None else None


def _given(context: WorkspaceContext, text: str) -> EntityMention | None:
    named = parse_entity(text)
    if not named.type:
        return _mention(context.lookups.entity(f"entity:{named.name}"))
    return EntityMention(named.name, named.type, marked=True)


def own_relations(context: WorkspaceContext) -> tuple[str, ...]:
    """Return the relations of this workspace beyond those of design document §6.3."""
    return _relations_in(context.files.read(layout.RELATIONS) or b"", tuple(context.settings.graph.relations))


@lru_cache(maxsize=2)
def _relations_in(file: bytes, settings: tuple[str, ...]) -> tuple[str, ...]:
    types = RelationVocabulary.parse(file, layout.RELATIONS).types
    names = [name for kind in types for name in (kind.name, kind.inverse) if name]
    own = dict.fromkeys((*names, *(canonical_relation(name) for name in settings)))
    return tuple(name for name in own if name not in RELATIONS)


def owner_of(context: WorkspaceContext) -> str:
    """Return the person’s name as core memory has it; `User` where it does not say."""
    return _owner_in(context.files.read(layout.CORE) or b"")


@lru_cache(maxsize=2)
def _owner_in(core: bytes) -> str:
    item = CoreMemory.parse(core).item(_OWNER_ITEM)
    name = item.text.partition(":")[2].strip() if item else ""
    return name if name and not name.startswith("[") else "User"


def warnings_of_rejected(context: WorkspaceContext, text: str) -> tuple[str, ...]:
    """Return a warning for each claim of a text that a person has rejected before.

    Args:
        text: What is to be remembered or proposed.
    """
    if context.files.read(layout.REJECTED) is None:
        return ()
    return warnings_of(rejected_before(text, (), rejected_claims(context.files)))


def rejected_claims(view: FileView) -> RejectedClaims:
    """Return what a person rejected."""
    return _claims_in(view.read(layout.REJECTED) or b"")


@lru_cache(maxsize=2)
def _claims_in(content: bytes) -> RejectedClaims:
    return RejectedClaims.parse(content, layout.REJECTED)

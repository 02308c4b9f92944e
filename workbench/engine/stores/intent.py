"""What is to be remembered and how: a routing with the wishes of whoever asked laid over it, and checked."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.stores.entities import Named, parse_entity
from workbench.engine.stores.naming import same_name
from workbench.engine.stores.semantic import Origin
from workbench.engine.stores.wording import (
    CONFIDENCES,
    EPISODE_TYPES,
    checked_source,
    checked_word,
    clean_memory,
    clean_name,
    clean_tags,
    clip,
)
from workbench.engine.triggers.model import FactStatement, ProcedureOutline, RelationMention, Routing

SUMMARY_CHARACTERS = 100


@dataclass(frozen=True)
class RememberRequest:
    """What somebody asks to be remembered; what is None or empty is left to the routing.

    Args:
        text: Any text.
        store: core, episodic, semantic, procedural or vault.
        type: What kind of episode it would be.
        tags: Topical tags, in place of the routing's.
        entities: `TYPE:NAME` or ids; what it is about.
        confidence: high, medium or low.
        source: One word: `user-explicit` where a person asked for it, `conversation` where it was noticed.
        block: A block of core memory that shall say it as well.
        origins: Ids of memories that it comes from, such as the episodes of a proposal.
        pinned: Whether it shall never decay.
        scope: Whom it is for, as `scopes.parse_scope` gives it; None for the owner alone.
    """

    text: str
    store: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    confidence: str | None = None
    source: str = "user-explicit"
    block: str | None = None
    origins: tuple[str, ...] = ()
    pinned: bool = False
    scope: str | None = None


@dataclass(frozen=True)
class Intent:
    """A memory that is ready to be stored: the request's wishes, else the routing's choices.

    Args:
        named: Every entity, those of the request first.
        core_block: The block of core memory to say it in; None where core memory is not concerned.
        router: `given`, `rules` or `model`.
    """

    text: str
    store: str
    type: str
    tags: tuple[str, ...]
    confidence: str
    source: str
    summary: str
    named: tuple[Named, ...]
    relations: tuple[RelationMention, ...]
    facts: tuple[FactStatement, ...]
    procedure: ProcedureOutline | None
    core_block: str | None
    origins: tuple[str, ...]
    pinned: bool
    router: str
    fallback: str | None
    warnings: tuple[str, ...]
    scope: str | None = None

    @property
    def given(self) -> tuple[Named, ...]:
        """Return the entities that the request names."""
        return tuple(named for named in self.named if named.given)

    def origin(self, memory_id: str | None = None) -> Origin:
        """Return where facts and relations of this memory come from.

        Args:
            memory_id: The episode that holds the memory, where one does.
        """
        sources = (memory_id, *self.origins) if memory_id else self.origins
        return Origin(sources or (f"source:{self.source}",), self.confidence)


def read_intent(request: RememberRequest, routing: Routing) -> Intent:
    """Check a request and lay it over the routing of its text.

    Raises:
        InvalidInput: The text cannot be kept, or a word of the request is none of its vocabulary.
    """
    wording = clean_memory(request.text)
    store = routing.store if request.store is None else checked_word(request.store, MEMORY_STORES, "store")
    kind = (
        routing.type if request.type is None else checked_word(request.type, EPISODE_TYPES, "type of memory")
    )
    given = routing.confidence if request.confidence is None else request.confidence
    named, warnings = _named(request, routing)
    block = request.block
    if request.scope is not None and (block is not None or request.store == "core"):
        raise InvalidInput(
            "Core memory is the owner’s alone.",
            remedy="Leave out for whom it is, or the store and the block.",
        )
    if request.scope is not None and store == "core":
        store = "episodic"
    # Who names another store has decided; core memory is left alone unless a block is asked for.
    worth_it = store == "core" or (routing.core_update and request.store is None)
    if block is None and worth_it and request.scope is None:
        block = routing.core_block or "Active Context"
    return Intent(
        text=wording.text,
        store=store,
        type=kind,
        tags=clean_tags(request.tags or routing.tags),
        confidence=checked_word(given, CONFIDENCES, "confidence"),
        source=checked_source(request.source),
        summary=clip(routing.summary, SUMMARY_CHARACTERS) or clip(wording.text, SUMMARY_CHARACTERS),
        named=named,
        relations=routing.relations,
        facts=routing.facts or (FactStatement(None, wording.text),),
        procedure=routing.procedure,
        core_block=block,
        origins=request.origins,
        pinned=request.pinned,
        router="given" if request.store is not None else routing.router,
        fallback=routing.fallback,
        warnings=(*wording.warnings, *warnings),
        scope=request.scope,
    )


def _named(request: RememberRequest, routing: Routing) -> tuple[tuple[Named, ...], list[str]]:
    named = [parse_entity(text) for text in request.entities]
    warnings = []
    for mention in routing.entities:
        try:
            name = clean_name(mention.name)
        except InvalidInput:
            warnings.append(f"“{clip(mention.name, 40)}” cannot be the name of an entity and was left out.")
            continue
        if not any(same_name(name, known.name) for known in named):
            named.append(Named(name, mention.type))
    return tuple(named), warnings

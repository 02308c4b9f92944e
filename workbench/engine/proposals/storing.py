"""Turns a proposal into a request to remember, taking nothing in it on trust (design document §13.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import ENTITY_TYPES, MEMORY_STORES, NOTE
from workbench.engine.proposals.file import ORIGINS, SCOPE, TAGS, TYPE, listed
from workbench.engine.scopes import written_scope
from workbench.engine.stores.entities import entity_path, parse_entity
from workbench.engine.stores.intent import RememberRequest
from workbench.engine.stores.wording import CONFIDENCES, EPISODE_TYPES, clip

if TYPE_CHECKING:
    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.history.plan import FileView

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_NOBODY: Final = "unknown"
_OTHER_TYPE: Final = "concept"


@dataclass(frozen=True)
class Wishes:
    """What whoever decides wants otherwise than proposed.

    Args:
        store: Where it shall stand, None for where it was suggested.
        text: What shall be remembered, None for what was proposed.
    """

    store: str | None = None
    text: str | None = None


def sender_tag(sender: str) -> str:
    """Return a sender's name as an actor tag takes it; `unknown` for what is no agent's name."""
    name = sender.strip().lower()
    return name if _NAME.fullmatch(name) else _NOBODY


def store_of(proposal: MemoryProposal, wishes: Wishes) -> str | None:
    """Return the store that was asked for; None where what stands in the file is none."""
    wanted = wishes.store if wishes.store is not None else proposal.store
    return wanted if wishes.store is not None or wanted in MEMORY_STORES else None


def text_of(proposal: MemoryProposal, wishes: Wishes) -> str:
    """Return what shall be remembered."""
    return wishes.text if wishes.text is not None else proposal.content


def entities_of(proposal: MemoryProposal, view: FileView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what it is about, as remembering takes it, and a warning for each name that is none.

    An id that nothing has yet, such as `preference--source-quality`, names a new entity by the words in it.
    """
    kept: dict[str, None] = {}
    warnings = []
    for entity in proposal.entities:
        try:
            kept[_named(entity, view)] = None
        except InvalidInput:
            warnings.append(f"“{clip(entity, 40)}” names no entity and was left out.")
    return tuple(kept), tuple(warnings)


def request_of(
    proposal: MemoryProposal, entities: tuple[str, ...], *, wishes: Wishes, store: str, block: str
) -> RememberRequest:
    """Return the request.

    Args:
        proposal: As it stands in the file.
        entities: As `entities_of` says.
        wishes: Of whoever decides.
        store: Where it goes.
        block: The block of core memory for what is worth it.
    """
    kind = proposal.field(TYPE).lower()
    tag = sender_tag(proposal.sender)
    scope = written_scope(proposal.field(SCOPE))
    if scope is not None and store == "core":
        store = "episodic"
    return RememberRequest(
        text=text_of(proposal, wishes),
        store=store,
        type=kind if kind in EPISODE_TYPES else None,
        tags=listed(proposal.field(TAGS)),
        entities=entities,
        confidence=proposal.confidence if proposal.confidence in CONFIDENCES else "medium",
        source=f"subagent:{tag}" if tag not in ("main", "person") else "conversation",
        block=block if proposal.core_worthy and store != "core" and scope is None else None,
        origins=listed(proposal.field(ORIGINS)),
        scope=scope,
    )


def _named(entity: str, view: FileView) -> str:
    bare = entity.strip().removeprefix("entity:")
    kind, dashes, slug = bare.partition("--")
    if dashes and slug.strip():
        if kind in (*ENTITY_TYPES, NOTE) and view.read(entity_path(bare, view)) is not None:
            return bare
        bare = f"{kind if kind in ENTITY_TYPES else _OTHER_TYPE}:{slug.replace('-', ' ').strip()}"
    named = parse_entity(bare)
    return f"{named.type}:{named.name}"

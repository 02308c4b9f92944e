"""What of the graph is asked for: relations, types, scores and days, checked before anything is looked up."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import ENTITY_TYPES

if TYPE_CHECKING:
    from workbench.engine.catalog.knowledge_graph import Followed
    from workbench.engine.workspace.ground import Ground

_NAMED = 6


@dataclass(frozen=True)
class GraphFilter:
    """What is given of the graph.

    Args:
        followed: Which relations are followed; all where None.
        types: Entities of these types alone; all where empty.
        min_score: Entities of at least this score, 0-1.
    """

    followed: Followed | None = None
    types: frozenset[str] = frozenset()
    min_score: float = 0.0


def checked_filter(
    ground: Ground,
    relations: Sequence[str],
    types: Sequence[str],
    min_score: float,
    after: str | None,
    before: str | None,
) -> GraphFilter:
    """Return a filter as the graph understands it.

    Args:
        ground: The open workspace; it knows relations and types.
        relations: Names of relations; each brings its opposite along, which says the same from the other end.
        types: Types of entities.
        min_score: 0-1.
        after: A day, `2026-02-14`.
        before: A day.

    Raises:
        InvalidInput: One of them says nothing; the remedy names what would.
    """
    from workbench.engine.catalog.knowledge_graph import Followed

    if not (math.isfinite(min_score) and 0 <= min_score <= 1):
        raise InvalidInput(
            f"A score is from 0 to 1; {min_score:g} is none.", remedy="Ask for --min-score 0.3."
        )
    first, last = _day(after, "after"), _day(before, "before")
    if first and last and first > last:
        raise InvalidInput(
            f"No day is after {first} and before {last}.", remedy="Exchange the two, or leave one out."
        )
    return GraphFilter(Followed(_relations(ground, relations), first, last), _types(ground, types), min_score)


def _relations(ground: Ground, names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    from workbench.engine.catalog.knowledge_graph import KnowledgeGraph
    from workbench.engine.documents.relations import canonical_relation
    from workbench.engine.stores.semantic import read_vocabulary

    vocabulary = read_vocabulary(ground.files, ground.settings)
    used: Collection[str] | None = None
    found: dict[str, None] = {}
    for name in names:
        canonical = canonical_relation(name)
        if vocabulary.find(canonical) is None:
            used = used if used is not None else KnowledgeGraph(ground.catalog).relations_in_use()
            if canonical not in used:
                words = [word for kind in vocabulary.types for word in (kind.name, kind.inverse) if word]
                raise _unknown(name, "relation of this workspace", canonical, [*words, *used])
        found[canonical] = None
        if opposite := vocabulary.inverse_of(canonical):
            found[opposite] = None
    return tuple(found)


def _types(ground: Ground, names: Sequence[str]) -> frozenset[str]:
    wanted = {name.strip().casefold(): name for name in names}
    missing = wanted.keys() - set(ENTITY_TYPES)
    if missing:
        from workbench.engine.catalog.knowledge_graph import KnowledgeGraph

        # A type stands in people's files, in whatever case they write it.
        written = {kind.casefold(): kind for kind in KnowledgeGraph(ground.catalog).types_in_use()}
        for name in sorted(missing - written.keys()):
            raise _unknown(wanted[name], "type of entity", name, [*ENTITY_TYPES, *written.values()])
    return frozenset(wanted)


def _day(text: str | None, name: str) -> str | None:
    if text is None or not text.strip():
        return None
    from datetime import date

    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError as error:
        raise InvalidInput(
            f"“{text.strip()[:40]}” is no day for “{name}”.", remedy="Write it as 2026-02-14."
        ) from error


def _unknown(name: str, what: str, folded: str, known: Sequence[str]) -> InvalidInput:
    words = list(dict.fromkeys(known))
    near = difflib.get_close_matches(folded, words, n=3, cutoff=0.5) or words[:_NAMED]
    return InvalidInput(f"“{name[:40]}” is no {what}.", remedy=f"Use {', '.join(near)}, for example.")

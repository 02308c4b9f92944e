"""Finds entities of the graph that are evidently one: the same name under two types, or a name that is another’s."""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import same_name
from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.entities import around
from workbench.engine.reflection.extraction.facts import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.extraction.naming import Mention
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Passage

_MOST: Final = 500
_MOST_OF_ONE_NAME: Final = 4


def merges(
    shared: Iterable[tuple[EntityRecord, ...]],
    named: Mapping[str, Mention],
    where: Mapping[str, int],
    passages: Sequence[Passage],
    graph: Lookups,
) -> list[ReviewItem]:
    """Propose to merge entities of the graph of which passages use one name.

    Args:
        shared: For each such name the entities that have it.
        named: How passages name them first, by `type--slug`.
        where: Index of that passage.
        passages: Of the snapshot.
        graph: Asked once for each pair.
    """
    made: dict[frozenset[str], ReviewItem] = {}
    for records in islice(shared, _MOST):
        quote = next((name for name in map(_bare, records) if name in named), "")
        if not quote:
            continue
        passage = passages[where[quote]]
        for one, other in combinations(records[:_MOST_OF_ONE_NAME], 2):
            pair = frozenset((one.id, other.id))
            if pair not in made:
                keep, absorb = _by_weight(one, other, graph)
                reason, confidence = _why(one, other)
                made[pair] = items.merge(
                    _bare(keep),
                    _bare(absorb),
                    [quoted(passage, around(passage.text, named[quote].start))],
                    reason=reason,
                    confidence=confidence,
                )
    return list(made.values())


def _bare(record: EntityRecord) -> str:
    return record.id.removeprefix("entity:")


def _why(one: EntityRecord, other: EntityRecord) -> tuple[str, Confidence]:
    if same_name(one.label, other.label):
        if one.type != other.type:
            return f"“{one.label}” is in the graph once as {one.type} and once as {other.type}.", "medium"
        return f"“{one.label}” is in the graph twice.", "medium"
    return f"“{one.label}” and “{other.label}” share a name.", "low"


def _by_weight(one: EntityRecord, other: EntityRecord, graph: Lookups) -> tuple[EntityRecord, EntityRecord]:
    """Return the two with the one first that has more facts and relations."""
    first, second = (len(graph.facts_of(each.id)) + len(graph.edges_of(each.id)) for each in (one, other))
    return (one, other) if (first, other.id) >= (second, one.id) else (other, one)

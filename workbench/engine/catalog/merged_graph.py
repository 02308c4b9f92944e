"""The graph with every entity standing for those that went into it, and without what is hidden."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from workbench.engine.catalog.catalog import Catalog

_MOST_MERGES = 16


class MergedGraph:
    """What all questions to the graph as it is to be shown have in common.

    Args:
        catalog: The catalog to ask.
        hidden: Ids of facts and relations that were archived by themselves, `entity:person--alex#^f7k2`.
    """

    def __init__(self, catalog: Catalog, *, hidden: Iterable[str] = ()) -> None:
        self._catalog = catalog
        self._hidden = tuple(sorted(hidden))

    def whole(self, entity: str) -> str:
        """Return the entity that one went into by merging; itself where it did not."""
        return self._kept.get(entity, entity)

    def count_relations(self) -> int:
        """Return how many relations there are."""
        condition, values = self._visible
        rows = self._catalog.rows(f"SELECT count(*) FROM edges e WHERE {condition}", values)
        return int(rows[0][0])

    @cached_property
    def _kept(self) -> dict[str, str]:
        """What merged entities went into, followed to the one that is left; a circle or a dead end leads nowhere."""
        into = dict(
            self._catalog.rows(
                "SELECT m.id, m.merged_into FROM entities m WHERE m.merged_into IS NOT NULL"
                " AND EXISTS (SELECT 1 FROM entities k WHERE k.id = m.merged_into) ORDER BY m.id, m.path DESC"
            )
        )
        return followed_up(into)

    @cached_property
    def _absorbed(self) -> dict[str, list[str]]:
        absorbed: dict[str, list[str]] = defaultdict(list)
        for entity, keeper in self._kept.items():
            absorbed[keeper].append(entity)
        return absorbed

    @cached_property
    def _visible(self) -> tuple[str, list[str]]:
        if not self._hidden:
            return "1", []
        condition = "e.source || '#^' || coalesce(e.block, '') NOT IN (SELECT value FROM json_each(?))"
        return condition, [json_list(self._hidden)]

    def _asked(self, entities: Collection[str]) -> str:
        absorbed = (one for entity in entities for one in self._absorbed.get(entity, ()))
        return json_list([*entities, *absorbed])


def followed_up(into: Mapping[str, str]) -> dict[str, str]:
    """Return what merged entities went into, followed to the one that is left; a circle leads nowhere.

    Args:
        into: By merged entity, the one that its file names.
    """
    kept = {}
    for entity in into:
        last = entity
        for _ in range(_MOST_MERGES):
            if last not in into:
                kept[entity] = last
                break
            last = into[last]
    return kept


def json_list(values: Collection[str]) -> str:
    """Return ids as the JSON list that questions take."""
    return json.dumps(list(values), ensure_ascii=False)

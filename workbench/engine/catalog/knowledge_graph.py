"""The graph in bulk: relations and entities by the hundred, merged entities taken for what they went into."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.merged_graph import MergedGraph, json_list
from workbench.engine.catalog.model import EntityStory

_EDGE = "e.source, e.relation, e.target, e.confidence, e.since, e.block, e.place"
# A year or a month is as early as its first day and as late as its last.
_DAY = "substr(e.since, 1, 10)"


@dataclass(frozen=True, slots=True)
class Followed:
    """Which relations are followed.

    Args:
        relations: By name; all where empty.
        after: Those first seen on this ISO day or later, and undated ones.
        before: Those first seen on this ISO day or earlier, and undated ones.
    """

    relations: tuple[str, ...] = ()
    after: str | None = None
    before: str | None = None


class Edge(NamedTuple):
    """A relation between entities as they are shown.

    Args:
        since: ISO date, or None.
        block: Its block id in the file of the entity it starts from, or None.
        place: Its number among the relations of that file.
    """

    from_: str
    relation: str
    to: str
    confidence: str
    since: str | None
    block: str | None
    place: int


class KnowledgeGraph(MergedGraph):
    """The graph as it is to be shown; asks the catalog once for any number of entities.

    Args:
        catalog: The catalog to ask.
        hidden: Ids of facts and relations that were archived by themselves, `entity:person--alex#^f7k2`.
        followed: The relations that walks follow; degrees count all.
    """

    def __init__(
        self, catalog: Catalog, *, hidden: Iterable[str] = (), followed: Followed | None = None
    ) -> None:
        super().__init__(catalog, hidden=hidden)
        self._followed = followed or Followed()

    def steps(self, entities: Collection[str]) -> list[tuple[str, str]]:
        """Return where relations lead from some entities, in either direction, no step to where one stands."""
        condition, values = self._condition
        near = self._asked(entities)
        rows = self._catalog.rows(
            "SELECT e.source, e.target FROM json_each(?) AS near JOIN edges e ON e.source = near.value"
            f" WHERE e.target <> e.source AND {condition} UNION ALL"
            " SELECT e.target, e.source FROM json_each(?) AS near JOIN edges e ON e.target = near.value"
            f" WHERE e.target <> e.source AND {condition}",
            (near, *values, near, *values),
        )
        if not self._kept:
            return rows
        shown = ((self.whole(one), self.whole(other)) for one, other in rows)
        return [(one, other) for one, other in shown if one != other]

    def among(self, entities: Collection[str]) -> list[Edge]:
        """Return the relations that join some entities, by the entity they start from and their line."""
        condition, values = self._condition
        ends = self._asked(entities)
        # The plus keeps SQLite from trying each of them as the other end of each.
        return self._edges(
            self._catalog.rows(
                f"SELECT {_EDGE} FROM json_each(?) AS near JOIN edges e ON e.source = near.value"
                f" WHERE +e.target IN (SELECT value FROM json_each(?)) AND {condition}",
                (ends, ends, *values),
            )
        )

    def edges(self) -> list[Edge]:
        """Return every relation that is followed, by the entity it starts from and its line."""
        condition, values = self._condition
        return self._edges(self._catalog.rows(f"SELECT {_EDGE} FROM edges e WHERE {condition}", values))

    def degrees(self, entities: Collection[str] | None = None) -> dict[str, int]:
        """Return how many relations entities have in all, in both directions; one to itself counts once.

        Args:
            entities: Which entities, or None for all; those without a relation may be missing.
        """
        condition, values = self._visible
        if entities is None:
            rows = self._catalog.rows(
                f"SELECT e.source, count(*) FROM edges e WHERE {condition} GROUP BY e.source UNION ALL"
                " SELECT e.target, count(*) FROM edges e"
                f" WHERE e.target <> e.source AND {condition} GROUP BY e.target",
                (*values, *values),
            )
            return self._counted(rows)
        near = self._asked(entities)
        rows = self._catalog.rows(
            "SELECT e.source, count(*) FROM json_each(?) AS near JOIN edges e ON e.source = near.value"
            f" WHERE {condition} GROUP BY e.source UNION ALL"
            " SELECT e.target, count(*) FROM json_each(?) AS near JOIN edges e ON e.target = near.value"
            f" WHERE e.target <> e.source AND {condition} GROUP BY e.target",
            (near, *values, near, *values),
        )
        return self._counted(rows)

    def named(self, entities: Collection[str]) -> dict[str, tuple[str, str]]:
        """Return type and label of those of some entities that have a file, by id."""
        rows = self._catalog.rows(
            "SELECT en.id, en.type, en.label FROM json_each(?) AS asked JOIN entities en ON en.id = asked.value"
            " ORDER BY en.id, en.path DESC",
            (json_list(entities),),
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def everybody(self) -> dict[str, tuple[str, str]]:
        """Return type and label of every entity that did not go into another, by id."""
        rows = self._catalog.rows("SELECT id, type, label FROM entities ORDER BY id, path DESC")
        return {row[0]: (row[1], row[2]) for row in rows if row[0] not in self._kept}

    def story(self, entity: str) -> EntityStory:
        """Return what an entity's file tells beside facts and relations."""
        rows = self._catalog.rows(
            "SELECT events, questions, days FROM entities WHERE id = ? ORDER BY path", (entity,)
        )
        if not rows:
            return EntityStory()
        events = tuple((date, text, tuple(sources)) for date, text, sources in json.loads(rows[0][0]))
        return EntityStory(events, tuple(json.loads(rows[0][1])), tuple(rows[0][2].split()), len(rows))

    def relations_in_use(self) -> tuple[str, ...]:
        """Return the names of relations that stand in files, each once."""
        rows = self._catalog.rows("SELECT DISTINCT relation FROM edges ORDER BY relation")
        return tuple(row[0] for row in rows)

    def types_in_use(self) -> tuple[str, ...]:
        """Return the types that entities have, each once."""
        rows = self._catalog.rows("SELECT DISTINCT type FROM entities ORDER BY type")
        return tuple(row[0] for row in rows)

    def is_named(self, entity: str) -> bool:
        """Tell whether a relation leads to an entity, which need not have a file."""
        return bool(self._catalog.rows("SELECT 1 FROM edges WHERE target = ? LIMIT 1", (entity,)))

    @cached_property
    def _condition(self) -> tuple[str, list[str]]:
        condition, values = self._visible
        parts, values = [condition], list(values)
        if self._followed.relations:
            parts.append("e.relation IN (SELECT value FROM json_each(?))")
            values.append(json_list(self._followed.relations))
        for sign, day in ((">=", self._followed.after), ("<=", self._followed.before)):
            if day is not None:
                parts.append(f"(e.since IS NULL OR {_DAY} {sign} substr(?, 1, length({_DAY})))")
                values.append(day)
        return " AND ".join(parts), values

    def _edges(self, rows: list[tuple[Any, ...]]) -> list[Edge]:
        if self._kept:
            rows = [self._as_shown(*row) for row in rows]
        # By the entity it starts from and its line; two files may claim one id.
        rows.sort(key=itemgetter(0, 6, 1, 2))
        return list(map(Edge._make, rows))

    def _as_shown(self, source: str, relation: str, target: str, *rest: Any) -> tuple[Any, ...]:
        start = self.whole(source)
        confidence, since, block, place = rest
        # A block id belongs to the file that it stands in.
        kept = block if start == source else None
        return start, relation, self.whole(target), confidence, since, kept, place

    def _counted(self, rows: Iterable[Sequence[Any]]) -> dict[str, int]:
        counted: dict[str, int] = defaultdict(int)
        kept = self._kept
        for entity, count in rows:
            counted[kept.get(entity, entity)] += count
        for source, target in self._drawn_together():
            if source in counted:
                counted[source] -= source == target
        return counted

    def _drawn_together(self) -> list[tuple[str, str]]:
        """Return the ends of relations between entities that are one by now, which were counted at both."""
        if not self._kept:
            return []
        condition, values = self._visible
        absorbed = json_list(self._kept)
        rows = self._catalog.rows(
            "SELECT e.source, e.target FROM edges e WHERE e.source <> e.target AND"
            " (e.target IN (SELECT value FROM json_each(?)) OR e.source IN (SELECT value FROM json_each(?)))"
            f" AND {condition}",
            (absorbed, absorbed, *values),
        )
        return [(self.whole(source), self.whole(target)) for source, target in rows]

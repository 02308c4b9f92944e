"""The catalog's graph: relations and entities in bulk with merges resolved, neighbourhoods and paths."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.records import MOST_MERGES, EntityRecord, EntityStory, FactRecord
from workbench.engine.results.graph import GraphEvent, GraphFact, GraphView
from workbench.engine.results.memories import Validity
from workbench.engine.values import dataclass

_EDGE = "e.source, e.relation, e.target, e.confidence, e.since, e.block, e.place"
# A year or a month starts on its first day and ends on its last.
_DAY = "substr(e.since, 1, 10)"

MOST_NODES = 500
"""Larger neighbourhoods are cut to the nearest entities, and report the number omitted."""
Steps = Callable[[Collection[str]], Iterable[tuple[str, str]]]
"""Returns the steps from some entities, in either direction of a relation: (from, to)."""


class MergedGraph:
    """The common base of graph queries with merges and archivings applied.

    Args:
        hidden: Ids of individually archived facts and relations, `entity:person--alex#^f7k2`.
    """

    def __init__(self, catalog: Catalog, *, hidden: Iterable[str] = ()) -> None:
        self._catalog = catalog
        self._hidden = tuple(sorted(hidden))

    def whole(self, entity: str) -> str:
        """Return the entity that an entity was merged into; itself if it was not."""
        return self._kept.get(entity, entity)

    def count_relations(self) -> int:
        """Return the number of relations."""
        condition, values = self._visible
        rows = self._catalog.rows(f"SELECT count(*) FROM edges e WHERE {condition}", values)
        return int(rows[0][0])

    def count_entities(self) -> int:
        """Return the number of entities that are not merged into another."""
        rows = self._catalog.rows("SELECT count(DISTINCT id) FROM entities")
        return int(rows[0][0]) - len(self._kept)

    @cached_property
    def _kept(self) -> dict[str, str]:
        """The final target of each merged entity; circles and dead ends lead nowhere."""
        into = dict(
            self._catalog.rows(
                "SELECT m.id, m.merged_into FROM entities m WHERE m.merged_into IS NOT NULL"
                " AND EXISTS (SELECT 1 FROM entities k WHERE k.id = m.merged_into) ORDER BY m.id, m.path DESC"
            )
        )
        return final_entities(into)

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


def final_entities(into: Mapping[str, str]) -> dict[str, str]:
    """Return the final target of each merged entity; circles lead nowhere.

    Args:
        into: The target in each merged entity's file.
    """
    kept = {}
    for entity in into:
        last = entity
        for _ in range(MOST_MERGES):
            if last not in into:
                kept[entity] = last
                break
            last = into[last]
    return kept


def json_list(values: Collection[str]) -> str:
    """Return ids as a JSON list for queries."""
    return json.dumps(list(values), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class RelationFilter:
    """The relations to follow.

    Args:
        relations: Their names; empty for all.
        after: Only those first seen on this ISO day or later, and undated ones.
        before: Only those first seen on this ISO day or earlier, and undated ones.
    """

    relations: tuple[str, ...] = ()
    after: str | None = None
    before: str | None = None


class Edge(NamedTuple):
    """A relation between entities, with merges resolved.

    Args:
        since: ISO date, or None.
        block: Its block id in the source entity's file, or None.
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
    """The graph with merges and archivings applied; each method runs one query for any number of entities.

    Args:
        hidden: Ids of individually archived facts and relations, `entity:person--alex#^f7k2`.
        followed: The relations that walks follow; degrees count all.
    """

    def __init__(
        self, catalog: Catalog, *, hidden: Iterable[str] = (), followed: RelationFilter | None = None
    ) -> None:
        super().__init__(catalog, hidden=hidden)
        self._followed = followed or RelationFilter()

    def steps(self, entities: Collection[str]) -> list[tuple[str, str]]:
        """Return the pairs (entity, neighbour) of some entities, in either direction, without loops."""
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
        """Return the relations among some entities, by source entity and line."""
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
        """Return every followed relation, by source entity and line."""
        condition, values = self._condition
        return self._edges(self._catalog.rows(f"SELECT {_EDGE} FROM edges e WHERE {condition}", values))

    def degrees(self, entities: Collection[str] | None = None) -> dict[str, int]:
        """Return the number of relations of entities, in both directions; a loop counts once.

        Args:
            entities: The entities, or None for all; those without a relation may be missing.
        """
        condition, values = self._visible
        starts = ends = "edges e"
        if entities is not None:
            starts = "json_each(?) AS near JOIN edges e ON e.source = near.value"
            ends = "json_each(?) AS near JOIN edges e ON e.target = near.value"
            values = [self._asked(entities), *values]
        rows = self._catalog.rows(
            f"SELECT e.source, count(*) FROM {starts} WHERE {condition} GROUP BY e.source UNION ALL"
            f" SELECT e.target, count(*) FROM {ends} WHERE e.target <> e.source AND {condition}"
            " GROUP BY e.target",
            (*values, *values),
        )
        return self._counted(rows)

    def named(self, entities: Collection[str]) -> dict[str, tuple[str, str]]:
        """Return type and label of entities that have a file, by id."""
        rows = self._catalog.rows(
            "SELECT en.id, en.type, en.label FROM json_each(?) AS asked JOIN entities en ON en.id = asked.value"
            " ORDER BY en.id, en.path DESC",
            (json_list(entities),),
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def everybody(self) -> dict[str, tuple[str, str]]:
        """Return type and label of every unmerged entity, by id."""
        rows = self._catalog.rows("SELECT id, type, label FROM entities ORDER BY id, path DESC")
        return {row[0]: (row[1], row[2]) for row in rows if row[0] not in self._kept}

    def story(self, entity: str) -> EntityStory:
        """Return the content of an entity's file other than facts and relations."""
        rows = self._catalog.rows(
            "SELECT events, questions, days FROM entities WHERE id = ? ORDER BY path", (entity,)
        )
        if not rows:
            return EntityStory()
        events = tuple((date, text, tuple(sources)) for date, text, sources in json.loads(rows[0][0]))
        return EntityStory(events, tuple(json.loads(rows[0][1])), tuple(rows[0][2].split()), len(rows))

    def relations_in_use(self) -> tuple[str, ...]:
        """Return the distinct names of relations in files."""
        rows = self._catalog.rows("SELECT DISTINCT relation FROM edges ORDER BY relation")
        return tuple(row[0] for row in rows)

    def types_in_use(self) -> tuple[str, ...]:
        """Return the distinct types of entities."""
        rows = self._catalog.rows("SELECT DISTINCT type FROM entities ORDER BY type")
        return tuple(row[0] for row in rows)

    def is_named(self, entity: str) -> bool:
        """Return True if a relation leads to an entity, which need not have a file."""
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
        # By source entity and line; two files may claim one id.
        rows.sort(key=itemgetter(0, 6, 1, 2))
        return list(map(Edge._make, rows))

    def _as_shown(self, source: str, relation: str, target: str, *rest: Any) -> tuple[Any, ...]:
        start = self.whole(source)
        confidence, since, block, place = rest
        # A block id is relative to its file.
        kept = block if start == source else None
        return start, relation, self.whole(target), confidence, since, kept, place

    def _counted(self, rows: Iterable[Sequence[Any]]) -> dict[str, int]:
        counted: dict[str, int] = defaultdict(int)
        kept = self._kept
        for entity, count in rows:
            counted[kept.get(entity, entity)] += count
        for source, target in self._merged_ends():
            if source in counted:
                counted[source] -= source == target
        return counted

    def _merged_ends(self) -> list[tuple[str, str]]:
        """Return the ends of relations between entities now merged into one, which were counted at both."""
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


class EntityColumns(NamedTuple):
    """The entity table as columns of equal length.

    Args:
        aliases: JSON lists, see `words_listed`.
        degrees: Numbers of relations, in both directions.
        facts: Numbers of current facts.
        relations: Distinct names of relations, in either direction.
        days: ISO days in the files, newest first, separated by blanks.
    """

    ids: Sequence[str]
    types: Sequence[str]
    labels: Sequence[str]
    days: Sequence[str]
    aliases: Sequence[str]
    degrees: Sequence[int]
    facts: Sequence[int]
    relations: Sequence[tuple[str, ...]]


class EntityOutlines(MergedGraph):
    """Every entity with its numbers of relations and facts."""

    def columns(self, today: str) -> EntityColumns:
        """Return every unmerged entity, by id.

        Args:
            today: ISO day; a fact that ended before it is no longer current.
        """
        degrees, relations = self._all_degrees()
        facts = self._facts_that_hold(today)
        # Of two files that claim one id, the first by path counts.
        rows = self._catalog.rows("SELECT id, path, type, label, days, aliases FROM entities")
        rows.sort(reverse=True)
        first = [*{row[0]: row for row in rows if row[0] not in self._kept}.values()]
        first.reverse()
        ids, _, types, labels, days, aliases = zip(*first, strict=True) if first else [()] * 6
        return EntityColumns(
            ids,
            types,
            labels,
            days,
            aliases,
            [degrees.get(id_, 0) for id_ in ids],
            [facts.get(id_, 0) for id_ in ids],
            [relations.get(id_, ()) for id_ in ids],
        )

    def _all_degrees(self) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
        condition, values = self._visible
        rows = self._catalog.rows(
            f"SELECT e.source, e.target, e.relation FROM edges e WHERE {condition}", values
        )
        if self._kept:
            rows = [(self.whole(one), self.whole(other), name) for one, other, name in rows]
        # Sets of names as bits, since thousands of entities have the same ones.
        bits: dict[str, int] = defaultdict(lambda: 1 << len(bits))
        degrees = Counter(map(itemgetter(0), rows))
        degrees.update([other for one, other, _ in rows if one != other])
        sets = dict.fromkeys(degrees, 0)
        for one, other, name in rows:
            bit = bits[name]
            sets[one] |= bit
            sets[other] |= bit
        names = {
            held: tuple(sorted(n for n, bit in bits.items() if held & bit)) for held in set(sets.values())
        }
        return degrees, {entity: names[held] for entity, held in sets.items()}

    def _facts_that_hold(self, today: str) -> dict[str, int]:
        hidden, values = ("AND id NOT IN (SELECT value FROM json_each(?))", [json_list(self._hidden)])
        if not self._hidden:
            hidden, values = "", []
        rows = self._catalog.rows(
            "SELECT entity, count(*) FROM facts WHERE retired = 0 AND (until IS NULL"
            f" OR substr(until, 1, 10) >= substr(?, 1, length(substr(until, 1, 10)))) {hidden} GROUP BY entity",
            (today, *values),
        )
        return {row[0]: row[1] for row in rows}


def words_listed(listed: str) -> tuple[str, ...]:
    """Return the words of a JSON list, with a fast path for lists without escapes."""
    if listed == "[]":
        return ()
    return tuple(json.loads(listed) if "\\" in listed else listed[2:-2].split('", "'))


@dataclass(frozen=True)
class Neighbourhood:
    """The surroundings of an entity.

    Args:
        hops: Hops by entity id, nearest first.
        omitted: Number of entities in reach that were left out.
    """

    hops: dict[str, int]
    omitted: int


def neighbourhood_of(
    center: str,
    steps: Steps,
    *,
    depth: int,
    most: int,
    admit: Callable[[Collection[str]], Sequence[str]] = sorted,
    best: Callable[[Sequence[str], int], Sequence[str]] = lambda names, room: names[:room],
) -> Neighbourhood:
    """Collect the entities within some hops of an entity, nearest first.

    Args:
        center: The start.
        steps: Called once for each hop.
        depth: Maximum number of hops, 0 or more.
        most: Maximum number of entities, the centre included.
        admit: Returns the visible ones of some entities, in a fixed order; paths through others are not followed.
        best: Chooses a number of entities of one hop if there is no room for all.
    """
    hops = {center: 0}
    seen = {center}
    reached: Sequence[str] = [center]
    omitted = 0
    for hop in range(1, depth + 1):
        found = {far for _, far in steps(reached)} - seen
        seen |= found
        reached = admit(found)
        room = most - len(hops)
        kept = reached if len(reached) <= room else best(reached, room) if room else ()
        hops.update(dict.fromkeys(kept, hop))
        omitted += len(reached) - len(kept)
        if not reached:
            break
    return Neighbourhood(hops, omitted)


def shortest_path(start: str, goal: str, steps: Steps) -> list[str] | None:
    """Return the entities of a shortest path between two, in order; deterministic.

    Args:
        steps: Called once for each hop, from the end with fewer entities.

    Returns:
        None if there is no path; one entity if start and goal are the same.
    """
    if start == goal:
        return [start]
    came_by: tuple[dict[str, str], dict[str, str]] = ({start: start}, {goal: goal})
    reached = [[start], [goal]]
    while reached[0] and reached[1]:
        side = 0 if len(reached[0]) <= len(reached[1]) else 1
        own, other = came_by[side], came_by[1 - side]
        found: dict[str, str] = {}
        for near, far in steps(reached[side]):
            if far not in own and (far not in found or near < found[far]):
                found[far] = near
        own.update(found)
        # Until now the two sides were disjoint, so all common entities are equally far.
        if meeting := min((name for name in found if name in other), default=None):
            return [*_back(meeting, came_by[0])[::-1], *_back(meeting, came_by[1])[1:]]
        reached[side] = sorted(found)
    return None


def _back(name: str, came_by: dict[str, str]) -> list[str]:
    way = [name]
    while (before := came_by[way[-1]]) != way[-1]:
        way.append(before)
    return way


def with_center(
    view: GraphView,
    center: EntityRecord,
    facts: Sequence[FactRecord],
    story: EntityStory,
    absorbed: tuple[str, ...],
    today: str,
) -> GraphView:
    """Return a neighbourhood with the details of its centre.

    Args:
        facts: The centre's, in file order.
        story: The other content of its file.
        absorbed: Ids of the entities merged into it.
        today: ISO date that decides which facts hold.
    """
    return replace(
        view,
        facts=tuple(
            GraphFact(
                # A line without an id of its own is known by its position, unless several files describe the entity.
                fact.id if "#^" in fact.id or story.files > 1 else f"file:{center.path}#L{fact.line}",
                fact.text,
                fact.provenance,
                Validity(fact.since, fact.until, fact.superseded_by),
                not fact.holds(today),
                fact.line,
            )
            for fact in facts
        ),
        summary=center.summary,
        aliases=center.aliases,
        events=tuple(GraphEvent(*event) for event in story.events),
        questions=story.questions,
        absorbed=absorbed,
    )

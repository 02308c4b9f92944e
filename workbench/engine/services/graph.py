"""The knowledge graph: neighbourhoods, paths and the table of entities; facts, links and merges changed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise, repeat
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from workbench.engine import results
from workbench.engine.catalog.graph import (
    MOST_NODES,
    Edge,
    EntityOutlines,
    KnowledgeGraph,
    MergedGraph,
    RelationFilter,
    neighbourhood_of,
    shortest_path,
    with_center,
    words_listed,
)
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound
from workbench.engine.identifiers import ENTITY_TYPES, parse_memory_id, slug
from workbench.engine.markdown.graph import canonical_relation
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.entities import EntityFiles
from workbench.engine.memory.graph import Origin, read_vocabulary
from workbench.engine.memory.graph_changes import (
    plan_add,
    plan_add_fact,
    plan_link,
    plan_merge,
    plan_rename,
    plan_retire,
    plan_unlink,
    plan_unmerge,
)
from workbench.engine.process import garbage_collection_paused
from workbench.engine.reflection.submissions import plan_propose_merge
from workbench.engine.roles import Capability, require
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.routing import warnings_of_rejected
from workbench.engine.values import dataclass, of_columns

if TYPE_CHECKING:
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.history.plan import Plan
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.scores import Grade, Scores


_NAMED = 6


@dataclass(frozen=True)
class GraphFilter:
    """What is given of the graph.

    Args:
        followed: Which relations are followed; all where None.
        types: Entities of these types alone; all where empty.
        min_score: Entities of at least this score, 0-1.
    """

    followed: RelationFilter | None = None
    types: frozenset[str] = frozenset()
    min_score: float = 0.0


def checked_filter(
    context: WorkspaceContext,
    relations: Sequence[str],
    types: Sequence[str],
    min_score: float,
    after: str | None,
    before: str | None,
) -> GraphFilter:
    """Return a filter as the graph understands it.

    Args:
        relations: Names of relations; each brings its opposite along, which says the same from the other end.
        types: Types of entities.
        min_score: 0-1.
        after: A day, `2026-02-14`.
        before: A day.

    Raises:
        InvalidInput: One of them says nothing; the remedy names what would.
    """
    if not (math.isfinite(min_score) and 0 <= min_score <= 1):
        raise InvalidInput(
            f"A score is from 0 to 1; {min_score:g} is none.", remedy="Ask for --min-score 0.3."
        )
    first, last = _day(after, "after"), _day(before, "before")
    if first and last and first > last:
        raise InvalidInput(
            f"No day is after {first} and before {last}.", remedy="Exchange the two, or leave one out."
        )
    return GraphFilter(
        RelationFilter(_relations(context, relations), first, last), _types(context, types), min_score
    )


def _relations(context: WorkspaceContext, names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    vocabulary = read_vocabulary(context.files, context.settings)
    used: Collection[str] | None = None
    found: dict[str, None] = {}
    for name in names:
        canonical = canonical_relation(name)
        if vocabulary.find(canonical) is None:
            used = used if used is not None else KnowledgeGraph(context.catalog).relations_in_use()
            if canonical not in used:
                words = [word for kind in vocabulary.types for word in (kind.name, kind.inverse) if word]
                raise _unknown(name, "relation of this workspace", canonical, [*words, *used])
        found[canonical] = None
        if opposite := vocabulary.inverse_of(canonical):
            found[opposite] = None
    return tuple(found)


def _types(context: WorkspaceContext, names: Sequence[str]) -> frozenset[str]:
    wanted = {name.strip().casefold(): name for name in names}
    missing = wanted.keys() - set(ENTITY_TYPES)
    if missing:
        # People write types in their files in any case.
        written = {kind.casefold(): kind for kind in KnowledgeGraph(context.catalog).types_in_use()}
        for name in sorted(missing - written.keys()):
            raise _unknown(wanted[name], "type of entity", name, [*ENTITY_TYPES, *written.values()])
    return frozenset(wanted)


def _day(text: str | None, name: str) -> str | None:
    if text is None or not text.strip():
        return None
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


class Look:
    """One look at the graph: which entities may be given, and what is said of them."""

    def __init__(self, graph: KnowledgeGraph, scores: Scores, narrowed: GraphFilter | None = None) -> None:
        self._graph = graph
        self._scores = scores
        self._narrowed = narrowed or GraphFilter()

    def admit(self, entities: Collection[str]) -> list[str]:
        """Return those that the filters let pass, by id."""
        passed = sorted(entities)
        if self._narrowed.types:
            named = self._graph.named(passed)
            passed = [id_ for id_ in passed if _type_of(id_, named).casefold() in self._narrowed.types]
        if self._narrowed.min_score > 0:
            grades = self._scores.graded(passed)
            passed = [id_ for id_ in passed if _value(grades, id_) >= self._narrowed.min_score]
        return passed

    def best(self, entities: Sequence[str], room: int) -> list[str]:
        """Return so many of them that matter most: by score, of one score those with more relations."""
        grades = self._scores.graded(entities)
        value = {id_: _value(grades, id_) for id_ in entities}
        last = sorted(value.values(), reverse=True)[room - 1]
        above = [id_ for id_ in entities if value[id_] > last]
        tied = [id_ for id_ in entities if value[id_] == last]
        degrees = self._graph.degrees(tied)
        tied.sort(key=lambda id_: (-degrees.get(id_, 0), id_))
        return [*above, *tied][:room]

    def everything(self) -> results.graph.GraphView:
        """Return all entities and relations that the filters let pass."""
        edges = self._graph.edges()
        named = self._graph.everybody()
        hops = dict.fromkeys(named, 0)
        hops.update((edge.from_, 0) for edge in edges)
        hops.update((edge.to, 0) for edge in edges)
        passed = self.admit(hops)
        if len(passed) < len(hops):
            hops = dict.fromkeys(passed, 0)
            edges = [edge for edge in edges if edge.from_ in hops and edge.to in hops]
        return self._view(None, hops, edges, 0, named, self._graph.degrees())

    def view(
        self, center: str | None, hops: Mapping[str, int], edges: Sequence[Edge], *, omitted: int = 0
    ) -> results.graph.GraphView:
        """Return what is said of some entities and the relations among them."""
        named, degrees = self._graph.named(hops), self._graph.degrees(hops)
        return self._view(center, hops, edges, omitted, named, degrees)

    def _view(
        self,
        center: str | None,
        hops: Mapping[str, int],
        edges: Sequence[Edge],
        omitted: int,
        named: Mapping[str, tuple[str, str]],
        degrees: Mapping[str, int],
    ) -> results.graph.GraphView:
        grades = self._scores.graded(list(hops))
        nodes = []
        for id_, hop in hops.items():
            value, status, _ = grades.get(id_, _UNGRADED)
            known = named.get(id_)
            kind, label = known or _read_from(id_)
            nodes.append(
                results.graph.GraphNode(
                    id_, kind, label, value, hop, status, degrees.get(id_, 0), known is not None
                )
            )
        nodes.sort(key=lambda node: (node.hop, -node.score, node.id))
        shown = []
        for from_, relation, to, confidence, since, block, _ in edges:
            accessed = grades[from_][2] if from_ in grades else None
            id_ = f"{from_}#^{block}" if block else ""
            shown.append(results.graph.GraphEdge(from_, relation, to, confidence, since, accessed, id_))
        return results.graph.GraphView(center, tuple(nodes), tuple(shown), omitted=omitted)


def _value(grades: Mapping[str, Grade], entity: str) -> float:
    grade = grades.get(entity)
    return grade.value if grade else 0.0


def _type_of(entity: str, named: Mapping[str, tuple[str, str]]) -> str:
    return (named.get(entity) or _read_from(entity))[0]


def _read_from(entity: str) -> tuple[str, str]:
    """Return type and label of an entity without a file, as far as its id says."""
    kind, _, slug = entity.removeprefix("entity:").partition("--")
    return kind, slug.replace("-", " ")


_DAY = len("2026-02-02")


def _last_until(today: str, days: str) -> str:
    """Return the newest of some days, newest first, that is not still to come."""
    newest = days[:_DAY]
    return newest if newest <= today else next((day for day in days.split() if day <= today), "")


_UNGRADED = (0.0, "", "")


class _KnownTable(NamedTuple):
    """The table of entities as last asked for, valid until something it depends on changes."""

    basis: Hashable
    grades: Mapping[str, Grade]
    table: results.graph.EntityTable


def _entity_id(name: str) -> str | None:
    """Return the id that a text is, or None where it is a name."""
    try:
        memory_id = parse_memory_id(name)
    except InvalidInput:
        return None
    return str(memory_id.whole) if memory_id.kind == "entity" else None


class Graph:
    """What the graph holds, entities and relations as such; facts come in by remembering."""

    _known_table: _KnownTable | None = None

    def __init__(self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval) -> None:
        self._context = context
        self._retrieval = retrieval
        self._mutator = mutator

    def view(
        self,
        entity: str | None = None,
        *,
        depth: int | None = None,
        relations: Sequence[str] = (),
        types: Sequence[str] = (),
        min_score: float = 0.0,
        after: str | None = None,
        before: str | None = None,
    ) -> results.graph.GraphView:
        """Return an entity with its facts and what lies around it, or the whole graph.

        Where there are more than 500 entities, the nearest are given, of one hop those that matter most; `omitted`
        says how many are left out.

        Args:
            entity: An entity's id or name; None for the whole graph. An entity that has no file is found by its id
                where a relation leads to it.
            depth: Hops to follow; as many as the setting `graph.depth` says where None.
            relations: Follow these and their opposites alone; all where empty.
            types: Give entities of these types alone, the centre always; all where empty.
            min_score: Give entities of at least this score, 0-1, the centre always.
            after: Follow relations first seen on this day or later; undated ones always.
            before: Follow relations first seen on this day or earlier; undated ones always.

        Raises:
            NotFound: There is no such entity.
            InvalidInput: A filter names what there is not, or the depth is negative.
        """
        depth = self._context.settings.graph.depth if depth is None else depth
        if depth < 0:
            raise InvalidInput("A depth is 0 or more.", remedy="Ask for --depth 1.")
        self._context.refresh_for_reading()
        narrowed = checked_filter(self._context, relations, types, min_score, after, before)
        scores = self._context.scores()
        graph = self._shown(scores, narrowed.followed)
        look = Look(graph, scores, narrowed)
        if entity is None:
            return look.everything()
        center, record = self._center(entity, graph)
        found = neighbourhood_of(
            center, graph.steps, depth=depth, most=MOST_NODES, admit=look.admit, best=look.best
        )
        view = look.view(center, found.hops, graph.among(found.hops), omitted=found.omitted)
        return self._with_center(view, record, graph, scores)

    def path(self, a: str, b: str) -> results.graph.GraphView:
        """Return a shortest way between two entities, its nodes in walking order; without nodes where there is none.

        Raises:
            NotFound: One of them does not exist.
        """
        self._context.refresh_for_reading()
        scores = self._context.scores()
        graph = self._shown(scores)
        (start, record), (goal, _) = self._center(a, graph), self._center(b, graph)
        way = shortest_path(start, goal, graph.steps)
        if way is None:
            return results.graph.GraphView(start, (), ())
        joining: dict[frozenset[str], Edge] = {}
        for edge in graph.among(way):
            joining.setdefault(frozenset((edge.from_, edge.to)), edge)
        edges = [joining[frozenset(pair)] for pair in pairwise(way)]
        view = Look(graph, scores).view(start, {id_: hop for hop, id_ in enumerate(way)}, edges)
        return self._with_center(view, record, graph, scores)

    @garbage_collection_paused()
    def entities(self) -> results.graph.EntityTable:
        """Return every entity that is not merged into another, by id."""
        self._context.refresh_for_reading()
        scores = self._context.scores()
        today = self._context.now().date().isoformat()
        basis = (self._context.catalog.version(), scores.archived_parts(), today)
        with scores.known.lock:
            grades, known = scores.graded(), self._known_table
            if known is None or known.basis != basis or known.grades is not grades:
                table = self._table(basis[1], today, grades)
                known = self._known_table = _KnownTable(basis, grades, table)
            return known.table

    def count(self) -> int:
        """Return how many entities there are that are not merged into another; quick."""
        self._context.refresh_for_reading()
        return MergedGraph(self._context.catalog).count_entities()

    def _table(
        self, hidden: frozenset[str], today: str, grades: Mapping[str, Grade]
    ) -> results.graph.EntityTable:
        found = EntityOutlines(self._context.catalog, hidden=hidden)
        known = found.columns(today)
        graded = [*map(grades.get, known.ids, repeat(_UNGRADED))]
        scores, statuses, used = zip(*graded, strict=True) if graded else ((),) * 3
        seen = [max(_last_until(today, days), day) for days, day in zip(known.days, used, strict=True)]
        columns = (
            known.ids,
            # Many have the same type, and were seen on the same day.
            [*map(intern, known.types)],
            known.labels,
            scores,
            statuses,
            known.degrees,
            known.facts,
            [*map(intern, seen)],
            known.relations,
            [*map(words_listed, known.aliases)],
        )
        return results.graph.EntityTable(
            of_columns(results.graph.EntityRow, columns), found.count_relations()
        )

    def relations(self) -> tuple[str, ...]:
        """Return the relations that the workspace’s vocabulary knows, and those that its files use beside it."""
        self._context.refresh_for_reading()
        vocabulary = read_vocabulary(self._context.files, self._context.settings)
        names = [name for kind in vocabulary.types for name in (kind.name, kind.inverse) if name]
        used = self._shown(self._context.scores()).relations_in_use()
        return tuple(dict.fromkeys((*names, *used)))

    def _entity(self, name: str) -> EntityRecord:
        memory_id = self._retrieval.resolve(name)
        entity = self._context.lookups.entity(str(memory_id.whole))
        if entity is None:
            raise NotFound(f"“{name}” is no entity.", remedy="List them with: workbench graph")
        return entity

    def _center(self, name: str, graph: KnowledgeGraph) -> tuple[str, EntityRecord | None]:
        try:
            record = self._entity(name)
        except NotFound:
            named = _entity_id(name)
            if named is None or not graph.is_named(named):
                raise
            return graph.whole(named), None
        # What went into another by merging is looked at as that one.
        whole = graph.whole(record.id)
        return (whole, record) if whole == record.id else (whole, self._context.lookups.entity(whole))

    def _shown(self, scores: Scores, followed: RelationFilter | None = None) -> KnowledgeGraph:
        return KnowledgeGraph(self._context.catalog, hidden=scores.archived_parts(), followed=followed)

    def _with_center(
        self,
        view: results.graph.GraphView,
        record: EntityRecord | None,
        graph: KnowledgeGraph,
        scores: Scores,
    ) -> results.graph.GraphView:
        if record is None:
            return view
        lookups = self._context.visible(scores)
        facts, absorbed = lookups.facts_of(record.id), lookups.absorbed(record.id)
        today = self._context.now().date().isoformat()
        return with_center(view, record, facts, graph.story(record.id), absorbed, today)

    def merge(self, keep: str, absorb: str) -> results.memories.Changed:
        """Make everything known about one entity known about another; `unmerge` parts them again.

        Raises:
            NotFound: One of them does not exist.
        """
        return self._change_graph(
            lambda files: plan_merge(files, keep, absorb), f"merge {absorb} into {keep}"
        )

    def unmerge(self, entity: str) -> results.memories.Changed:
        """Separate an absorbed entity again.

        Args:
            entity: Its id, or its name, which now leads to the entity that absorbed it.

        Raises:
            NotFound: It does not exist.
            InvalidInput: It was not merged.
            Ambiguous: Several absorbed entities may be meant.
        """
        # Whom a name means is looked up before there is a plan.
        require(self._context.role, Capability.WRITE_MEMORY)
        absorbed = entity if "--" in entity else self._absorbed(entity)
        return self._change_graph(lambda files: plan_unmerge(files, absorbed), f"unmerge {absorbed}")

    def rename(self, entity: str, name: str) -> results.memories.Changed:
        """Give an entity another name; its id stays, and the old name becomes an alias.

        Raises:
            NotFound: There is no such entity.
        """
        return self._change_graph(lambda files: plan_rename(files, entity, name), f"rename {entity}")

    def link(self, from_: str, relation: str, to: str) -> results.memories.Changed:
        """Add a relation between two entities.

        Raises:
            NotFound: One of them does not exist.
            InvalidInput: The vocabulary does not know the relation.
        """
        origin = Origin(("source:user-explicit",))
        settings = self._context.settings
        return self._change_graph(
            lambda files: plan_link(files, settings, from_, relation, to, origin),
            f"link {from_} {relation} {to}",
        )

    def unlink(self, from_: str, relation: str, to: str) -> results.memories.Changed:
        """Remove a relation between two entities.

        Raises:
            NotFound: There is no such relation.
        """
        settings = self._context.settings
        return self._change_graph(
            lambda files: plan_unlink(files, settings, from_, relation, to), f"unlink {from_} {relation} {to}"
        )

    def add(self, type_: str, name: str) -> results.memories.Changed:
        """Make an entity.

        Args:
            type_: person, project, concept, tool, place or another word.
            name: What it is called.

        Raises:
            InvalidInput: The type or the name is empty, or an entity of that type has this name already.
        """
        return self._change_graph(lambda files: plan_add(files, type_, name), f"add {type_} {name}")

    def add_fact(self, entity: str, text: str) -> results.memories.Changed:
        """Add a fact to an entity.

        Raises:
            NotFound: There is no such entity.
            InvalidInput: The text cannot be kept.
        """
        origin = Origin(("source:user-explicit",))
        changed = self._change_graph(
            lambda files: plan_add_fact(files, entity, text, origin), f"add a fact to {entity}"
        )
        warnings = warnings_of_rejected(self._context, text)
        return replace(changed, warnings=(*changed.warnings, *warnings))

    def retire(
        self,
        id: str,
        *,
        expected: str | None = None,
        by: str | None = None,
    ) -> results.memories.Changed:
        """Say that a fact, or a relation, holds no longer: its line moves under “Superseded”, with today as its end.

        Args:
            id: `entity:type--slug#^block`; `file:memory/graph/entities/type--slug.md#L12` for a line without one.
            expected: The text that it had when somebody looked at it.
            by: The id of the fact or relation of the same entity that holds instead.

        Raises:
            NotFound: There is no such fact or relation, or it holds no longer already.
            InvalidInput: What shall hold instead is the same, of another entity, or holds no longer itself.
            Stale: It says something else than expected.
        """
        return self._change_graph(
            lambda files: plan_retire(files, id, expected=expected, by=by), f"retire {id}"
        )

    def propose_merge(self, keep: str, absorb: str, *, reason: str = "") -> results.memories.Changed:
        """Put the merge of two entities before a person: an item of the proposal that waits, or of a new one.

        Raises:
            NotFound: One of them does not exist.
            InvalidInput: They are the same, or this merge waits already.
            Refused: A person rejected this merge, and somebody else proposes it.
        """
        context = self._context
        person = context.role.may(Capability.DECIDE_REVIEW)
        by = self._mutator.attribution(f"propose to merge {absorb} into {keep}")
        return self._mutator.change(
            lambda view: plan_propose_merge(
                EntityFiles(Draft(view), context.lookups, context.now()),
                keep,
                absorb,
                context.now(),
                reason=reason,
                person=person,
            ),
            replace(by, approval="pending"),
        )

    def _absorbed(self, name: str) -> str:
        """Return the id of the absorbed entity that a name means: its own name, or that of what absorbed it."""
        self._context.refresh_for_reading()
        lookups = self._context.lookups
        keeper = self._entity(name).id
        absorbed = lookups.absorbed(keeper)
        called = [one for one in absorbed if (it := lookups.entity(one)) and slug(it.label) == slug(name)]
        meant = called or absorbed
        if len(meant) > 1:
            raise Ambiguous(f"“{name}” may be {', '.join(meant)}.", remedy="Name one of them.")
        return meant[0] if meant else keeper

    def _change_graph(
        self, planner: Callable[[EntityFiles], Plan[results.memories.Changed]], trigger: str
    ) -> results.memories.Changed:
        context = self._context
        return self._mutator.change(
            lambda view: planner(EntityFiles(Draft(view), context.lookups, context.now())), trigger
        )

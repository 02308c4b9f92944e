"""Queries on memory as of a commit: entities, relations, neighbourhoods and scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from workbench.engine import layout
from workbench.engine.catalog.graph import MOST_NODES, final_entities, neighbourhood_of, with_center
from workbench.engine.catalog.records import EdgeRecord, EntityMatch, EntityStory
from workbench.engine.clock import in_zone
from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.identifiers import EPISODE_ID, parse_memory_id
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.memory.core import core_path
from workbench.engine.memory.decay import (
    SCORED_STORES,
    DecayContext,
    DecayRecord,
    MemoryFacts,
    decay_record,
    is_archived,
    score_now,
)
from workbench.engine.memory.entities import entity_path
from workbench.engine.memory.scores import FactColumns, build_score_table, explained_scores
from workbench.engine.memory.stores import procedure_path, vault_path
from workbench.engine.past.files import MemoryOutline, is_entity
from workbench.engine.process import garbage_collection_paused
from workbench.engine.results.audit import PastScore
from workbench.engine.results.graph import GraphEdge, GraphNode, GraphView

if TYPE_CHECKING:
    from workbench.engine.catalog.file_rows import FileRows
    from workbench.engine.catalog.records import EntityRecord, FactRecord, MemoryRecord
    from workbench.engine.markdown.decay_scores import ScoreEntry
    from workbench.engine.past.files import PastFiles
    from workbench.engine.results.memories import Score


class PastMerges:
    """Entity merges as of a commit."""

    def __init__(self, files: PastFiles) -> None:
        self._files = files
        self._known: tuple[Mapping[str, str], dict[str, str], dict[str, list[str]]] | None = None

    def whole(self, entity: str) -> str:
        """Return the entity that an entity was merged into; itself if it was not."""
        return self.kept().get(entity, entity)

    def parts(self, entity: str) -> list[str]:
        """Return an entity and those merged into it, directly or indirectly."""
        self.kept()
        assert self._known is not None
        return [entity, *self._known[2].get(entity, ())]

    def kept(self) -> Mapping[str, str]:
        """The final target of each merged entity, by id."""
        differing = self._files.differing()
        if self._known is None or self._known[0] is not differing:
            kept = self._files.same.settled(self._kept)
            parts: dict[str, list[str]] = defaultdict(list)
            for entity in sorted(kept):
                parts[kept[entity]].append(entity)
            self._known = (differing, kept, parts)
        return self._known[1]

    def _kept(self) -> dict[str, str]:
        files = self._files
        into = dict(
            files.unchanged(
                "SELECT files.path, blob, id, merged_into FROM entities JOIN files ON files.number = file"
                " WHERE merged_into IS NOT NULL AND blob IS NOT NULL ORDER BY id, files.path DESC"
            )
        )
        for path, blob in files.differing().items():
            if is_entity(path):
                into.update(files.versions.merged(path, blob))
        return final_entities({entity: keeper for entity, keeper in into.items() if self._stood(keeper)})

    def _stood(self, entity: str) -> bool:
        try:
            return self._files.blob(entity_path(entity.removeprefix("entity:"), self._files)) is not None
        except (InvalidInput, OutsideWorkspace):
            return False


class PastLookups:
    """The catalog's queries about memories, entities and relations, answered for a commit.

    Args:
        hidden: Returns True for the id of an individually archived fact or relation.
    """

    def __init__(self, files: PastFiles, hidden: Callable[[str], bool]) -> None:
        self._files = files
        self._hidden = hidden
        self.merges = PastMerges(files)
        self._edges: dict[str, tuple[EdgeRecord, ...]] = {}
        self._linking_known: tuple[Mapping[str, str], Mapping[str, list[str]]] | None = None

    def memory(self, memory_id: str) -> MemoryRecord | None:
        """Return a memory; None if it did not exist. Free text and logs are not searched."""
        path = self.path_of(memory_id)
        rows = self._files.rows(path) if path else None
        return next((record for record in rows.memories if record.id == memory_id), None) if rows else None

    def path_of(self, memory_id: str) -> str | None:
        """Return the file that holds a memory, if any; None for free text."""
        try:
            wanted = parse_memory_id(memory_id)
            match wanted.kind:
                case "core":
                    return core_path(self._files)
                case "episode":
                    found = EPISODE_ID.match(memory_id)
                    return f"{layout.EPISODES}/{found.group(1)}.md" if found else None
                case "entity":
                    return entity_path(wanted.name, self._files)
                case "procedure":
                    return procedure_path(memory_id)
                case "vault":
                    return vault_path(memory_id)
        except (InvalidInput, OutsideWorkspace):
            pass
        return None

    def entity(self, entity: str) -> EntityRecord | None:
        """Return an entity, also one that was merged."""
        rows = self._rows_of(entity)
        return next((record for record in rows.entities if record.id == entity), None) if rows else None

    def story(self, entity: str) -> EntityStory:
        """Return the content of an entity's file other than names, facts and relations."""
        rows = self._rows_of(entity)
        return rows.stories.get(entity, EntityStory()) if rows else EntityStory()

    def facts_of(self, entity: str) -> tuple[FactRecord, ...]:
        """Return an entity's facts in file order, without individually archived ones."""
        rows = self._rows_of(entity)
        facts = rows.facts if rows else ()
        return tuple(fact for fact in facts if fact.entity == entity and not self._hidden(fact.id))

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the relations from or to an entity, without individually archived ones.

        Merged entities are replaced by their targets.
        """
        known = self._edges.get(entity)
        if known is None:
            parts = self.merges.parts(entity)
            edges: list[EdgeRecord] = []
            for part in parts:
                rows = self._rows_of(part)
                edges += [edge for edge in rows.edges if edge.from_ == part] if rows else []
                leading = self._files.same.settled(partial(self._leading_to, part))
                edges += (edge for edge in leading if edge.from_ not in parts)
            kept = (edge for edge in edges if not self._hidden(f"{edge.from_}#^{edge.block}"))
            known = self._edges[entity] = tuple(self._as_shown(kept))
        return known

    def _as_shown(self, edges: Iterable[EdgeRecord]) -> Iterator[EdgeRecord]:
        whole = self.merges.kept()
        for edge in edges:
            start, end = whole.get(edge.from_, edge.from_), whole.get(edge.to, edge.to)
            # A block id is relative to its file.
            block = edge.block if start == edge.from_ else None
            is_changed = (start, end) != (edge.from_, edge.to)
            yield replace(edge, from_=start, to=end, block=block) if is_changed else edge

    def steps(self, entities: Collection[str]) -> list[tuple[str, str]]:
        """Return the relations from and to some entities as directed pairs: (one of them, neighbour)."""
        return [
            (entity, edge.to if edge.from_ == entity else edge.from_)
            for entity in entities
            for edge in self.edges_of(entity)
        ]

    def among(self, entities: Collection[str]) -> list[EdgeRecord]:
        """Return the relations among some entities."""
        wanted = set(entities)
        return list(
            dict.fromkeys(
                edge
                for entity in entities
                for edge in self.edges_of(entity)
                if edge.from_ in wanted and edge.to in wanted
            )
        )

    def mentions(self, target: str) -> tuple[str, ...]:
        """Return the ids of memories that link to a memory or give it as their source."""
        return self._files.same.settled(lambda: self._mentions(target))

    def _mentions(self, target: str) -> tuple[str, ...]:
        rows = self._files.unchanged(
            "SELECT DISTINCT path, blob, source FROM links JOIN files ON number = file"
            " WHERE target = ? AND blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entities"
            " WHERE entities.file = files.number AND id = source AND merged_into IS NOT NULL)",
            target,
        )
        found = {source for (source,) in rows}
        needle = target.removeprefix("entity:").encode()
        for path, blob in self._readable().items():
            content = self._files.versions.content(blob)
            if needle in content or (b"%" in content and needle in unquote_to_bytes(content)):
                file = self._files.versions.rows(path, blob)
                found.update(
                    source
                    for source, named in file.links
                    if named == target and source not in file.merged_into
                )
        return tuple(sorted(found))

    def absorbed(self, entity: str) -> tuple[str, ...]:
        """Return the ids of entities whose files named this one as their merge target."""
        return self._files.same.settled(lambda: self._absorbed(entity))

    def _absorbed(self, entity: str) -> tuple[str, ...]:
        rows = self._files.unchanged(
            "SELECT files.path, blob, id FROM entities JOIN files ON files.number = file"
            " WHERE merged_into = ? AND blob IS NOT NULL",
            entity,
        )
        found = {merged for (merged,) in rows}
        for path in self._linking().get(entity.removeprefix("entity:"), ()):
            file = self._files.rows(path)
            if file is not None:
                found.update(merged for merged, into in file.merged_into.items() if into == entity)
        return tuple(sorted(found))

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        """Return the entity with this id; other names are resolved elsewhere."""
        found = self.entity(f"entity:{name.removeprefix('entity:')}")
        return (EntityMatch(found, "exact"),) if found and entity_type in (None, found.type) else ()

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        """Return the paths of files that link to a memory or give it as their source."""
        paths = {path for source in self.mentions(target) if (path := self.path_of(source))}
        return tuple(sorted(paths))

    def entities(self) -> list[tuple[str, str]]:
        """Return id and label of every unmerged entity, by id."""
        return self._files.same.settled(self._entities)

    def _entities(self) -> list[tuple[str, str]]:
        found = dict(
            self._files.unchanged(
                "SELECT files.path, blob, id, label FROM entities JOIN files ON files.number = file"
                " WHERE merged_into IS NULL AND blob IS NOT NULL"
            )
        )
        for path, blob in self._files.differing().items():
            named = self._files.versions.named(path, blob) if is_entity(path) else None
            if named is not None:
                found[named.id] = named.label
        return sorted(found.items())

    def _leading_to(self, entity: str) -> list[EdgeRecord]:
        rows = self._files.unchanged(
            "SELECT path, blob, source, relation, target, confidence, since, block FROM edges"
            " JOIN files ON number = file WHERE target = ? AND blob IS NOT NULL ORDER BY path, place",
            entity,
        )
        edges = [EdgeRecord(*row) for row in rows]
        for path in self._linking().get(entity.removeprefix("entity:"), ()):
            file = self._files.rows(path)
            edges += [edge for edge in file.edges if edge.to == entity] if file else []
        return edges

    def _linking(self) -> Mapping[str, list[str]]:
        """The entity files unknown to the catalog, by the names they link to."""
        differing = self._files.differing()
        known = self._linking_known
        if known is None or known[0] is not differing:
            found: dict[str, list[str]] = defaultdict(list)
            for path, blob in differing.items():
                if is_entity(path):
                    for name in self._files.versions.linked(blob):
                        found[name].append(path)
            known = self._linking_known = (differing, found)
        return known[1]

    def _readable(self) -> dict[str, str]:
        return {path: blob for path, blob in self._files.differing().items() if path.endswith(".md")}

    def _rows_of(self, entity: str) -> FileRows | None:
        path = self.path_of(entity)
        return self._files.rows(path) if path else None


class PastScores:
    """The relevance of memories as of a commit.

    Args:
        first_seen: When memories without a date of their own entered the history.
        context: The score calculation at the commit's time.
    """

    def __init__(self, files: PastFiles, first_seen: Mapping[str, datetime], context: DecayContext) -> None:
        self._files = files
        self._first_seen = first_seen
        self._context = context

    @cached_property
    def _entries(self) -> Mapping[str, ScoreEntry]:
        return DecayScores.parse(self._files.read(layout.DECAY_SCORES) or b"").entries

    def of(self, record: MemoryRecord) -> Score | None:
        """Return a memory's score; None for free text and logs."""
        composed = self._composed(record)
        return score_now(composed, self._context) if composed else None

    @garbage_collection_paused()
    def all(self) -> tuple[PastScore, ...]:
        """Return the scores of all memories, by file and line."""
        outlines = self._files.same.settled(self._outlines)
        _, ids, stores, titles, sources, moments, pinned, used = (
            zip(*outlines, strict=True) if outlines else [()] * 8
        )
        adopted = dict(self._first_seen)
        columns = FactColumns(
            ids=ids,
            stores=stores,
            sources=sources,
            created=moments,
            adopted=[adopted.get(memory_id) for memory_id in ids],
            pinned=pinned,
            titles=titles,
            tags=[()] * len(ids),
            entities=[()] * len(ids),
            used=used,
        )
        table = build_score_table(columns, self._entries, {}, self._context)
        return tuple(map(PastScore, ids, stores, titles, explained_scores(table, self._context)))

    def _outlines(self) -> list[MemoryOutline]:
        files = self._files
        found = files.outlines(SCORED_STORES)
        for path, blob in files.differing().items():
            if layout.store_of(path) not in SCORED_STORES:
                continue
            if is_entity(path):
                named = files.versions.named(path, blob)
                if named is not None:
                    label = (named.id, "semantic", named.label)
                    found.append(MemoryOutline(path, *label, "", named.moment, named.pinned, named.used))
                continue
            for record in files.versions.rows(path, blob).memories:
                titled = (record.id, record.store, record.title)
                known = (record.moment, record.pinned, record.used)
                found.append(MemoryOutline(path, *titled, record.source, *known))
        found.sort(key=itemgetter(0))
        return found

    def last_accessed(self, record: MemoryRecord) -> str | None:
        """Return the day of a memory's last access, `2026-02-02`; None for free text and logs."""
        composed = self._composed(record)
        if composed is None:
            return None
        return in_zone(composed.last_accessed, self._context.zone).date().isoformat()

    def _composed(self, record: MemoryRecord) -> DecayRecord | None:
        if record.store not in SCORED_STORES:
            return None
        facts = MemoryFacts(
            id=record.id,
            store=record.store,
            source=record.source,
            created=record.moment,
            adopted=self._first_seen.get(record.id),
            pinned=record.pinned,
            title=record.title,
            used=record.used,
        )
        return decay_record(facts, self._entries.get(record.id), None, self._context)

    def is_archived(self, memory_id: str) -> bool:
        """Return True if a memory, fact or relation was archived by decision."""
        return is_archived(self._entries.get(memory_id))


def neighbourhood(
    center: str, depth: int, lookups: PastLookups, scores: PastScores, today: str
) -> GraphView | None:
    """Return a neighbourhood; None if the entity did not exist and no relation named it.

    Args:
        center: The entity's id.
        depth: Hops to follow, 0 or more.
        today: ISO date of that time.
    """
    center = lookups.merges.whole(center)
    known = lookups.entity(center)
    if known is None and not lookups.edges_of(center):
        return None
    found = neighbourhood_of(center, lookups.steps, depth=depth, most=MOST_NODES)
    records = {entity: lookups.memory(entity) for entity in found.hops}
    accessed = {entity: scores.last_accessed(record) for entity, record in records.items() if record}
    view = GraphView(
        center=center,
        nodes=tuple(_node(entity, hop, lookups, scores) for entity, hop in found.hops.items()),
        edges=tuple(
            GraphEdge(
                edge.from_,
                edge.relation,
                edge.to,
                edge.confidence,
                edge.since,
                accessed.get(edge.from_),
                f"{edge.from_}#^{edge.block}" if edge.block else "",
            )
            for edge in lookups.among(found.hops)
        ),
        omitted=found.omitted,
    )
    if known is None:
        return view
    facts, story, absorbed = lookups.facts_of(center), lookups.story(center), lookups.absorbed(center)
    return with_center(view, known, facts, story, absorbed, today)


def _node(entity: str, hop: int, lookups: PastLookups, scores: PastScores) -> GraphNode:
    known, record = lookups.entity(entity), lookups.memory(entity)
    score = scores.of(record) if record else None
    kind, _, slug = entity.removeprefix("entity:").partition("--")
    return GraphNode(
        id=entity,
        type=known.type if known else kind,
        label=known.label if known else slug.replace("-", " "),
        score=score.value if score else 0.0,
        hop=hop,
        status=score.status if score else "",
        degree=len(lookups.edges_of(entity)),
        known=known is not None,
    )

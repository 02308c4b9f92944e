"""What stood where at a commit: from the catalog where files still read alike, read anew where they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from workbench.engine import layout
from workbench.engine.catalog.model import EntityMatch, EntityStory
from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.identifiers import EPISODE_ID, parse_memory_id
from workbench.engine.past.files import is_entity
from workbench.engine.past.merges import PastMerges
from workbench.engine.stores.core import core_path
from workbench.engine.stores.entities import entity_path
from workbench.engine.stores.procedural import procedure_path
from workbench.engine.stores.vault import vault_path

if TYPE_CHECKING:
    from workbench.engine.catalog.extract import FileRows
    from workbench.engine.catalog.model import EdgeRecord, EntityRecord, FactRecord, MemoryRecord
    from workbench.engine.past.files import PastFiles


class PastLookups:
    """The questions about memories, entities and relations that the catalog answers about now, of one commit.

    Args:
        files: Of the commit.
        hidden: Whether a fact or relation was archived by itself, by its id.
    """

    def __init__(self, files: PastFiles, hidden: Callable[[str], bool]) -> None:
        self._files = files
        self._hidden = hidden
        self.merges = PastMerges(files)
        self._edges: dict[str, tuple[EdgeRecord, ...]] = {}
        self._linking_known: tuple[Mapping[str, str], Mapping[str, list[str]]] | None = None

    def memory(self, memory_id: str) -> MemoryRecord | None:
        """Return a memory; None where it was not there. Free text and logs are not looked for."""
        path = self.path_of(memory_id)
        rows = self._files.rows(path) if path else None
        return next((record for record in rows.memories if record.id == memory_id), None) if rows else None

    def path_of(self, memory_id: str) -> str | None:
        """Return the file that a memory by this id stands in, if anywhere; None for free text."""
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
        """Return an entity; one merged into another too."""
        rows = self._rows_of(entity)
        return next((record for record in rows.entities if record.id == entity), None) if rows else None

    def story(self, entity: str) -> EntityStory:
        """Return what an entity's file tells beside names, facts and relations."""
        rows = self._rows_of(entity)
        return rows.stories.get(entity, EntityStory()) if rows else EntityStory()

    def facts_of(self, entity: str) -> tuple[FactRecord, ...]:
        """Return an entity's facts in the order of its file, without those that were archived by themselves."""
        rows = self._rows_of(entity)
        facts = rows.facts if rows else ()
        return tuple(fact for fact in facts if fact.entity == entity and not self._hidden(fact.id))

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the relations that start from or lead to an entity, without those archived by themselves.

        Entities that had gone into another by merging stand as that one.
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
            # A block id belongs to the file that it stands in.
            block = edge.block if start == edge.from_ else None
            is_changed = (start, end) != (edge.from_, edge.to)
            yield replace(edge, from_=start, to=end, block=block) if is_changed else edge

    def steps(self, entities: Collection[str]) -> list[tuple[str, str]]:
        """Return the steps that lead on from some entities, whatever the direction of a relation: (from, to)."""
        return [
            (entity, edge.to if edge.from_ == entity else edge.from_)
            for entity in entities
            for edge in self.edges_of(entity)
        ]

    def among(self, entities: Collection[str]) -> list[EdgeRecord]:
        """Return the relations that start from and lead to some entities."""
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
        found = {
            source
            for path, blob, source in self._files.same.mentions(target)
            if self._files.is_same(path, blob)
        }
        needle = target.removeprefix("entity:").encode()
        for path, blob in self._readable().items():
            content = self._files.versions.content(blob)
            if needle in content or (b"%" in content and needle in unquote_to_bytes(content)):
                rows = self._files.versions.rows(path, blob)
                found.update(
                    source
                    for source, named in rows.links
                    if named == target and source not in rows.merged_into
                )
        return tuple(sorted(found))

    def absorbed(self, entity: str) -> tuple[str, ...]:
        """Return the ids of entities whose files said that they were merged into this one."""
        return self._files.same.settled(lambda: self._absorbed(entity))

    def _absorbed(self, entity: str) -> tuple[str, ...]:
        found = {
            merged
            for path, blob, merged in self._files.same.merged_into(entity)
            if self._files.is_same(path, blob)
        }
        for path in self._linking().get(entity.removeprefix("entity:"), ()):
            rows = self._files.rows(path)
            if rows is not None:
                found.update(merged for merged, into in rows.merged_into.items() if into == entity)
        return tuple(sorted(found))

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        """Return the entity of this id; other names are looked up elsewhere."""
        found = self.entity(f"entity:{name.removeprefix('entity:')}")
        return (EntityMatch(found, "exact", 1.0),) if found and entity_type in (None, found.type) else ()

    def memories_in(self, path: str) -> list[MemoryRecord]:
        """Return the memories that stood in a file, in order."""
        rows = self._files.rows(path)
        return list(rows.memories) if rows else []

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        """Return the paths of files that link to a memory or give it as their source."""
        paths = {path for source in self.mentions(target) if (path := self.path_of(source))}
        return tuple(sorted(paths))

    def links_from(self, source: str) -> tuple[str, ...]:
        """Return the ids that a memory links to or comes from."""
        path = self.path_of(source)
        rows = self._files.rows(path) if path else None
        return tuple(sorted({named for memory, named in rows.links if memory == source})) if rows else ()

    def entities(self) -> list[tuple[str, str]]:
        """Return id and label of every entity that was not merged into another, by id."""
        return self._files.same.settled(self._entities)

    def _entities(self) -> list[tuple[str, str]]:
        found = {
            id_: label
            for path, blob, id_, label, merged in self._files.same.entities()
            if not merged and self._files.is_same(path, blob)
        }
        for path, blob in self._files.differing().items():
            named = self._files.versions.named(path, blob) if is_entity(path) else None
            if named is not None:
                found[named.id] = named.label
        return sorted(found.items())

    def _leading_to(self, entity: str) -> list[EdgeRecord]:
        edges = [
            edge for path, blob, edge in self._files.same.edges_to(entity) if self._files.is_same(path, blob)
        ]
        for path in self._linking().get(entity.removeprefix("entity:"), ()):
            rows = self._files.rows(path)
            edges += [edge for edge in rows.edges if edge.to == entity] if rows else []
        return edges

    def _linking(self) -> Mapping[str, list[str]]:
        """Return the entity files that the catalog does not know, by the names they link to."""
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

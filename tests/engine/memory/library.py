"""A workspace in memory: files by path, lookups that read them, and plans carried out on them."""

from __future__ import annotations

import builtins
import difflib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeVar

from workbench.engine.catalog.file_rows import FileRows, extract, links_in
from workbench.engine.catalog.records import EdgeRecord, EntityMatch, EntityRecord, MemoryRecord
from workbench.engine.catalog.terms import acronyms, name_key
from workbench.engine.history.plan import Plan
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.memory.draft import Draft, Relevance
from workbench.engine.memory.entities import EntityFiles
from workbench.engine.settings.sections import Settings
from workbench.engine.triggers.model import Routing

T = TypeVar("T")
NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
SETTINGS = Settings(timezone="UTC")
ZONE = SETTINGS.zone
ALEX = "memory/graph/entities/person--alex.md"


class Library:
    """Files in memory, which are also the answers to every lookup."""

    def __init__(self, contents: Mapping[str, bytes | str] | None = None) -> None:
        self.contents = {
            path: content.encode() if isinstance(content, str) else content
            for path, content in (contents or {}).items()
        }

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)

    def list(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        return sorted(path for path in self.contents if path.startswith(prefix))

    def text(self, path: str) -> str:
        return self.contents[path].decode()

    def entity_file(self, entity: str) -> EntityFile:
        path = f"memory/graph/entities/{entity}.md"
        return EntityFile.parse(self.contents[path], path)

    def apply(self, plan: Plan[T]) -> T:
        """Carry out a plan and return what it answers."""
        for change in plan.changes:
            assert self.contents.get(change.path) != change.content
            assert change.summary.strip()
            assert "\n" not in change.summary
            if change.content is None:
                del self.contents[change.path]
            else:
                self.contents[change.path] = change.content
        return plan.outcome

    def files(self, now: datetime = NOW) -> EntityFiles:
        return EntityFiles(Draft(self), self, now)

    def rows(self) -> dict[str, FileRows]:
        return {path: extract(path, content, ZONE) for path, content in self.contents.items()}

    def memory(self, memory_id: str) -> MemoryRecord | None:
        return next((m for rows in self.rows().values() for m in rows.memories if m.id == memory_id), None)

    def memories_in(self, path: str) -> builtins.list[MemoryRecord]:
        return [*self.rows()[path].memories]

    def mentions(self, target: str) -> tuple[str, ...]:
        links = [link for rows in self.rows().values() for link in rows.links]
        return tuple(dict.fromkeys(source for source, named in links if named == target))

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        return tuple(
            path
            for path, content in sorted(self.contents.items())
            if target in links_in(content.decode("utf-8", "replace"))
            or target in content.decode("utf-8", "replace")
        )

    def links_from(self, source: str) -> tuple[str, ...]:
        return tuple(named for rows in self.rows().values() for link, named in rows.links if link == source)

    def entity(self, entity: str) -> EntityRecord | None:
        return next((e for e in self._entities() if e.id == entity), None)

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        edges = [edge for rows in self.rows().values() for edge in rows.edges]
        return tuple(edge for edge in edges if entity in (edge.from_, edge.to))

    def absorbed(self, entity: str) -> tuple[str, ...]:
        merged = [pair for rows in self.rows().values() for pair in rows.merged_into.items()]
        return tuple(stub for stub, into in merged if f"entity:{into.removeprefix('entity:')}" == entity)

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        key = name_key(name)
        found: dict[str, tuple[float, EntityMatch]] = {}
        for how in ("exact", "alias", "acronym", "near"):
            for entity in self._entities():
                if entity_type not in (None, entity.type) or (how == "near" and found):
                    continue
                similarity = _similarity(how, key, entity)
                if similarity and entity.id not in found:
                    found[entity.id] = similarity, EntityMatch(entity, how)
        return tuple(match for _, match in sorted(found.values(), key=lambda scored: -scored[0]))

    def _entities(self) -> builtins.list[EntityRecord]:
        return [entity for _, rows in sorted(self.rows().items()) for entity in rows.entities]


def _similarity(how: str, key: str, entity: EntityRecord) -> float:
    names = (entity.label, *entity.aliases)
    if how == "exact":
        return 1.0 if name_key(entity.label) == key else 0.0
    if how == "alias":
        return 0.99 if key in [name_key(alias) for alias in entity.aliases] else 0.0
    if how == "acronym":
        return 0.9 if any(key in acronyms(name) for name in names) else 0.0
    # Nearer than the real lookup asks for, so that the stores' own judgement is what is tested.
    best = max(difflib.SequenceMatcher(None, key, name_key(name)).ratio() for name in names)
    return best if best > 0.6 else 0.0


class Even:
    """A standing lookup by which every memory stands alike, but for those that are given."""

    def __init__(self, given: Mapping[str, Relevance] | None = None) -> None:
        self.given = dict(given or {})

    def relevance(self, memory_id: str) -> Relevance:
        return self.given.get(memory_id, Relevance(0.8))


def routing(**choices: object) -> Routing:
    """Return a routing to the episodes, with some choices changed."""
    values: dict[str, object] = {
        "store": "episodic",
        "type": "event",
        "tags": ("memory",),
        "confidence": "high",
        "summary": "Something happened",
    }
    return Routing(**{**values, **choices})  # type: ignore[arg-type]  # tests name the fields they change


def entity(label: str, body: str = "", kind: str = "person") -> str:
    """Return an entity's file."""
    return f"# x\n\n<!-- Type: {kind} | Label: {label} | Created: 2026-01-15 -->\n\n{body}"

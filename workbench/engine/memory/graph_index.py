"""`graph/index.md` as a projection of the entity files: updates changed rows, or rebuilds the whole index.

Archived and merged entities have no row; a relation to a merged entity leads to the one it was merged into.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.history.plan import FileView
from workbench.engine.history.work_files import notes_among, stem_of
from workbench.engine.identifiers import entity_name
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.graph import (
    IndexedEdge,
    IndexedEntity,
    canonical_relation,
    render_graph_index,
    update_graph_index,
)
from workbench.engine.memory.draft import EntityLookup, StandingLookup
from workbench.engine.memory.entities import merged_into
from workbench.engine.memory.wording import NAME_CHARACTERS, clip

_MOST_MERGES = 16


def project_changes(
    changed: Iterable[str],
    content: bytes | None,
    view: FileView,
    lookup: EntityLookup,
    standing: StandingLookup,
    archived: Iterable[str] = (),
) -> dict[str, bytes]:
    """Return the index after some files changed.

    Args:
        changed: Paths of changed files; those other than entity files are ignored.
        content: The current index; None to build all of it.
        view: The files after the change.
        lookup: Finds the relations to a changed entity.
        standing: Looks up scores, archivings and last accesses.
        archived: Ids of entities archived or restored without a change of their files.

    Returns:
        `{GRAPH_INDEX: content}`, or nothing if the index does not change.
    """
    if content is None:
        return project_all(view, standing)
    prefix, names = layout.ENTITIES + "/", set[str]()
    for path in changed:
        if path.startswith(prefix) and path.endswith(".md"):
            names.add(entity_name(stem_of(path)))
    names.update(e.removeprefix("entity:") for e in archived if e.startswith("entity:") and "#" not in e)
    updated, others = content, set[str]()
    files = _ReadOnce(view)
    for name in sorted(names):
        before = updated
        updated = _with_entity(updated, name, files, standing)
        if _has_row(before, name) != _has_row(updated, name) or files.entity(name) is None:
            # It was added, removed, merged or archived, which changes the relations of others.
            others |= _leading_to(name, lookup)
    for name in sorted(others - names):
        updated = _with_entity(updated, name, files, standing)
    return {} if updated == content else {layout.GRAPH_INDEX: updated}


def project_all(view: FileView, standing: StandingLookup) -> dict[str, bytes]:
    """Return the index of all entity files."""
    rows: list[IndexedEntity] = []
    edges: list[IndexedEdge] = []
    # Each entity is read for its own row and for each relation to it.
    files, known = _ReadOnce(view), _AskedOnce(standing)
    for path in view.list(layout.ENTITIES):
        file = files.entity(entity_name(stem_of(path))) if path.endswith(".md") else None
        if file is None or file.path != path:
            # Of several files with the same id the first counts.
            continue
        row = _row(file, known)
        if row is not None:
            rows.append(row)
            edges.extend(_edges(file, files, known))
    return {layout.GRAPH_INDEX: render_graph_index(rows, edges)}


class _ReadOnce:
    """A view that reads each file once."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._contents: dict[str, bytes | None] = {}
        self._merged: dict[str, str | None] = {}

    def read(self, path: str) -> bytes | None:
        if path not in self._contents:
            try:
                self._contents[path] = self._view.read(path)
            except WorkbenchError:
                # An invalid name, a link, or a file without permission to read; `doctor` reports these.
                self._contents[path] = None
        return self._contents[path]

    @cached_property
    def _notes(self) -> dict[str, str]:
        return notes_among(tuple(self._view.list(layout.ENTITIES)))

    def entity(self, name: str, *, stub: bool = False) -> EntityFile | None:
        """Return an entity's file; None if there is none, or the name cannot be a file's.

        With `stub`, also None if it certainly was not merged.
        """
        try:
            path = layout.normalise(f"{layout.ENTITIES}/{name}.md")
        except WorkbenchError:
            # The text between the brackets may be anything.
            return None
        if self.read(path) is None:
            path = self._notes.get(name, path)
        content = self.read(path)
        # Most files are not stubs, and this is called for each end of each relation.
        if content is None or (stub and b"erged into" not in content):
            return None
        return EntityFile.parse(content, path)

    def merged(self, name: str) -> str | None:
        """Return the entity that an entity was merged into, or None."""
        known = self._merged.get(name, "")
        if known == "":
            file = self.entity(name, stub=True)
            known = self._merged[name] = merged_into(file) if file is not None else None
        return known


class _AskedOnce:
    """A cached `StandingLookup`."""

    def __init__(self, standing: StandingLookup) -> None:
        self.standing = cache(standing.standing)


def _with_entity(content: bytes, name: str, files: _ReadOnce, standing: StandingLookup) -> bytes:
    file = files.entity(name)
    row = None if file is None else _row(file, standing)
    edges = () if file is None or row is None else _edges(file, files, standing)
    return update_graph_index(content, name, row, edges)


def _has_row(content: bytes, name: str) -> bool:
    at = content.find(f"\n| {name} |".encode())
    return 0 <= at < content.find(b"\n## Edges")


def _leading_to(name: str, lookup: EntityLookup) -> set[str]:
    """Return the entities with relations to an entity, or to one merged into it."""
    found, waiting, seen = set[str](), [f"entity:{name}"], set[str]()
    while waiting:
        entity = waiting.pop()
        if entity not in seen:
            seen.add(entity)
            found.update(edge.from_.removeprefix("entity:") for edge in lookup.edges_of(entity))
            waiting.extend(lookup.absorbed(entity))
    return found


def _row(file: EntityFile, standing: StandingLookup) -> IndexedEntity | None:
    known = standing.standing(f"entity:{file.id}")
    if known.archived or merged_into(file) is not None:
        return None
    score = "1.00 (pinned)" if known.pinned or file.pinned else f"{known.score:.2f}"
    # Whatever was written there by hand: a projection never refuses.
    label = clip(file.label, NAME_CHARACTERS) or file.id
    return IndexedEntity(file.id, file.type, label, file.path.removeprefix(f"{layout.GRAPH}/"), score)


def _edges(file: EntityFile, files: _ReadOnce, standing: StandingLookup) -> list[IndexedEdge]:
    found: dict[tuple[str, str], IndexedEdge] = {}
    for relation in file.relations:
        name = canonical_relation(relation.name)
        block = f"entity:{file.id}#^{relation.block_id}"
        known = standing.standing(block) if relation.block_id else None
        if relation.provenance.until or (known is not None and known.archived):
            continue
        accessed = known.last_accessed if known is not None else None
        first = (relation.provenance.since or "")[:10]
        for written in relation.targets:
            target = _final(written, files)
            if target == file.id or standing.standing(f"entity:{target}").archived:
                continue
            edge = IndexedEdge(
                file.id,
                name,
                target,
                relation.provenance.confidence or "",
                first,
                accessed.isoformat() if accessed else first,
            )
            found.setdefault((name, target), edge)
    return list(found.values())


def _final(entity: str, files: _ReadOnce) -> str:
    """Follow merges from an entity to its present one."""
    for _ in range(_MOST_MERGES):
        target = files.merged(entity)
        if target is None:
            return entity
        entity = target
    return entity

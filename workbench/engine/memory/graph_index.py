"""`graph/index.md` as a projection of the entity files: the touched rows alone, or all of it anew.

Archived entities and those merged into another have no row; a relation that leads to a merged entity is shown
as leading to the one it was merged into.
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
    """Return the index as it is after some files changed.

    Args:
        changed: Paths of files that changed; those that are no entity files do not matter.
        content: The index as it stands; None where it has to be built as a whole.
        view: The files after the change.
        lookup: Finds the relations that lead to a changed entity.
        standing: Tells scores, archivings and last accesses.
        archived: Ids of entities that were archived or restored, whose files stay as they are.

    Returns:
        `{GRAPH_INDEX: content}`, or nothing where the index stays as it is.
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
            # It came, went, was merged or archived: the relations of others lead elsewhere by that.
            others |= _leading_to(name, lookup)
    for name in sorted(others - names):
        updated = _with_entity(updated, name, files, standing)
    return {} if updated == content else {layout.GRAPH_INDEX: updated}


def project_all(view: FileView, standing: StandingLookup) -> dict[str, bytes]:
    """Return the index of every entity file there is."""
    rows: list[IndexedEntity] = []
    edges: list[IndexedEdge] = []
    # Each entity is looked at once for itself, and once more for each relation that leads to it.
    files, known = _ReadOnce(view), _AskedOnce(standing)
    for path in view.list(layout.ENTITIES):
        file = files.entity(entity_name(stem_of(path))) if path.endswith(".md") else None
        if file is None or file.path != path:
            # Of several files of one id the first counts.
            continue
        row = _row(file, known)
        if row is not None:
            rows.append(row)
            edges.extend(_edges(file, files, known))
    return {layout.GRAPH_INDEX: render_graph_index(rows, edges)}


class _ReadOnce:
    """Files of a view, each read once."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._contents: dict[str, bytes | None] = {}
        self._merged: dict[str, str | None] = {}

    def read(self, path: str) -> bytes | None:
        if path not in self._contents:
            try:
                self._contents[path] = self._view.read(path)
            except WorkbenchError:
                # A name that no path may have, a link, a file without the right to read it: `doctor` says so.
                self._contents[path] = None
        return self._contents[path]

    @cached_property
    def _notes(self) -> dict[str, str]:
        return notes_among(tuple(self._view.list(layout.ENTITIES)))

    def entity(self, name: str, *, stub: bool = False) -> EntityFile | None:
        """Return an entity's file; None where there is none, or where no file can have this name.

        With `stub`, None as well where it surely was merged into no other.
        """
        try:
            path = layout.normalise(f"{layout.ENTITIES}/{name}.md")
        except WorkbenchError:
            # Whoever wrote the file may have written anything between the brackets.
            return None
        if self.read(path) is None:
            path = self._notes.get(name, path)
        content = self.read(path)
        # Most files are no stubs, and this is asked for each end of each relation.
        if content is None or (stub and b"erged into" not in content):
            return None
        return EntityFile.parse(content, path)

    def merged(self, name: str) -> str | None:
        """Return what an entity was merged into, or None."""
        known = self._merged.get(name, "")
        if known == "":
            file = self.entity(name, stub=True)
            known = self._merged[name] = merged_into(file) if file is not None else None
        return known


class _AskedOnce:
    """Standings, each asked for once."""

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
    """Return the entities whose relations lead to one, or to one that was merged into it."""
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
    # Whatever somebody wrote there by hand: a projection refuses nothing.
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
    """Follow merges from an entity to the one that stands for it now."""
    for _ in range(_MOST_MERGES):
        target = files.merged(entity)
        if target is None:
            return entity
        entity = target
    return entity

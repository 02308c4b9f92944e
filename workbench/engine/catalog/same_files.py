"""What the catalog knows of files whose content is a given one, whether that is what stands in them now or not.

A question about the past can be answered from the catalog as far as files still read as they did then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.merged_graph import json_list
from workbench.engine.catalog.model import EdgeRecord

T = TypeVar("T")

# While a workspace is read for the first time the catalog changes all the time, and no answer is whole yet.
_MOST_ATTEMPTS = 5


@dataclass(frozen=True)
class KnownFiles:
    """The files that the catalog has read.

    Args:
        version: Of the catalog; another one may know other files.
        blobs: Git's name of the content (20 bytes) by path.
        sizes: Bytes by path.
    """

    version: Hashable
    blobs: Mapping[str, bytes]
    sizes: Mapping[str, int]


class Outline(NamedTuple):
    """A memory without its text, with the content (git's name of it, 20 bytes) of the file that it was read from."""

    path: str
    blob: bytes
    id: str
    store: str
    title: str
    source: str
    moment: datetime | None
    pinned: bool


class SameFiles:
    """Questions whose answers say which file, of which content, each row was read from.

    Args:
        catalog: The catalog to ask.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: KnownFiles | None = None

    def known(self) -> KnownFiles:
        """Return the files that the catalog has read as a whole."""
        version = self._catalog.version()
        if self._known is None or self._known.version != version:
            rows = self._catalog.rows("SELECT path, blob, size FROM files WHERE blob IS NOT NULL")
            blobs = {path: blob for path, blob, _ in rows}
            self._known = KnownFiles(version, blobs, {path: size for path, _, size in rows})
        return self._known

    def settled(self, ask: Callable[[], T]) -> T:
        """Return what several questions come to, asked again where the catalog changed between them.

        Otherwise a file that changes meanwhile would be known to none of them.
        """
        for _ in range(_MOST_ATTEMPTS):
            version = self._catalog.version()
            answer = ask()
            if self._catalog.version() == version:
                break
        return answer

    def outlines(self, stores: Collection[str]) -> list[Outline]:
        """Return every memory of some stores, those of one file in order."""
        rows = self._catalog.rows(
            # As for all columns: faster through the table than through an index.
            "SELECT m.path, blob, m.id, store, title, source, moment, pinned FROM memories m NOT INDEXED"
            " JOIN files f ON f.number = m.file WHERE blob IS NOT NULL"
            " AND store IN (SELECT value FROM json_each(?)) ORDER BY m.path, start_line, m.number",
            (json_list(sorted(stores)),),
        )
        moments = {text: datetime.fromisoformat(text) if text else None for text in {row[6] for row in rows}}
        return [Outline._make((*row[:6], moments[row[6]], row[7] == 1)) for row in rows]

    def edges_to(self, entity: str) -> list[tuple[str, bytes, EdgeRecord]]:
        """Return path, content and relation for each relation that leads to an entity."""
        rows = self._catalog.rows(
            "SELECT path, blob, source, relation, target, confidence, since, block FROM edges"
            " JOIN files ON number = file WHERE target = ? AND blob IS NOT NULL ORDER BY path, place",
            (entity,),
        )
        return [(row[0], row[1], EdgeRecord(*row[2:])) for row in rows]

    def mentions(self, target: str) -> list[tuple[str, bytes, str]]:
        """Return path, content and the naming memory for each that names a memory, but for merged entities."""
        rows = self._catalog.rows(
            "SELECT DISTINCT path, blob, source FROM links JOIN files ON number = file"
            " WHERE target = ? AND blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entities"
            " WHERE entities.file = files.number AND id = source AND merged_into IS NOT NULL)",
            (target,),
        )
        return [(path, blob, source) for path, blob, source in rows]

    def merged_into(self, entity: str) -> list[tuple[str, bytes, str]]:
        """Return path, content and id of each entity that was merged into this one."""
        rows = self._catalog.rows(
            "SELECT files.path, blob, id FROM entities JOIN files ON files.number = file"
            " WHERE merged_into = ? AND blob IS NOT NULL",
            (entity,),
        )
        return [(path, blob, id_) for path, blob, id_ in rows]

    def merges(self) -> list[tuple[str, bytes, str, str]]:
        """Return path, content, id and keeper of each entity that was merged into another."""
        rows = self._catalog.rows(
            "SELECT files.path, blob, id, merged_into FROM entities JOIN files ON files.number = file"
            " WHERE merged_into IS NOT NULL AND blob IS NOT NULL ORDER BY id, files.path DESC"
        )
        return [(path, blob, id_, keeper) for path, blob, id_, keeper in rows]

    def entities(self) -> list[tuple[str, bytes, str, str, bool]]:
        """Return path, content, id and label of every entity, and whether it was merged into another."""
        rows = self._catalog.rows(
            "SELECT files.path, blob, id, label, merged_into IS NOT NULL FROM entities"
            " JOIN files ON files.number = file WHERE blob IS NOT NULL"
        )
        return [(path, blob, id_, label, bool(merged)) for path, blob, id_, label, merged in rows]

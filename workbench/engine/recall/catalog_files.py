"""The workspace's own files as the index reads them: out of the catalog, parsed already."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.model import FactRecord, MemoryRecord
from workbench.engine.recall.file_source import FileRecords

_MOST_AT_ONCE = 200
_MOST_LOOKS = 5
_Row = tuple[Any, ...]


class CatalogFiles:
    """Files of the workspace as the catalog last saw them; bring the catalog up to date first.

    Args:
        catalog: The catalog to ask.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by path."""
        return dict(self._catalog.rows("SELECT path, digest FROM files WHERE digest <> x''"))

    def read(self, paths: Sequence[str]) -> Iterator[FileRecords]:
        """Take these files apart; those that the catalog does not know are left out."""
        for start in range(0, len(paths), _MOST_AT_ONCE):
            yield from self._read(paths[start : start + _MOST_AT_ONCE])

    def _read(self, paths: Sequence[str]) -> list[FileRecords]:
        """Ask for the files again where one changed between the questions."""
        known = self._known(paths)
        for _ in range(_MOST_LOOKS):
            memories = self._parts(
                "SELECT file, id, store, path, start_line, end_line, title, text, type, confidence, source, tags,"
                " moment, pinned, text_line FROM memories WHERE file IN (SELECT value FROM json_each(?))"
                " ORDER BY file, start_line, number",
                known,
            )
            facts = self._parts(
                "SELECT file, id, entity, text, line, since, until, superseded_by, provenance FROM facts"
                " WHERE file IN (SELECT value FROM json_each(?)) AND retired ORDER BY file, line",
                known,
            )
            meanwhile = self._known(paths)
            if meanwhile == known:
                break
            known = meanwhile
        return [
            FileRecords(
                path,
                digest,
                tuple(map(_memory, memories.get(number, ()))),
                tuple(map(_fact, facts.get(number, ()))) if number in memories else (),
            )
            for path, (number, digest) in known.items()
        ]

    def _known(self, paths: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        rows = self._catalog.rows(
            "SELECT path, number, digest FROM files WHERE path IN (SELECT value FROM json_each(?))"
            " AND digest <> x''",
            (json.dumps(paths, ensure_ascii=False),),
        )
        found = {path: (number, digest) for path, number, digest in rows}
        return {path: found[path] for path in dict.fromkeys(paths) if path in found}

    def _parts(self, question: str, known: Mapping[str, tuple[int, bytes]]) -> dict[int, list[_Row]]:
        """Return rows by the number of their file."""
        parts: dict[int, list[_Row]] = {}
        for row in self._catalog.rows(question, (json.dumps([number for number, _ in known.values()]),)):
            parts.setdefault(row[0], []).append(row[1:])
        return parts


def _memory(row: _Row) -> MemoryRecord:
    place = dict(zip(("id", "store", "path", "start_line", "end_line", "title", "text"), row, strict=False))
    known = dict(zip(("type", "confidence", "source"), row[7:10], strict=True))
    return MemoryRecord(
        **place,
        **known,
        tags=tuple(json.loads(row[10])) if row[10] != "[]" else (),
        moment=datetime.fromisoformat(row[11]) if row[11] else None,
        pinned=bool(row[12]),
        text_line=row[13],
    )


def _fact(row: _Row) -> FactRecord:
    names = ("id", "entity", "text", "line", "since", "until", "superseded_by")
    known = dict(zip(names, row, strict=False))
    return FactRecord(**known, provenance=tuple(json.loads(row[7])), retired=True)

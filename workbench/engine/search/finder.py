"""Search over one workspace: its index, its embedder, and the fallback when that fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.records import FactRecord, MemoryRecord
from workbench.engine.catalog.tables import SCHEMA_VERSION
from workbench.engine.clock import Clock
from workbench.engine.derived_files import Fallback, nowhere_else
from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.search.chunks import ChunkSize, FileRecords, FileSource
from workbench.engine.search.index.files import IndexLost, IndexShape
from workbench.engine.search.index.index import Index
from workbench.engine.search.updater import IndexUpdater, Progress, no_progress

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray
    from workbench.engine.providers.embedding.fallback import Embedders, EmbedderStatus
    from workbench.engine.results.recall import IndexStatus
    from workbench.engine.search.chunks import ChunkSource
    from workbench.engine.settings.sections import Settings


_MOST_AT_ONCE = 200
_MOST_LOOKS = 5
_Row = tuple[Any, ...]
# Seconds that a question waits for changes to be indexed.
PATIENCE = 1.5
_MOST_ATTEMPTS = 4
# Others read along there and must not learn the names of a person's private files.
_SHARED = frozenset({"group", "channel", "subagent"})


class CatalogFiles:
    """The workspace's files as the catalog last saw them; refresh the catalog first.

    Args:
        catalog: The catalog to ask.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by path."""
        return dict(self._catalog.rows("SELECT path, digest FROM files WHERE digest <> x''"))

    def read(self, paths: Sequence[str]) -> Iterator[FileRecords]:
        """Read and split these files, skipping those the catalog does not know."""
        for start in range(0, len(paths), _MOST_AT_ONCE):
            yield from self._read(paths[start : start + _MOST_AT_ONCE])

    def _read(self, paths: Sequence[str]) -> list[FileRecords]:
        """Query again if a file changed between the queries."""
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
        """Return rows by file number."""
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


T = TypeVar("T")

Asking = Callable[["ChunkSource", "Callable[[str], FloatArray] | None"], T]


@dataclass(frozen=True)
class SearchBackend:
    """How a question was answered.

    Args:
        provider: What made the vectors, or `none`.
        model: Name of its model, or None.
        fallback: Why this is not the configured provider, or None.
        stale: What the answer may miss, as a sentence, or None.
    """

    provider: str
    model: str | None
    fallback: str | None
    stale: str | None


class Finder:
    """Answers questions about the memories of one workspace; thread-safe.

    Args:
        catalog: The catalog of its files, which the caller keeps up to date.
        settings: Of the workspace.
        folder: Folder of the index, created on demand.
        clock: Source of the time.
        sources: Further files to search.
        version: Returns the version of everything searched; the catalog's by default.
        unread: Returns the paths that the catalog has not read yet.
        elsewhere: Folder for the index if its own fails.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: Settings,
        folder: Path,
        clock: Clock,
        sources: Sequence[FileSource] = (),
        version: Callable[[], Hashable] | None = None,
        unread: Callable[[], Collection[str]] = lambda: (),
        elsewhere: Fallback = nowhere_else,
    ) -> None:
        self._catalog = catalog
        self._settings = settings
        self._folder = folder
        self._elsewhere = elsewhere
        self._clock = clock
        self._sources = (CatalogFiles(catalog), *sources)
        self._version = version or catalog.version
        self._unread = unread
        self._lock = threading.RLock()
        self._keepers: dict[str, IndexUpdater] = {}
        self._embedders: Embedders | None = None

    def ask(self, question: Asking[T], *, patience: float = PATIENCE) -> tuple[T, SearchBackend]:
        """Query the index, after updating it as far as there is time.

        Args:
            question: Queries one consistent state of the index, given the function that embeds a question, or
                None. Called again with another embedder if one fails.
            patience: Seconds to wait for changes to be indexed.

        Raises:
            StorageError: The index cannot be kept, or is deleted again and again.
        """
        for attempt in range(_MOST_ATTEMPTS):
            standing = self._choose().turn()
            embedder = standing.embedder
            keeper = self._keeper(embedder)
            stale = keeper.freshen(patience)
            if embedder is not None and self._steps_aside(keeper, embedder):
                continue
            try:
                with keeper.index.source() as snapshot:
                    fits = embedder is not None and snapshot.state.embedder == embedder.fingerprint
                    answer = question(snapshot, embedder.embed_query if embedder and fits else None)
            except IndexLost:
                if attempt == _MOST_ATTEMPTS - 1:
                    raise
                continue
            except StorageError as error:
                if attempt == _MOST_ATTEMPTS - 1 or not keeper.index.goes_on_elsewhere(error):
                    raise
                continue
            except ProviderError as error:
                if embedder is None:
                    raise
                self._choose().failed(embedder, error)
                continue
            if embedder is None or not fits:
                return answer, SearchBackend("none", None, standing.fallback, stale)
            self._choose().worked(embedder)
            return answer, SearchBackend(embedder.provider, embedder.model, standing.fallback, stale)
        raise AssertionError("Every attempt returns or raises.")

    def sync(
        self,
        *,
        force: bool = False,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Update the index in this thread, vectors included, however long that takes.

        Args:
            force: Rebuild beside the present index, which answers meanwhile, and retry what failed.
            progress: Called with units done and units in total.
            cancelled: Polled; work done so far is kept.

        Raises:
            StorageError: The index cannot be kept.
        """
        if force:
            self._choose().try_again()
        embedder = self._standing().embedder
        keeper = self._keeper(embedder)
        keeper.sync(force=force, progress=progress, cancelled=cancelled)
        if embedder is not None and self._steps_aside(keeper, embedder):
            self._current().sync(progress=progress, cancelled=cancelled)

    def take_in(self, *, cancelled: Callable[[], bool]) -> None:
        """Index what was read so far, though more remains to be read.

        Args:
            cancelled: Polled; work done so far is kept.

        Raises:
            StorageError: The index cannot be kept.
        """
        self._current().take_in(cancelled=cancelled)

    def freshen(self) -> None:
        """Update the index in the background."""
        self._current().freshen(0)

    def status(self) -> IndexStatus:
        """Return what the index holds and how fresh it is, without reading files into it."""
        from workbench.engine.results.recall import IndexStatus

        standing = self._standing()
        embedder = standing.embedder
        keeper = self._keeper(embedder)
        behind = sum(keeper.files_behind())
        state = keeper.state()
        return IndexStatus(
            files=state.files,
            chunks=state.chunks,
            entities=0,
            provider=embedder.provider if embedder else "none",
            model=embedder.model if embedder else None,
            dimensions=state.dimensions,
            dirty=bool(behind),
            last_sync=state.last_sync,
            size_bytes=state.size_bytes,
            fallback=standing.fallback or state.failure,
            pending=behind + state.pending_vectors,
            rebuilding=state.rebuilding,
            place=str(self._folder),
        )

    def try_local_model(self) -> None:
        """Run a local embedding model once, whatever its record; `status` reports the outcome."""
        embedders = self._choose()
        embedder = embedders.primary
        if embedder is None or embedder.provider != "local":
            return
        embedders.try_again()
        try:
            embedder.embed_query("Hello")
        except ProviderError as error:
            embedders.failed(embedder, error)

    def close(self) -> None:
        """Stop work in progress and close index and embedder."""
        with self._lock:
            keepers, embedders = list(self._keepers.values()), self._embedders
            self._keepers.clear()
            self._embedders = None
        for keeper in keepers:
            keeper.close()
        if embedders is not None:
            embedders.close()

    def destroy(self) -> None:
        """Delete the index, the vector cache, and their SQLite side files."""
        self._current().destroy()

    def _current(self) -> IndexUpdater:
        return self._keeper(self._standing().embedder)

    def _choose(self) -> Embedders:
        with self._lock:
            if self._embedders is None:
                from workbench.engine.providers.selection import choose_embedders

                self._embedders = choose_embedders(self._settings)
            return self._embedders

    def _standing(self) -> EmbedderStatus:
        """Return the embedder in use, and why it is not the configured one."""
        return self._choose().standing()

    def _steps_aside(self, keeper: IndexUpdater, embedder: Embedder) -> bool:
        """Note that embedding failed; return True if another embedder is now in use."""
        if keeper.embedding_failure is None:
            return False
        self._choose().failed(embedder, ProviderError(keeper.embedding_failure))
        return self._standing().embedder is not embedder

    def _keeper(self, embedder: Embedder | None) -> IndexUpdater:
        """Return the updater of the index whose vectors this embedder makes."""
        fingerprint = embedder.fingerprint if embedder else ""
        with self._lock:
            keeper = self._keepers.get(fingerprint)
            if keeper is None:
                search = self._settings.search
                size = ChunkSize(search.chunk_tokens, min(search.chunk_overlap, search.chunk_tokens // 2))
                index = Index(
                    self._folder,
                    shape=IndexShape(size, fingerprint, f"{SCHEMA_VERSION} {self._catalog.zone.key}"),
                    embedder=embedder,
                    cache_entries=search.cache_entries,
                    clock=self._clock,
                    elsewhere=self._elsewhere,
                )
                keeper = self._keepers[fingerprint] = IndexUpdater(
                    index, self._sources, self._version, self._unread
                )
            return keeper


def are_citations_given(choice: str, context: str = "direct") -> bool:
    """Return whether results carry citations.

    Args:
        choice: `on`, `off`, or `auto` (on, except for sub-agents and where others read along).
        context: Where the answer goes: `direct`, `group`, `channel` or `subagent`.
    """
    return choice == "on" or (choice == "auto" and context not in _SHARED)

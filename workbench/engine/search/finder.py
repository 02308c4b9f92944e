"""Search over one workspace: its index, its embedder, and the fallback when that fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.lookups import FACT_COLUMNS, MEMORY_COLUMNS, fact_of, memory_of
from workbench.engine.catalog.records import FactRecord, MemoryRecord
from workbench.engine.catalog.tables import SCHEMA_VERSION
from workbench.engine.clock import Clock
from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.file_access import Fallback, nowhere_else
from workbench.engine.providers.selection import choose_embedders
from workbench.engine.results.recall import Found, IndexStatus, WhyNot
from workbench.engine.search.chunks import ChunkSize, FileRecords, FileSource
from workbench.engine.search.contract import IndexSource, SearchIndex
from workbench.engine.search.index.files import IndexLost, IndexShape
from workbench.engine.search.index.index import Index
from workbench.engine.search.ranking.question import LiteralMatch, literal_matches
from workbench.engine.search.ranking.search import Search, SearchQuery
from workbench.engine.search.updater import IndexUpdater, Progress, no_progress

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray
    from workbench.engine.providers.selection import Embedders, EmbedderStatus
    from workbench.engine.settings.sections import Settings


_MOST_AT_ONCE = 200
_MOST_LOOKS = 5
_Row = tuple[Any, ...]
T = TypeVar("T")
# Seconds that a question waits for changes to be indexed.
PATIENCE = 1.5
_MOST_ATTEMPTS = 4


class ServerIndex(Protocol):
    """A database that keeps the index of this workspace."""

    @property
    def place(self) -> str:
        """Return where it is, for people."""
        ...

    @property
    def is_away(self) -> bool:
        """Return whether it failed and is not to be asked yet."""
        ...

    @property
    def failure(self) -> str | None:
        """Return why it failed, as a sentence."""
        ...

    def index(self, shape: IndexShape, embedder: Embedder | None) -> SearchIndex:
        """Return the index of a shape."""
        ...


class CatalogFiles:
    """The workspace's files as the catalog last saw them; refresh the catalog first."""

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
                f"SELECT m.file, {MEMORY_COLUMNS} FROM memories m WHERE m.file IN (SELECT value FROM json_each(?))"
                " ORDER BY m.file, m.start_line, m.number",
                known,
            )
            facts = self._parts(
                f"SELECT file, {FACT_COLUMNS} FROM facts"
                " WHERE file IN (SELECT value FROM json_each(?)) AND (retired OR until IS NOT NULL)"
                " ORDER BY file, line",
                known,
            )
            meanwhile = self._known(paths)
            if meanwhile == known:
                break
            known = meanwhile
        return [
            _records(path, digest, memories.get(number, ()), facts.get(number, ()))
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


def _records(path: str, digest: bytes, memories: Sequence[_Row], facts: Sequence[_Row]) -> FileRecords:
    """Return a file's memories; a fact that has an end is taken out of its entity's text, to be indexed by itself."""
    records, ending = map(memory_of, memories), tuple(map(fact_of, facts)) if memories else ()
    current = [fact for fact in ending if not fact.retired]
    return FileRecords(path, digest, tuple(_without(record, current) for record in records), ending)


def _without(record: MemoryRecord, facts: Sequence[FactRecord]) -> MemoryRecord:
    """Return a memory with blank lines for some of its facts, so that line numbers stay."""
    own = [fact for fact in facts if fact.entity == record.id]
    if not own:
        return record
    blank = {line for fact in own for line in range(fact.line, fact.line + fact.text.count("\n") + 1)}
    lines = enumerate(record.text.split("\n"), record.start_line)
    return replace(record, text="\n".join("" if number in blank else line for number, line in lines))


class OpenIndex:
    """One state of the index to answer from, used in a `with`.

    A failure that another attempt may avoid ends the `with` quietly: the next attempt follows.

    Args:
        standing: The embedder in use, and why it is not the configured one.
        stale: What the index misses, as a sentence, or None.
        is_last: Whether no attempt follows.
    """

    def __init__(
        self,
        source: IndexSource,
        index: SearchIndex,
        embedders: Embedders,
        standing: EmbedderStatus,
        stale: str | None,
        *,
        is_last: bool,
    ) -> None:
        self.source = source
        self.fallback = standing.fallback
        self.stale = stale
        self._index = index
        self._embedders = embedders
        self._embedder = standing.embedder
        self._is_last = is_last
        fits = self._embedder is not None and source.embedder == self._embedder.fingerprint
        self._answering = self._embedder if fits else None

    @property
    def provider(self) -> str:
        """Return what makes the vectors, or `none`."""
        return self._answering.provider if self._answering else "none"

    @property
    def model(self) -> str | None:
        """Return the name of its model, or None."""
        return self._answering.model if self._answering else None

    @property
    def embed_query(self) -> Callable[[str], FloatArray] | None:
        """Return what embeds a question; None if the index has no vectors to compare with."""
        return self._answering.embed_query if self._answering else None

    @property
    def embed_texts(self) -> Callable[[Sequence[str]], FloatArray] | None:
        """Return an embedder quick enough to run while somebody waits; None if the configured one runs a model."""
        return self._answering.embed_passages if self._answering and self._answering.is_instant else None

    def __enter__(self) -> OpenIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.source.close()
        if isinstance(error, StorageError):
            return not self._is_last and can_try_again(self._index, error)
        if isinstance(error, ProviderError) and self._embedder is not None:
            self._embedders.failed(self._embedder, error)
            return True
        if error is None and self._answering is not None:
            self._embedders.worked(self._answering)
        return False


def can_try_again(index: SearchIndex, error: StorageError) -> bool:
    """Return True if the index is there again for another attempt, rebuilt or in another folder."""
    return isinstance(error, IndexLost) or index.goes_on_elsewhere(error)


class Finder:
    """Answers questions about the memories of one workspace; thread-safe.

    Args:
        catalog: The catalog of its files, which the caller keeps up to date.
        folder: Folder of the index, created on demand.
        sources: Further files to search.
        version: Returns the version of everything searched; the catalog's by default.
        unread: Returns the paths that the catalog has not read yet.
        elsewhere: Folder for the index if its own fails.
        server: A database that keeps the index instead; the folder's answers while it is away.
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
        server: ServerIndex | None = None,
    ) -> None:
        self._server = server
        self._catalog = catalog
        self._settings = settings
        self._folder = folder
        self._elsewhere = elsewhere
        self._clock = clock
        self._sources = (CatalogFiles(catalog), *sources)
        self._version = version or catalog.version
        self._unread = unread
        self._lock = threading.RLock()
        self._updaters: dict[tuple[str, bool], IndexUpdater] = {}
        self._embedders: Embedders | None = None

    def search(self, query: SearchQuery, *, patience: float = PATIENCE) -> Found:
        """Answer a question from the index, after updating it as far as there is time.

        Args:
            patience: Seconds to wait for changes to be indexed.

        Raises:
            StorageError: The index cannot be kept, or is deleted again and again.
        """
        for index in self.attempts(patience):
            with index:
                found = Search(query, index.source, index.embed_query, index.embed_texts).found()
                return replace(
                    found,
                    provider=index.provider,
                    model=index.model,
                    fallback=self._away or index.fallback,
                    stale=index.stale,
                )
        raise AssertionError("Every attempt returns or raises.")

    def why_not(self, query: SearchQuery, memory_id: str) -> WhyNot:
        """Explain a memory's rank for a question, or its absence; raises as `search` does."""
        for index in self.attempts(PATIENCE):
            with index:
                return Search(query, index.source, index.embed_query, index.embed_texts).why_not(memory_id)
        raise AssertionError("Every attempt returns or raises.")

    def literal_matches(self, words: str, *, patience: float) -> list[LiteralMatch]:
        """Return the best piece of each memory that holds any of the words; otherwise as `search`."""
        for index in self.attempts(patience):
            with index:
                return literal_matches(index.source, words)
        raise AssertionError("Every attempt returns or raises.")

    def attempts(self, patience: float) -> Iterator[OpenIndex]:
        """Yield states of the index to answer from, each after one that failed in its `with`.

        Args:
            patience: Seconds to wait for changes to be indexed.

        Raises:
            StorageError: The index cannot be kept, or is deleted again and again.
        """
        for left in reversed(range(_MOST_ATTEMPTS)):
            embedders = self._choose()
            standing = embedders.turn()
            updater = self._updater(standing.embedder)
            try:
                stale = updater.freshen(patience)
                if standing.embedder is not None and self._steps_aside(updater, standing.embedder):
                    continue
                source = updater.index.source()
            except StorageError as error:
                if not left or not can_try_again(updater.index, error):
                    raise
                continue
            yield OpenIndex(source, updater.index, embedders, standing, stale, is_last=not left)

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

        def bring(updater: IndexUpdater, embedder: Embedder | None) -> None:
            updater.sync(force=force, progress=progress, cancelled=cancelled)
            if embedder is not None and self._steps_aside(updater, embedder):
                self._current().sync(progress=progress, cancelled=cancelled)

        self._attempt(bring)

    def take_in(self, *, cancelled: Callable[[], bool]) -> None:
        """Index what was read so far, though more remains to be read.

        Args:
            cancelled: Polled; work done so far is kept.

        Raises:
            StorageError: The index cannot be kept.
        """
        self._attempt(lambda updater, _: updater.take_in(cancelled=cancelled))

    @property
    def embeds_at_once(self) -> bool:
        """Return whether vectors are made along with the words, or not at all."""
        embedder = self._standing().embedder
        return embedder is None or embedder.is_instant

    def freshen(self) -> None:
        """Update the index in the background."""
        self._current().freshen(0)

    def status(self) -> IndexStatus:
        """Return what the index holds and how fresh it is, without reading files into it."""
        behind, state = self._attempt(lambda updater, _: (sum(updater.files_behind()), updater.index.state()))
        standing = self._standing()
        embedder = standing.embedder
        away = self._away
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
            fallback=away or standing.fallback or state.failure,
            pending=behind + state.pending_vectors,
            rebuilding=state.rebuilding,
            backend="postgres" if self._server is not None and away is None else "builtin",
            place=self._server.place if self._server is not None and away is None else str(self._folder),
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
            updaters, embedders = list(self._updaters.values()), self._embedders
            self._updaters.clear()
            self._embedders = None
        for updater in updaters:
            updater.close()
        if embedders is not None:
            embedders.close()

    def leave(self) -> None:
        """Close embedder and files, and leave a database's connections to whoever shares them."""
        with self._lock:
            for key in [key for key in self._updaters if key[1]]:
                del self._updaters[key]
        self.close()

    def destroy(self) -> None:
        """Delete the index, the vector cache, and their SQLite side files."""
        embedder = self._standing().embedder
        if self._server is not None:
            # What is to be gone must not be left where it cannot be reached: this raises while the server is away.
            self._updater_of(embedder, on_server=True).destroy()
        self._updater_of(embedder, on_server=False).destroy()

    @property
    def _away(self) -> str | None:
        """Return why the database that is configured is not what answers, or None."""
        if self._server is None or not self._server.is_away:
            return None
        return f"{self._server.failure} The index on this machine answers instead."

    def _attempt(self, act: Callable[[IndexUpdater, Embedder | None], T]) -> T:
        """Act on the index in use, and on the one that takes over from it if it fails."""
        embedder = self._standing().embedder
        updater = self._updater(embedder)
        try:
            return act(updater, embedder)
        except StorageError as error:
            if self._server is None or not updater.index.goes_on_elsewhere(error):
                raise
        return act(self._updater(embedder), embedder)

    def _current(self) -> IndexUpdater:
        return self._updater(self._standing().embedder)

    def _choose(self) -> Embedders:
        with self._lock:
            if self._embedders is None:
                self._embedders = choose_embedders(self._settings)
            return self._embedders

    def _standing(self) -> EmbedderStatus:
        """Return the embedder in use, and why it is not the configured one."""
        return self._choose().standing()

    def _steps_aside(self, updater: IndexUpdater, embedder: Embedder) -> bool:
        """Note that embedding failed; return True if another embedder is now in use."""
        if updater.embedding_failure is None:
            return False
        self._choose().failed(embedder, ProviderError(updater.embedding_failure))
        return self._standing().embedder is not embedder

    def _updater(self, embedder: Embedder | None) -> IndexUpdater:
        """Return the updater of the index in use whose vectors this embedder makes."""
        return self._updater_of(embedder, on_server=self._server is not None and not self._server.is_away)

    def _updater_of(self, embedder: Embedder | None, *, on_server: bool) -> IndexUpdater:
        fingerprint = embedder.fingerprint if embedder else ""
        with self._lock:
            updater = self._updaters.get((fingerprint, on_server))
            if updater is None:
                search = self._settings.search
                size = ChunkSize(search.chunk_tokens, min(search.chunk_overlap, search.chunk_tokens // 2))
                shape = IndexShape(size, fingerprint, f"{SCHEMA_VERSION} {self._catalog.zone.key}")
                index: SearchIndex
                if on_server and self._server is not None:
                    index = self._server.index(shape, embedder)
                else:
                    index = Index(
                        self._folder,
                        shape=shape,
                        embedder=embedder,
                        cache_entries=search.cache_entries,
                        clock=self._clock,
                        elsewhere=self._elsewhere,
                    )
                updater = self._updaters[fingerprint, on_server] = IndexUpdater(
                    index, self._sources, self._version, self._unread
                )
            return updater

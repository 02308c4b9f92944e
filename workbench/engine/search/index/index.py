"""The search index: derived from files alone, updated incrementally, deletable at any time without loss."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.clock import Clock, render_time
from workbench.engine.derived_files import Fallback, nowhere_else
from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.process import process_lock
from workbench.engine.search.chunks import FileSource
from workbench.engine.search.index import files as names
from workbench.engine.search.index.builder import Builder, BuildResult
from workbench.engine.search.index.chunk_embedding import ChunkEmbedder, EmbeddingCache, embed_pending
from workbench.engine.search.index.files import IndexFile, IndexLost, IndexShape, OpenFiles
from workbench.engine.search.index.schema import ask
from workbench.engine.search.index.snapshot import Snapshot

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder

_MOST_ATTEMPTS = 3
# After a build of this many files, merging the parts pays.
_MANY_FILES = 200
# From this many on, waiting for vectors along with the words is noticeable.
_MANY_STALE = 1_000
_WAIT_SECONDS = 0.2
_LONG_WAIT_SECONDS = 60.0


@dataclass(frozen=True)
class IndexSync:
    """Outcome of an index update.

    Args:
        changed: Files read into it.
        removed: Files taken out of it.
        pending_files: Files it does not hold in their present state.
        pending_vectors: Chunks that still lack a vector.
        busy: Whether another process is building, so that nothing was done.
        failure: Why vectors could not be made, or None.
    """

    changed: int = 0
    removed: int = 0
    pending_files: int = 0
    pending_vectors: int = 0
    busy: bool = False
    failure: str | None = None

    @property
    def finished(self) -> bool:
        """Return whether the words of every file are searchable."""
        return not self.busy and not self.pending_files


@dataclass(frozen=True)
class IndexState:
    """What the index holds.

    Args:
        dimensions: Of its vectors; None without vectors.
        last_sync: When it last held every file, aware; None if never.
        size_bytes: On disk, including the embedding cache.
        pending_vectors: Chunks that still lack a vector.
        rebuilding: Share done of a build that has not taken over yet, 0–1, or None.
        is_of_another_shape: Whether an older index answers until the wanted one is built.
        failure: Why the last embedding failed, or None.
    """

    files: int
    chunks: int
    dimensions: int | None
    last_sync: datetime | None
    size_bytes: int
    pending_vectors: int
    rebuilding: float | None
    is_of_another_shape: bool
    failure: str | None


T = TypeVar("T")


class Index:
    """The index of one workspace in a folder of its own; safe for several threads and processes.

    Searches never wait for a build: they answer from what is there. One process builds at a time.

    Args:
        folder: Where its files are; created on demand.
        shape: Its inputs besides the files. An index of another shape answers until this one is built beside
            it.
        embedder: Makes its vectors; None for keywords only. Its fingerprint is the shape's.
        cache_entries: Number of chunks whose vectors are kept for rebuilds.
        clock: Source of the time.
        elsewhere: Folder to continue in when `folder` fails.
    """

    def __init__(
        self,
        folder: Path,
        *,
        shape: IndexShape,
        embedder: Embedder | None,
        cache_entries: int,
        clock: Clock,
        elsewhere: Fallback = nowhere_else,
    ) -> None:
        self._shape = shape
        self._embedder = embedder
        self._cache_entries = cache_entries
        self._clock = clock
        self._elsewhere = elsewhere
        self._building = threading.Lock()
        self._embedding = threading.Lock()
        self._moving = threading.Lock()
        self._left: list[tuple[Path, OpenFiles]] = []
        self._failure: str | None = None
        self._keep_in(folder)

    def _keep_in(self, folder: Path) -> None:
        """Use this folder; files open in another one stay in use until closed."""
        embedder = self._embedder
        self._folder = folder
        self._files = OpenFiles(folder, self._shape)
        self._synced: IndexFile | None = None
        self._cache: EmbeddingCache | None = None
        self._chunk_embedder: ChunkEmbedder | None = None
        if embedder is not None:
            if not embedder.is_instant:
                self._cache = EmbeddingCache(folder / names.CACHE, embedder.fingerprint, self._cache_entries)
            self._chunk_embedder = ChunkEmbedder(embedder, self._cache, self._clock)

    def source(self) -> Snapshot:
        """Return one consistent state of the index; close it, or use it in a `with`.

        Raises:
            IndexLost: It was deleted or damaged just now: sync and ask again.
            StorageError: The folder cannot be used.
        """
        return self._again(lambda: Snapshot(self._files.answering()))

    def goes_on_elsewhere(self, error: StorageError) -> bool:
        """Return True if another folder takes over from the failed one; then retry."""
        if isinstance(error, IndexLost) or error.where is None:
            return False
        with self._moving:
            failed = Path(error.where)
            if any(failed.is_relative_to(folder) for folder, _ in self._left):
                return not failed.is_relative_to(self._folder)
            if not failed.is_relative_to(self._folder):
                return False
            folder = self._elsewhere(self._folder, error.message)
            if folder is None:
                return False
            self._left.append((self._folder, self._files))
            self._keep_in(folder)
            return True

    def is_in_place(self) -> bool:
        """Return whether the file last synced still exists and was not found damaged."""
        synced = self._synced
        return synced is not None and synced.is_in_place()

    def sync(
        self,
        sources: Sequence[FileSource],
        *,
        force: bool = False,
        words_first: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
        wait: float = _WAIT_SECONDS,
    ) -> IndexSync:
        """Bring the words of every file up to date, and their vectors if that is quick.

        Args:
            sources: Everything searched; for a path in several, the first counts.
            force: Rebuild everything beside what exists.
            words_first: Leave the vectors of large updates to `embed`, since somebody waits for results.
            progress: Called with files done and files in total.
            cancelled: Polled between files; work done is kept, the rest is `pending_files`.
            wait: Seconds to wait for another builder.

        Raises:
            StorageError: The index cannot be written; its former state still answers.
        """

        def bring(file: IndexFile) -> IndexSync:
            builder = self._builder(file)
            work = builder.survey(sources)
            if words_first and len(work.stale) >= _MANY_STALE:
                builder = Builder(file, self._shape.size, None)
            if not file.state().complete:
                with file.change() as (_, before, left):
                    left.append(
                        replace(before, wanted=len(work.known.keys() - work.gone.keys()) + work.unknown)
                    )
            built = builder.carry_out(work, progress, cancelled)
            return self._finish(file, built, has_seen_all=not cancelled())

        return self._build(bring, wait, force=force)

    def embed(
        self,
        *,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IndexSync:
        """Make missing vectors, newest memories first, keeping them batch by batch.

        Others may sync meanwhile. One process at a time embeds.

        Args:
            progress: Called with chunks done and chunks in total.
            cancelled: Polled, also while the embedder works.

        Raises:
            StorageError: The index cannot be written.
        """
        if self._chunk_embedder is None:
            return IndexSync()

        def fill() -> IndexSync:
            self._files.make_folder()
            assert self._chunk_embedder is not None
            embedder = self._chunk_embedder
            with process_lock(self._folder / names.EMBEDDING_LOCK, 0) as alone:
                if not alone:
                    return IndexSync(busy=True)
                file = self._files.to_build()
                failure = None
                try:
                    embed_pending(file, embedder, self._folder / names.BUILDER_LOCK, progress, cancelled)
                except ProviderError as error:
                    failure = str(error)
                with process_lock(self._folder / names.BUILDER_LOCK, _LONG_WAIT_SECONDS):
                    return self._finish(file, BuildResult(failure=failure), has_seen_all=False)

        if not self._embedding.acquire(blocking=False):
            return IndexSync(busy=True)
        try:
            return self._again(fill)
        finally:
            self._embedding.release()

    def state(self) -> IndexState:
        """Return what the index holds."""
        files, pending, state = self.asked(lambda snapshot: (*snapshot.counts(), snapshot.state))
        return IndexState(
            files=files,
            chunks=state.chunks,
            dimensions=state.dimensions or None,
            last_sync=datetime.fromisoformat(state.last_sync) if state.last_sync else None,
            size_bytes=names.size_bytes(self._folder),
            pending_vectors=pending if self._embedder is not None else 0,
            rebuilding=self._again(lambda: self._files.share_built()),
            is_of_another_shape=state.shape != self._shape.digest,
            failure=self._failure,
        )

    def asked(self, question: Callable[[Snapshot], T]) -> T:
        """Query one consistent state, retrying if it is lost meanwhile; raises as `source` does."""

        def ask_it() -> T:
            with self.source() as snapshot:
                return question(snapshot)

        return self._again(ask_it)

    def close(self) -> None:
        """Close all files; a later call reopens them."""
        self._files.close()
        for _, files in self._left:
            files.close()
        if self._cache is not None:
            self._cache.close()

    def destroy(self) -> None:
        """Delete all index files, their SQLite side files, and the embedding cache."""
        with self._building:
            self.close()
            for folder in (*(folder for folder, _ in self._left), self._folder):
                names.delete_all(folder)

    def _build(
        self, bring: Callable[[IndexFile], IndexSync], wait: float, *, force: bool = False
    ) -> IndexSync:
        """Act as the only builder; if another is at work, say so."""
        if not self._building.acquire(timeout=wait):
            return IndexSync(busy=True)
        try:
            return self._again(lambda: self._build_alone(bring, wait, force=force))
        finally:
            self._building.release()

    def _build_alone(self, bring: Callable[[IndexFile], IndexSync], wait: float, *, force: bool) -> IndexSync:
        self._files.make_folder()
        with process_lock(self._folder / names.BUILDER_LOCK, wait) as alone:
            if not alone:
                return IndexSync(busy=True)
            if force:
                _once_more(lambda: self._files.to_build(anew=True))
            return _once_more(lambda: bring(self._files.to_build()))

    def _builder(self, file: IndexFile) -> Builder:
        instant = self._embedder is not None and self._embedder.is_instant
        return Builder(file, self._shape.size, self._chunk_embedder if instant else None)

    def _finish(self, file: IndexFile, built: BuildResult, *, has_seen_all: bool) -> IndexSync:
        """Record the progress, and let the file take over if it can; the builder's lock is held.

        Args:
            file: The file that was built.
            built: What was done to it.
            has_seen_all: Whether every source was compared with it.
        """
        holds_all = has_seen_all and not built.pending
        if has_seen_all:
            self._synced = file
        pending = self._pending_vectors(file)
        self._failure = built.failure
        with file.change() as (_, state, left):
            after = replace(state, last_sync=render_time(self._clock.now()), wanted=0) if holds_all else state
            # If another file also answers by meaning, this one waits until it can, too.
            can_wait = pending and not built.failure and not state.complete
            if (holds_all or state.last_sync) and not (can_wait and self._files.others_answer()):
                after = replace(after, complete=1)
            left.append(after)
        if after.complete and (has_seen_all or not state.complete):
            self._files.clear_away(file)
        if built.changed >= _MANY_FILES:
            file.settle()
        return IndexSync(
            changed=built.changed,
            removed=built.removed,
            pending_files=built.pending,
            pending_vectors=pending,
            failure=built.failure,
        )

    def _pending_vectors(self, file: IndexFile) -> int:
        if self._embedder is None:
            return 0
        with file.reading() as connection:
            return int(ask(connection, "SELECT count(*) FROM chunks WHERE embedded = 0")[0][0])

    def _again(self, act: Callable[[], T]) -> T:
        """Retry once if the index is lost meanwhile or moves to another folder."""
        try:
            return _once_more(act)
        except StorageError as error:
            if not self.goes_on_elsewhere(error):
                raise
        return _once_more(act)


def _once_more(act: Callable[[], T]) -> T:
    """Retry once if the index is lost meanwhile."""
    for _ in range(_MOST_ATTEMPTS - 1):
        try:
            return act()
        except IndexLost:
            continue
    return act()

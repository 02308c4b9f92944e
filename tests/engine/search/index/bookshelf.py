"""A few files in memory, an embedder of words, and an index of both."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.catalog.records import FactRecord, MemoryRecord
from workbench.engine.catalog.terms import index_terms
from workbench.engine.clock import FixedClock
from workbench.engine.errors import ProviderError
from workbench.engine.search.chunks import ChunkSize, FileRecords, Within
from workbench.engine.search.contract import IndexSync
from workbench.engine.search.index.files import IndexShape
from workbench.engine.search.index.index import Index, Snapshot

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray

ANYTHING = Within()
DIMENSIONS = 32


def after(count: int) -> Callable[[], bool]:
    """Return what cancels when it is asked for more than the count-th time."""
    asked = itertools.count()
    return lambda: next(asked) >= count


class WordEmbedder:
    """A text's vector is the sum of a random vector for each of its words.

    Args:
        name: Of the model.
        is_instant: As of an embedder.
        fails: Whether it cannot be reached; may be changed.
    """

    provider = "builtin"

    def __init__(self, name: str = "words", *, is_instant: bool = True, dimensions: int = DIMENSIONS) -> None:
        self.model = self.fingerprint = name
        self.is_instant = is_instant
        self.dimensions = dimensions
        self.fails = False
        self.embedded: list[str] = []
        self.before_each: Callable[[], None] = lambda: None

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        if self.fails:
            raise ProviderError("The server does not answer.", where=self.model, remedy="Start it.")
        self.before_each()
        self.embedded.extend(texts)
        return np.stack([self._embed(text) for text in texts])

    def embed_query(self, text: str) -> FloatArray:
        return self._embed(text)

    def close(self) -> None:
        pass

    def _embed(self, text: str) -> FloatArray:
        total = np.zeros(self.dimensions)
        for term in index_terms(text):
            total += np.random.default_rng(list(term.encode())).standard_normal(self.dimensions)
        length = float(np.linalg.norm(total))
        return (total / length if length else total).astype(np.float32)


class MemoryFiles:
    """Files by path, each a list of memories as (day or None, text)."""

    def __init__(self, files: Mapping[str, Sequence[str]] | None = None) -> None:
        self.files: dict[str, list[str]] = {path: list(texts) for path, texts in (files or {}).items()}
        self.days: dict[str, str] = {}
        self.stores: dict[str, str] = {}
        self.retired: dict[str, tuple[FactRecord, ...]] = {}
        self.was_read: list[str] = []
        self.before_reading: Callable[[], None] = lambda: None

    def digests(self) -> Mapping[str, bytes]:
        return {path: self._digest(path) for path in self.files}

    def read(self, paths: Sequence[str]) -> Iterator[FileRecords]:
        self.before_reading()
        for path in paths:
            if path in self.files:
                self.was_read.append(path)
                yield FileRecords(
                    path, self._digest(path), tuple(self._records(path)), self.retired.get(path, ())
                )

    def _digest(self, path: str) -> bytes:
        return repr((self.files[path], self.days.get(path), self.retired.get(path))).encode()

    def _records(self, path: str) -> Iterator[MemoryRecord]:
        line = 1
        day = self.days.get(path)
        for at, text in enumerate(self.files[path]):
            end = line + text.count("\n")
            yield MemoryRecord(
                id=f"{path}:{at}",
                store=self.stores.get(path, "episodic"),
                path=path,
                start_line=line,
                end_line=end,
                title=text.split("\n")[0][:40],
                text=text,
                moment=datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None,
            )
            line = end + 2


class Bookshelf:
    """An index in a folder, its files and its embedder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = MemoryFiles()
        self.embedder: WordEmbedder | None = WordEmbedder()
        self.clock = FixedClock()
        self._opened: list[Index] = []
        self._lock = threading.Lock()
        self.index = self.open()

    def open(
        self, embedder: Embedder | None = None, *, size: ChunkSize | None = None, cache_entries: int = 1000
    ) -> Index:
        """Return one more index of the same folder."""
        own = embedder or self.embedder
        shape = IndexShape(size or ChunkSize(), own.fingerprint if own else "", "test")
        index = Index(self.folder, shape=shape, embedder=own, cache_entries=cache_entries, clock=self.clock)
        with self._lock:
            self._opened.append(index)
        return index

    def close(self) -> None:
        for index in self._opened:
            index.close()

    def write(self, path: str, *texts: str, day: str | None = None) -> None:
        self.files.files[path] = list(texts)
        if day:
            self.files.days[path] = day

    def sync(self, index: Index | None = None) -> IndexSync:
        return (index or self.index).sync([self.files])

    def found(self, question: str, within: Within = ANYTHING, *, index: Index | None = None) -> list[str]:
        """Return the ids of the memories that hold any of the words, best first."""
        with (index or self.index).source() as source:
            return ids(
                source, [number for number, _ in source.by_keywords(index_terms(question), 20, within)]
            )

    def nearest(self, question: str, within: Within = ANYTHING, *, index: Index | None = None) -> list[str]:
        """Return the ids of the memories nearest to a question, best first."""
        vector = (self.embedder or WordEmbedder()).embed_query(question)
        with (index or self.index).source() as source:
            return ids(source, [number for number, _ in source.by_vector(vector, 20, within)])

    def names(self) -> list[str]:
        """Return the names of the index files there are."""
        return sorted(place.name for place in self.folder.glob("recall-*.sqlite"))


def ids(source: Snapshot, numbers: Sequence[int]) -> list[str]:
    return [stored.chunk.memory_id for stored in source.read(numbers)]

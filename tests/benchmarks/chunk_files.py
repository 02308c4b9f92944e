"""Files of generated memories for the index, the same for the same seed, and vectors that mean nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.providers.embedding.embedder import TABLE_FOLDER
from workbench.engine.search.chunks import FileRecords

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray

CHUNKS_A_FILE = 50
_LAST_DAY = datetime(2026, 2, 2, 9, 0, tzinfo=UTC)
# About as many words make up half of what is written as in English.
_COMMON = 120


class GeneratedFiles:
    """A source of files of 50 memories each; words are drawn as unevenly as in English (Zipf).

    Args:
        chunks: How many memories there are.
        words: Of a memory on average; half to one and a half times as many.
    """

    def __init__(self, chunks: int, words: int, seed: int = 0) -> None:
        self._chunks = chunks
        self.words = words
        self._seed = seed
        pieces = (TABLE_FOLDER / "pieces.txt").read_text(encoding="utf-8").split("\n")
        self.vocabulary = [piece for piece in pieces if piece.isalpha() and len(piece) > 1]
        np.random.default_rng(seed).shuffle(self.vocabulary)
        shares = 1 / np.arange(1, len(self.vocabulary) + 1) ** 1.05
        self._until = np.cumsum(shares / shares.sum())
        self.changed: dict[str, int] = {}

    def digests(self) -> Mapping[str, bytes]:
        count = (self._chunks + CHUNKS_A_FILE - 1) // CHUNKS_A_FILE
        return {path: self._digest(path) for path in map(_path, range(count))}

    def read(self, paths: Sequence[str]) -> Iterator[FileRecords]:
        for path in paths:
            yield FileRecords(path, self._digest(path), tuple(self._memories(path)))

    def questions(self, count: int) -> list[str]:
        """Return questions of four to nine telling words."""
        chance = np.random.default_rng(self._seed + 1)
        return [" ".join(self._draw(chance, int(chance.integers(4, 10)), telling=True)) for _ in range(count)]

    def _digest(self, path: str) -> bytes:
        return f"{path} {self.changed.get(path, 0)}".encode()

    def _memories(self, path: str) -> Iterator[MemoryRecord]:
        number = int(path.removeprefix("memory/").removesuffix(".md"))
        chance = np.random.default_rng((self._seed, number))
        moment = _LAST_DAY - timedelta(days=number)
        left = min(CHUNKS_A_FILE, self._chunks - number * CHUNKS_A_FILE)
        for place in range(left):
            count = int(chance.integers(self.words // 2, self.words * 3 // 2))
            words = self._draw(chance, count)
            if place == 0:
                words.append(f"revision{self.changed.get(path, 0)}")
            third = len(words) // 3 + 1
            lines = [
                " ".join(words[at : at + third]).capitalize() + "." for at in range(0, len(words), third)
            ]
            yield MemoryRecord(
                id=f"episode:{moment.date()}:{place:02}",
                store="episodic",
                path=path,
                start_line=5 * place + 3,
                end_line=5 * place + 5,
                title=lines[0][:80],
                text="\n".join(lines),
                moment=moment,
            )

    def _draw(self, chance: np.random.Generator, count: int, *, telling: bool = False) -> list[str]:
        least = self._until[_COMMON] if telling else 0.0
        drawn = np.searchsorted(self._until, least + (1 - least) * chance.random(count))
        return [self.vocabulary[min(at, len(self.vocabulary) - 1)] for at in drawn]


class FilesInMemory:
    """Files that were taken apart already, so that only storing them is measured.

    Args:
        files: The files.
    """

    def __init__(self, files: Iterable[FileRecords]) -> None:
        self._files = {file.path: file for file in files}

    def digests(self) -> Mapping[str, bytes]:
        return {path: file.digest for path, file in self._files.items()}

    def read(self, paths: Sequence[str]) -> Iterator[FileRecords]:
        return (self._files[path] for path in paths if path in self._files)


class RandomEmbedder:
    """Gives each text a random unit vector, the same for the same text: what costs time is all that is real."""

    provider = "random"
    model = "random"
    is_instant = True

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.fingerprint = f"random {dimensions}"

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        rows = np.stack([self._draw(text) for text in texts])
        units: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return units

    def embed_query(self, text: str) -> FloatArray:
        row: FloatArray = self.embed_passages([text])[0]
        return row

    def close(self) -> None:
        pass

    def _draw(self, text: str) -> FloatArray:
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest)).standard_normal(self.dimensions, np.float32)


def _path(number: int) -> str:
    return f"memory/{number:05}.md"

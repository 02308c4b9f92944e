"""Words near a question's words in meaning, looked up in the built-in table of word vectors."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from workbench.engine.catalog.terms import STOP_WORDS, telling_terms
from workbench.engine.recall.stemming import stem

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray

_NEAREST = 30
_LEAST_COSINE = 0.35
# A near word tells at most half of what the word itself does.
_SHARE = 0.5
_MOST_REMEMBERED = 4096
_WHOLE_WORD = re.compile("[a-z]{3,}")


class NearWords(Protocol):
    """Which terms stand near a question's."""

    def near(self, question: str) -> Mapping[str, float]:
        """Return stemmed terms with how much of a question's term they are worth, 0–1."""
        ...


class WordTable(Protocol):
    """Whole words with their vectors."""

    def words(self) -> tuple[Sequence[str], FloatArray]:
        """Return plain words and their vectors of length 1, row by row."""
        ...


class BuiltinWords:
    """The whole English words of the built-in embedder's table."""

    def words(self) -> tuple[Sequence[str], FloatArray]:
        import numpy as np

        from workbench.engine.providers.embedding.builtin import TABLE_FOLDER, StaticTable, TableDescription

        table = StaticTable.open(TABLE_FOLDER, TableDescription.read(TABLE_FOLDER).dimensions)
        rows = {piece: row for piece, row in table.vocabulary.items() if _WHOLE_WORD.fullmatch(piece)}
        vectors = np.asarray(table.vectors[list(rows.values())], np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, np.newaxis]
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return list(rows), vectors


@cache
def builtin_near_words() -> NearWords:
    """Return the near words of the built-in table, one for the whole process: it takes some 20 MB once used."""
    return TableNearWords(BuiltinWords())


class TableNearWords:
    """Near words from a table of word vectors; safe from several threads.

    Args:
        table: Opened at the first question.
    """

    def __init__(self, table: WordTable) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._vectors: FloatArray | None = None
        self._rows: dict[str, int] = {}
        self._words: Sequence[str] = ()
        self._known: dict[str, tuple[tuple[str, float], ...]] = {}

    def near(self, question: str) -> Mapping[str, float]:
        asked = telling_terms(question)
        own = {stem(term) for term in asked}
        found: dict[str, float] = {}
        for near in self._of(asked):
            for term, worth in near:
                if term not in own and worth > found.get(term, 0.0):
                    found[term] = worth
        return found

    def _of(self, asked: Sequence[str]) -> list[tuple[tuple[str, float], ...]]:
        with self._lock:
            self._load()
            new = [term for term in asked if term in self._rows and term not in self._known]
            if len(self._known) > _MOST_REMEMBERED:
                self._known.clear()
                new = [term for term in asked if term in self._rows]
            if new:
                self._look_up(new)
            return [self._known[term] for term in asked if term in self._known]

    def _load(self) -> None:
        if self._vectors is None:
            self._words, self._vectors = self._table.words()
            self._rows = {word: row for row, word in enumerate(self._words)}

    def _look_up(self, new: Sequence[str]) -> None:
        import numpy as np

        assert self._vectors is not None
        cosines = self._vectors[[self._rows[term] for term in new]] @ self._vectors.T
        for term, row in zip(new, cosines, strict=True):
            best = np.argpartition(-row, min(_NEAREST, len(row) - 1))[:_NEAREST]
            self._known[term] = tuple(
                (stem(self._words[at]), _SHARE * float(row[at]))
                for at in best.tolist()
                if row[at] >= _LEAST_COSINE and self._words[at] not in STOP_WORDS
            )

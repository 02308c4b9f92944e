"""Words near a question's words in meaning, from a table made out of the built-in embedder's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workbench.engine.catalog.terms import telling_terms
from workbench.engine.recall.stemming import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TABLE = Path(__file__).with_name("near_words.npz")
# A near word tells at most half of what the word itself does.
_SHARE = 0.5
# Each costs a question to the index.
_MOST = 60


class NearWords(Protocol):
    """Which terms stand near a question's."""

    def near(self, question: str) -> Mapping[str, float]:
        """Return stemmed terms with how much of a question's term they are worth, 0–1."""
        ...


class TableNearWords:
    """Near words of English words, as `tools/make_near_words.py` found them; safe from several threads.

    Args:
        terms: Stemmed terms.
        words: Plain words, sorted.
        nearest: Of each word the places of near terms among `terms`, -1 where there are no more.
        cosines: How near each of them is, 0–255 for 0–1.
    """

    def __init__(
        self,
        terms: list[str],
        words: list[str],
        nearest: NDArray[np.int16],
        cosines: NDArray[np.uint8],
    ) -> None:
        self._terms = terms
        self._rows = {word: row for row, word in enumerate(words)}
        self._nearest = nearest
        self._cosines = cosines

    def near(self, question: str) -> Mapping[str, float]:
        asked = telling_terms(question)
        own = {stem(term) for term in asked}
        found: dict[str, float] = {}
        for word in asked:
            row = self._rows.get(word)
            if row is None:
                continue
            for place, cosine in zip(self._nearest[row].tolist(), self._cosines[row].tolist(), strict=True):
                if place < 0:
                    break
                term = self._terms[place]
                worth = _SHARE * cosine / 255
                if term not in own and worth > found.get(term, 0.0):
                    found[term] = worth
        return dict(sorted(found.items(), key=lambda pair: -pair[1])[:_MOST])


@cache
def builtin_near_words() -> NearWords:
    """Return the near words that travel with the package, one table for the whole process."""
    import numpy as np

    with np.load(TABLE, allow_pickle=False) as table:
        terms, words = (bytes(table[name]).decode("ascii").split("\n") for name in ("terms", "words"))
        return TableNearWords(terms, words, table["nearest"], table["cosines"])

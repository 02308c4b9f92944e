"""Makes the table of near words again, from the built-in embedder's.

usage: python tools/make_near_words.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.catalog.terms import STOP_WORDS, stem
from workbench.engine.search.ranking.question import NEAR_WORDS_TABLE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NEAREST = 20
_LEAST_COSINE = 0.35
_ROWS_AT_ONCE = 512
_WHOLE_WORD = re.compile("[a-z]{3,}")


def make_table(words: list[str], vectors: NDArray[np.float32]) -> dict[str, Any]:
    """Return the arrays of the table.

    Args:
        words: Plain words, each once.
        vectors: One row of length 1 per word.
    """
    import numpy as np

    stems = [stem(word) for word in words]
    terms = sorted({term for term, word in zip(stems, words, strict=True) if word not in STOP_WORDS})
    places = {term: place for place, term in enumerate(terms)}
    nearest = np.full((len(words), _NEAREST), -1, np.int16)
    cosines = np.zeros((len(words), _NEAREST), np.uint8)
    for start in range(0, len(words), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE] @ vectors.T
        order = np.argsort(-block, axis=1)[:, : 3 * _NEAREST]
        for row, best in enumerate(order.tolist(), start):
            found: dict[int, float] = {}
            for at in best:
                cosine = float(block[row - start, at])
                if cosine < _LEAST_COSINE or len(found) == _NEAREST:
                    break
                if stems[at] != stems[row] and words[at] not in STOP_WORDS:
                    found.setdefault(places[stems[at]], cosine)
            nearest[row, : len(found)] = list(found)
            cosines[row, : len(found)] = [round(255 * min(1.0, cosine)) for cosine in found.values()]
    return {
        "terms": np.frombuffer("\n".join(terms).encode("ascii"), np.uint8),
        "words": np.frombuffer("\n".join(words).encode("ascii"), np.uint8),
        "nearest": nearest,
        "cosines": cosines,
    }


def write_table(path: Path = NEAR_WORDS_TABLE) -> None:
    """Write the table that belongs to the built-in embedder's."""
    import numpy as np

    from workbench.engine.providers.embedding.embedder import TABLE_FOLDER, StaticTable, TableDescription

    table = StaticTable.open(TABLE_FOLDER, TableDescription.read(TABLE_FOLDER).dimensions)
    rows = {piece: row for piece, row in sorted(table.vocabulary.items()) if _WHOLE_WORD.fullmatch(piece)}
    vectors = np.asarray(table.vectors[list(rows.values())], np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, np.newaxis]
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    np.savez_compressed(path, **make_table(list(rows), vectors))


if __name__ == "__main__":
    write_table()

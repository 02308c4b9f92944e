"""The table of near words, made from vectors."""

from __future__ import annotations

import numpy as np

from tools.make_near_words import make_table
from workbench.engine.search.ranking.question import NearWords


def test_the_table_leaves_out_a_words_own_forms() -> None:
    words = ["cat", "cats", "dog", "tax"]
    vectors = np.array([[1, 0], [1, 0], [0.8, 0.6], [0, 1]], np.float32)
    table = make_table(words, vectors)
    terms = bytes(table["terms"]).decode().split("\n")
    near = NearWords(terms, words, table["nearest"], table["cosines"])
    assert near.near("cats") == {"dog": 0.5 * 204 / 255}
    assert near.near("unknown words") == {}

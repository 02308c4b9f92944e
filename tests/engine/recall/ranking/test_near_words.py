"""Words near in meaning, and the table they come from."""

from __future__ import annotations

import numpy as np

from workbench.engine.recall.ranking.near_words import TableNearWords, builtin_near_words
from workbench.engine.recall.ranking.near_words_table import make_table


def test_the_table_leaves_out_a_words_own_forms() -> None:
    words = ["cat", "cats", "dog", "tax"]
    vectors = np.array([[1, 0], [1, 0], [0.8, 0.6], [0, 1]], np.float32)
    table = make_table(words, vectors)
    terms = bytes(table["terms"]).decode().split("\n")
    near = TableNearWords(terms, words, table["nearest"], table["cosines"])
    assert near.near("cats") == {"dog": 0.5 * 204 / 255}
    assert near.near("unknown words") == {}


def test_the_shipped_table_knows_everyday_words() -> None:
    near = builtin_near_words().near("Which pets does she have?")
    assert {"dog", "cat"} <= near.keys()
    assert "pet" not in near
    assert all(0 < worth <= 0.5 for worth in near.values())
    assert len(near) <= 60

"""Words near in meaning, out of the table in the package."""

from __future__ import annotations

from workbench.engine.search.ranking.question import builtin_near_words


def test_the_shipped_table_knows_everyday_words() -> None:
    near = builtin_near_words().near("Which pets does she have?")
    assert {"dog", "cat"} <= near.keys()
    assert "pet" not in near
    assert all(0 < worth <= 0.5 for worth in near.values())
    assert len(near) <= 60

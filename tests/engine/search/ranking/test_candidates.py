"""Which chunks are read for a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.engine.search.ranking.memory_source import NOW, MemorySource, embed, note
from workbench.engine.search.chunks import Within
from workbench.engine.search.ranking.candidates import MemoryScores, gather
from workbench.engine.search.ranking.question import SearchOptions, read_question

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


class Crossed(MemorySource):
    """One half of the chunks by words and the other by meaning, so that two share each rank."""

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        return [(number, 1.0) for number in range(2, len(self.stored) + 1, 2)][:limit]

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        return [(number, 1.0) for number in range(1, len(self.stored) + 1, 2)][:limit]


def test_of_what_both_lanes_rank_alike_the_first_read_comes_first() -> None:
    options = SearchOptions()
    source = Crossed([note(f"- violin {number}", name=f"n{number}") for number in range(80)])
    gathered = gather(
        read_question("violin", NOW.date()),
        source,
        options,
        embed,
        {},
        (),
        MemoryScores(dict.fromkeys, options, source),
    )
    numbers = [stored.number for stored in gathered.chunks]
    assert numbers == list(range(1, len(numbers) + 1))
    assert 20 < len(numbers) < 80

"""How much each word tells, by how few passages have it, and which claims share the telling ones."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_RAREST: Final = 4
_MOST_CANDIDATES: Final = 80


class Weights:
    """Inverse document frequencies.

    Args:
        documents: The stems of each passage.
    """

    def __init__(self, documents: Iterable[frozenset[str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._number = 0
        for stems in documents:
            self._counts.update(stems)
            self._number += 1

    def of(self, stem: str) -> float:
        """Return ln(1 + N / (1 + n)): N passages, n of which have the stem."""
        return math.log(1.0 + (self._number + 2.0) / (1.0 + self._counts[stem]))

    def total(self, stems: Iterable[str]) -> float:
        """Return the sum over stems."""
        return sum(map(self.of, stems))

    def similarity(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return how much of both is shared, 0–1: the shared weight by six parts the lighter, four the heavier."""
        shared = self.total(one & other)
        if not shared:
            return 0.0
        lighter, heavier = sorted((self.total(one), self.total(other)))
        return shared / (0.6 * lighter + 0.4 * heavier)

    def coverage(self, asked: frozenset[str], given: frozenset[str], names: frozenset[str]) -> float:
        """Return the share of the weight of `asked` that `given` has, 0–1; `names` weigh double."""
        total = self.total(asked) + self.total(asked & names)
        shared = asked & given
        return (self.total(shared) + self.total(shared & names)) / total if total else 0.0

    def rarest(self, stems: Iterable[str]) -> list[str]:
        """Return the four that tell most."""
        return sorted(stems, key=lambda stem: (-self.of(stem), stem))[:_RAREST]


class Postings:
    """Claims by their stems, in the order they were added."""

    def __init__(self) -> None:
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, number: int, stems: Iterable[str]) -> None:
        """Enter a claim by its number."""
        for stem in stems:
            self._by_stem[stem].append(number)

    def near(self, stems: Sequence[str]) -> list[int]:
        """Return the claims that have any of these stems: of each stem the 80 entered last, newest first."""
        found: dict[int, None] = {}
        for stem in stems:
            for number in self._by_stem.get(stem, ())[-_MOST_CANDIDATES:]:
                found[number] = None
        return sorted(found, reverse=True)

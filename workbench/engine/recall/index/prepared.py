"""A chunk ready to be stored: its terms, and where there are some its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.recall.model import Chunk
from workbench.engine.recall.stemming import index_terms
from workbench.engine.recall.units import units_of

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray


@dataclass(frozen=True, slots=True)
class Words:
    """What a chunk can be found by.

    Args:
        title: Terms of its title and tags, parted by spaces.
        units: Terms of each unit, likewise, parted by line feeds.
        count: How many there are in its units.
        places: First and last line of each unit, as `units_of` gives them.
    """

    title: str
    units: str
    count: int
    places: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Vectors:
    """What was made of a chunk.

    Args:
        whole: The normalised mean of its units; zeros where there was nothing to embed.
        units: A row per unit; None where the one unit is the whole.
    """

    whole: FloatArray
    units: FloatArray | None


def words_of(chunk: Chunk) -> Words:
    """Cut a chunk into units and terms."""
    lines = chunk.text.split("\n")
    places = units_of(chunk.text)
    units = [" ".join(index_terms("\n".join(lines[first : last + 1]))) for first, last in places]
    joined = "\n".join(units)
    return Words(
        " ".join(index_terms(f"{chunk.title} {' '.join(chunk.tags)}")),
        joined,
        joined.count(" ") + sum(map(bool, units)),
        places,
    )


def vectors_of(units: FloatArray) -> Vectors:
    """Return the vectors of a chunk.

    Args:
        units: A row of length 1, or of zeros, for each of its units; at least one.
    """
    import numpy as np

    if len(units) == 1:
        return Vectors(units[0], None)
    mean = units.sum(axis=0)
    length = float(np.sqrt(np.square(mean).sum()))
    return Vectors(mean / length if length > 0 else mean, units)

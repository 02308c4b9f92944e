"""Writes vectors of chunks into an index file, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.recall.index.blocks import Placed, add_to_blocks, day_code, store_code
from workbench.engine.recall.index.codes import encode
from workbench.engine.recall.index.schema import create_vectors
from workbench.engine.recall.index.state import FileState

if TYPE_CHECKING:
    import apsw

    from workbench.engine.recall.index.prepared import Vectors


# One statement for all: SQLite works on it without Python, and another thread can use the time.
_INSERT_VECTORS = (
    "INSERT INTO vectors (rowid, embedding) SELECT value, substr(?1, key * ?3 + 1, ?3) FROM json_each(?2)"
)
_INSERT_UNITS = (
    "INSERT INTO units SELECT value ->> 0, substr(?1, value ->> 1, value ->> 2) FROM json_each(?2)"
)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chunk's number, store and day (ISO 8601 or None), and what was made of it."""

    number: int
    store: str
    day: str | None
    vectors: Vectors


def store_vectors(connection: apsw.Connection, state: FileState, made: Sequence[Embedded]) -> FileState:
    """Store what was made of chunks that have no vectors yet; that they have some now is for the caller to note.

    Args:
        connection: In a transaction.
        state: As the transaction sees it.
        made: The chunks, numbers ascending.

    Returns:
        The new state, not yet written.
    """
    wholes = np.stack([each.vectors.whole for each in made])
    dimensions = wholes.shape[1]
    if state.dimensions != dimensions:
        state = _begin_anew(connection, state, dimensions)
    state = replace(state, version=state.version + 1)
    codes, scales = encode(wholes)
    placed = Placed(
        [each.number for each in made],
        [store_code(each.store) for each in made],
        [day_code(each.day) for each in made],
        scales,
        codes,
    )
    add_to_blocks(connection, placed, state.version)
    numbers = [each.number for each, scale in zip(made, scales, strict=True) if scale]
    connection.execute(
        _INSERT_VECTORS, (wholes[scales > 0].tobytes(), json.dumps(numbers), wholes.itemsize * dimensions)
    )
    units, places = _units(made)
    connection.execute(_INSERT_UNITS, (units, json.dumps(places)))
    return state


def _units(made: Sequence[Embedded]) -> tuple[bytes, list[tuple[int, int, int]]]:
    """Return the units of all chunks as bytes, and of each the number, where its bytes begin and how many there are.

    The one unit of a chunk that is the chunk is not kept twice.
    """
    apart = [(each.number, each.vectors.units) for each in made if each.vectors.units is not None]
    if not apart:
        return b"", []
    codes, _ = encode(np.concatenate([units for _, units in apart]))
    places, start = [], 1
    for number, units in apart:
        places.append((number, start, units.size))
        start += units.size
    return codes.tobytes(), places


def _begin_anew(connection: apsw.Connection, state: FileState, dimensions: int) -> FileState:
    """Make room for vectors of this many dimensions; others, which cannot be compared with them, go."""
    if state.dimensions:
        for statement in (
            "DROP TABLE vectors",
            "DELETE FROM blocks",
            "DELETE FROM units",
            "UPDATE chunks SET embedded = 0",
        ):
            connection.execute(statement)
    create_vectors(connection, dimensions)
    return replace(state, dimensions=dimensions)

"""Writes vectors of chunks into an index file, within the caller's transaction."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chunk's number, store and day (ISO 8601 or None), and what was made of it."""

    number: int
    store: str
    day: str | None
    vectors: Vectors


def store_vectors(connection: apsw.Connection, state: FileState, made: Sequence[Embedded]) -> FileState:
    """Store what was made of chunks that have no vectors yet.

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
    connection.executemany(
        "INSERT INTO vectors (rowid, embedding) VALUES (?, ?)",
        [
            (each.number, whole.tobytes())
            for each, whole, scale in zip(made, wholes, scales, strict=True)
            if scale
        ],
    )
    connection.executemany("INSERT INTO units VALUES (?, ?)", _unit_rows(made))
    connection.executemany(
        "UPDATE chunks SET embedded = 1 WHERE number = ?", [(each.number,) for each in made]
    )
    return state


def _unit_rows(made: Sequence[Embedded]) -> list[tuple[int, bytes]]:
    """Return the units of each chunk as bytes; the one unit of a chunk that is the chunk is not kept twice."""
    apart = [(each.number, each.vectors.units) for each in made if each.vectors.units is not None]
    if not apart:
        return []
    codes, _ = encode(np.concatenate([units for _, units in apart]))
    rows, start = [], 0
    for number, units in apart:
        rows.append((number, codes[start : start + len(units)].tobytes()))
        start += len(units)
    return rows


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

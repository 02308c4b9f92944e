"""Makes the vectors that chunks of an index file still lack, while others go on syncing and searching."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import Locked
from workbench.engine.process_lock import process_lock
from workbench.engine.recall.index.embedding import ChunkEmbedder
from workbench.engine.recall.index.schema import ask
from workbench.engine.recall.units import unit_texts

if TYPE_CHECKING:
    from workbench.engine.recall.index.opened import IndexFile
    from workbench.engine.recall.index.prepared import Vectors

_LOCK_SECONDS = 60.0


def embed_pending(
    file: IndexFile,
    embedder: ChunkEmbedder,
    lock: Path,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> None:
    """Embed chunks in the order of their numbers, and store each batch.

    Args:
        file: The index file.
        embedder: Makes vectors.
        lock: The builder's lock, held to store a batch only.
        progress: Called with chunks done and chunks to do.
        cancelled: Asked now and then.

    Raises:
        ProviderError: Vectors cannot be made now; what was made before is stored.
        Locked: Another process has been building for a minute.
    """
    done, total, last = 0, 0, 0
    while not cancelled():
        with file.reading() as connection:
            if not done:
                total = int(ask(connection, "SELECT count(*) FROM chunks WHERE embedded = 0")[0][0])
            rows: list[tuple[int, str]] = ask(
                connection,
                "SELECT number, text FROM chunks JOIN texts USING (number) WHERE embedded = 0 AND number > ?"
                " ORDER BY number LIMIT ?",
                (last, embedder.chunks_at_once),
            )
        if not rows:
            return
        made = embedder.embed([unit_texts(text) for _, text in rows], cancelled=cancelled)
        if made is None:
            return
        with process_lock(lock, _LOCK_SECONDS) as alone:
            if not alone:
                raise Locked(
                    "Another process has been building the search index for a minute.",
                    where=str(lock),
                    remedy="Try again when it is done.",
                )
            _store(file, {number: each for (number, _), each in zip(rows, made, strict=True)})
        last = rows[-1][0]
        done += len(rows)
        progress(done, max(done, total))


def _store(file: IndexFile, made: dict[int, Vectors]) -> None:
    """Store vectors of those chunks that are still there and still lack them."""
    from workbench.engine.recall.index.store_vectors import Embedded, store_vectors

    with file.change() as (connection, state, left):
        rows = ask(
            connection,
            "SELECT number, store, day FROM chunks WHERE embedded = 0"
            " AND number IN (SELECT value FROM json_each(?)) ORDER BY number",
            (json.dumps(list(made)),),
        )
        if rows:
            left.append(
                store_vectors(
                    connection,
                    state,
                    [Embedded(number, store, day, made[number]) for number, store, day in rows],
                )
            )
            connection.executemany(
                "UPDATE chunks SET embedded = 1 WHERE number = ?", [(row[0],) for row in rows]
            )

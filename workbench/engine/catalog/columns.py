"""What is known of all memories of some stores, column by column and without their texts."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from workbench.engine.catalog.catalog import Catalog


@dataclass(frozen=True)
class MemoryColumns:
    """Memories in the order of files and lines; see `MemoryRecord`. All columns are equally long.

    Args:
        entities: Ids of the entities that each names, or that it is; of one that was merged, its keeper's.
    """

    ids: tuple[str, ...]
    stores: tuple[str, ...]
    sources: tuple[str, ...]
    moments: tuple[datetime | None, ...]
    pinned: tuple[bool, ...]
    titles: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    entities: tuple[tuple[str, ...], ...]


def memory_columns(catalog: Catalog, stores: Collection[str]) -> MemoryColumns:
    """Return the columns of all memories of some stores, as fresh as the catalog's last synchronisation.

    Args:
        catalog: The catalog to ask.
        stores: Names of stores.
    """
    rows = catalog.rows(
        # Nearly all of them are wanted: faster through the table than through an index.
        "SELECT id, store, source, moment, pinned, title, tags FROM memories NOT INDEXED"
        " WHERE store IN (SELECT value FROM json_each(?)) ORDER BY path, start_line, number",
        (json.dumps(sorted(stores)),),
    )
    named = _entities_named(catalog)
    moments = {text: datetime.fromisoformat(text) if text else None for text in {row[3] for row in rows}}
    tags_by_text = {text: tuple(json.loads(text)) for text in {row[6] for row in rows}}
    return MemoryColumns(
        ids=tuple([row[0] for row in rows]),
        stores=tuple([row[1] for row in rows]),
        sources=tuple([row[2] for row in rows]),
        moments=tuple([moments[row[3]] for row in rows]),
        pinned=tuple([row[4] == 1 for row in rows]),
        titles=tuple([row[5] for row in rows]),
        tags=tuple([tags_by_text[row[6]] for row in rows]),
        entities=tuple([(row[0],) if row[1] == "semantic" else named.get(row[0], ()) for row in rows]),
    )


def _entities_named(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return the entities that memories link to which are none themselves, by the memory's id."""
    keepers = dict(catalog.rows("SELECT id, merged_into FROM entities WHERE merged_into IS NOT NULL"))
    # “;” is the character after “:”. Most links lead to entities, so an index by target (“+” forbids it) only delays.
    links = catalog.rows(
        "SELECT source, target FROM links WHERE (source < 'entity:' OR source >= 'entity;')"
        " AND +target >= 'entity:' AND +target < 'entity;' ORDER BY file, place"
    )
    found: dict[str, dict[str, None]] = {}
    for source, target in links:
        entity = target.partition("#")[0]
        found.setdefault(source, {})[keepers.get(entity, entity)] = None
    return {source: tuple(entities) for source, entities in found.items()}

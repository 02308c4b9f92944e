"""The catalog: a derived view of every memory file, in SQLite outside the workspace."""

from workbench.engine.catalog.catalog import Catalog, Synced
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.catalog.model import (
    EdgeRecord,
    EntityMatch,
    EntityRecord,
    FactRecord,
    MemoryRecord,
)
from workbench.engine.catalog.timeline_filter import TimelineFilter, parse_filter

__all__ = [
    "Catalog",
    "EdgeRecord",
    "EntityMatch",
    "EntityRecord",
    "FactRecord",
    "Lookups",
    "MemoryRecord",
    "Synced",
    "TimelineFilter",
    "parse_filter",
]

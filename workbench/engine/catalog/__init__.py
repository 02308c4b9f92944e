"""The catalog: a derived view of every memory file, in SQLite outside the workspace.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog, Synced
    from workbench.engine.catalog.knowledge_graph import Followed, KnowledgeGraph
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.model import (
        EdgeRecord,
        EntityMatch,
        EntityRecord,
        EntityStory,
        FactRecord,
        MemoryRecord,
    )
    from workbench.engine.catalog.timeline_filter import TimelineFilter, parse_filter

_HOME: Final = {
    "Catalog": "catalog",
    "EdgeRecord": "model",
    "EntityMatch": "model",
    "EntityRecord": "model",
    "EntityStory": "model",
    "FactRecord": "model",
    "Followed": "knowledge_graph",
    "KnowledgeGraph": "knowledge_graph",
    "Lookups": "lookups",
    "MemoryRecord": "model",
    "Synced": "catalog",
    "TimelineFilter": "timeline_filter",
    "parse_filter": "timeline_filter",
}

__all__ = [
    "Catalog",
    "EdgeRecord",
    "EntityMatch",
    "EntityRecord",
    "EntityStory",
    "FactRecord",
    "Followed",
    "KnowledgeGraph",
    "Lookups",
    "MemoryRecord",
    "Synced",
    "TimelineFilter",
    "parse_filter",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

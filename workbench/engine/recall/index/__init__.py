"""The search index: chunks of memories with their terms and vectors, in SQLite outside the workspace.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.recall.index.answers import IndexState, IndexSync
    from workbench.engine.recall.index.index import Index
    from workbench.engine.recall.index.opened import IndexLost
    from workbench.engine.recall.index.shape import Shape
    from workbench.engine.recall.index.snapshot import Snapshot

_HOME: Final = {
    "Index": "index",
    "IndexLost": "opened",
    "IndexState": "answers",
    "IndexSync": "answers",
    "Shape": "shape",
    "Snapshot": "snapshot",
}

__all__ = ["Index", "IndexLost", "IndexState", "IndexSync", "Shape", "Snapshot"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

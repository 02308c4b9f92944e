"""What the engine answers: frozen values, and the one rule that turns them into the JSON of the contracts.

Field names are the JSON's keys in snake case; `to_json` writes them in camel case, times as ISO 8601 in
UTC, absent values as null. A module of results that is asked for by `results.audit` is loaded then: making the
classes of all of them takes a tenth of a second, and most commands answer with few.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.results import (
        audit,
        decay,
        graph,
        memories,
        recall,
        reviews,
        sessions,
        status,
        transfer,
    )

__all__ = ["audit", "decay", "graph", "memories", "recall", "reviews", "sessions", "status", "transfer"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

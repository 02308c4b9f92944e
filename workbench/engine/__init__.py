"""The headless engine: agent memory that people can see, correct and trust.

    from workbench.engine import Workspace

    with Workspace.open("~/agent") as memory:
        memory.remember("Sam reviews the backend on Thursdays")

Names are loaded on first use, so that importing the engine is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.clock import Clock, FixedClock, SystemClock
    from workbench.engine.errors import WorkbenchError
    from workbench.engine.results import to_json
    from workbench.engine.workspace import Workspace

_HOME: Final = {
    "Clock": "clock",
    "FixedClock": "clock",
    "SystemClock": "clock",
    "WorkbenchError": "errors",
    "Workspace": "workspace",
    "to_json": "results",
}

__all__ = ["Clock", "FixedClock", "SystemClock", "WorkbenchError", "Workspace", "to_json"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"workbench.engine.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

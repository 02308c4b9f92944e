"""Owns the one way to change a workspace: transactions, and the git history behind them.

Names are loaded when first used: a planner needs `plan` alone, and reading core memory nothing at all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.history.adoption import Adopted
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import (
        Action,
        Attribution,
        Event,
        FileChange,
        FileView,
        Plan,
        Planner,
        Receipt,
    )
    from workbench.engine.history.projecting import Projection
    from workbench.engine.history.transaction import Writing

_HOME: Final = {
    "Action": "plan",
    "Adopted": "adoption",
    "Attribution": "plan",
    "Event": "plan",
    "FileChange": "plan",
    "FileView": "plan",
    "History": "history",
    "Plan": "plan",
    "Planner": "plan",
    "Projection": "projecting",
    "Receipt": "plan",
    "Writing": "transaction",
}

__all__ = [
    "Action",
    "Adopted",
    "Attribution",
    "Event",
    "FileChange",
    "FileView",
    "History",
    "Plan",
    "Planner",
    "Projection",
    "Receipt",
    "Writing",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

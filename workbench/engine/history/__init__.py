"""Owns the one way to change a workspace: transactions, and the git history behind them."""

from workbench.engine.history.history import History, Projection
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

__all__ = [
    "Action",
    "Attribution",
    "Event",
    "FileChange",
    "FileView",
    "History",
    "Plan",
    "Planner",
    "Projection",
    "Receipt",
]

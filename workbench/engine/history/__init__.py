"""Owns the one way to change a workspace: transactions, and the git history behind them."""

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
from workbench.engine.history.transaction import Projection, Writing

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

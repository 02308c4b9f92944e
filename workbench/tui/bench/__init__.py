"""Owns what the bench asks of the engine: every call a pane makes, and the frozen answers it draws."""

from __future__ import annotations

from workbench.tui.bench.answers import (
    Alert,
    AuditEntry,
    Change,
    CoreBlock,
    CoreItem,
    CoreMemory,
    Episode,
    FileChange,
    HistoryEntry,
    Link,
    Memory,
    Outcome,
    Score,
    Status,
)
from workbench.tui.bench.calls import Bench

__all__ = [
    "Alert",
    "AuditEntry",
    "Bench",
    "Change",
    "CoreBlock",
    "CoreItem",
    "CoreMemory",
    "Episode",
    "FileChange",
    "HistoryEntry",
    "Link",
    "Memory",
    "Outcome",
    "Score",
    "Status",
]

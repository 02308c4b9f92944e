"""What the engine answers: frozen values, and the one rule that turns them into the JSON of the contracts.

Field names are the JSON's keys in snake case; `to_json` writes them in camel case, times as ISO 8601 in
UTC, absent values as null. Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.results.audit import (
        Alert,
        Alerts,
        AuditEntry,
        AuditLog,
        Blame,
        BlameLine,
        CommitView,
        DiffView,
        FileDiff,
        FileVersion,
        Moment,
        Verified,
        VerifyProblem,
    )
    from workbench.engine.results.core import (
        CoreBlock,
        CoreItem,
        CoreView,
    )
    from workbench.engine.results.decay import (
        DecayEntry,
        DecayView,
    )
    from workbench.engine.results.graph import (
        GraphEdge,
        GraphFact,
        GraphNode,
        GraphView,
    )
    from workbench.engine.results.json_shape import (
        camel_case,
        to_json,
    )
    from workbench.engine.results.memories import (
        Changed,
        EntityRef,
        Excerpt,
        Forgotten,
        HeldBack,
        HistoryEntry,
        Links,
        Match,
        MessageOutcome,
        RelationRef,
        Remembered,
        Score,
        Shown,
        Timeline,
        TimelineEntry,
        Validity,
    )
    from workbench.engine.results.recall import (
        Cut,
        Explanation,
        Found,
        Hit,
        IndexStatus,
        Lane,
        Signals,
        WhyNot,
    )
    from workbench.engine.results.standing import (
        Brief,
        Check,
        Diagnosis,
    )

_HOME: Final = {
    "Alert": "audit",
    "Alerts": "audit",
    "AuditEntry": "audit",
    "AuditLog": "audit",
    "Blame": "audit",
    "BlameLine": "audit",
    "Brief": "standing",
    "Changed": "memories",
    "Check": "standing",
    "CommitView": "audit",
    "CoreBlock": "core",
    "CoreItem": "core",
    "CoreView": "core",
    "Cut": "recall",
    "DecayEntry": "decay",
    "DecayView": "decay",
    "Diagnosis": "standing",
    "DiffView": "audit",
    "EntityRef": "memories",
    "Excerpt": "memories",
    "Explanation": "recall",
    "FileDiff": "audit",
    "FileVersion": "audit",
    "Forgotten": "memories",
    "Found": "recall",
    "GraphEdge": "graph",
    "GraphFact": "graph",
    "GraphNode": "graph",
    "GraphView": "graph",
    "HeldBack": "memories",
    "HistoryEntry": "memories",
    "Hit": "recall",
    "IndexStatus": "recall",
    "Lane": "recall",
    "Links": "memories",
    "Match": "memories",
    "MessageOutcome": "memories",
    "Moment": "audit",
    "RelationRef": "memories",
    "Remembered": "memories",
    "Score": "memories",
    "Shown": "memories",
    "Signals": "recall",
    "Timeline": "memories",
    "TimelineEntry": "memories",
    "Validity": "memories",
    "Verified": "audit",
    "VerifyProblem": "audit",
    "WhyNot": "recall",
    "camel_case": "json_shape",
    "to_json": "json_shape",
}

__all__ = [
    "Alert",
    "Alerts",
    "AuditEntry",
    "AuditLog",
    "Blame",
    "BlameLine",
    "Brief",
    "Changed",
    "Check",
    "CommitView",
    "CoreBlock",
    "CoreItem",
    "CoreView",
    "Cut",
    "DecayEntry",
    "DecayView",
    "Diagnosis",
    "DiffView",
    "EntityRef",
    "Excerpt",
    "Explanation",
    "FileDiff",
    "FileVersion",
    "Forgotten",
    "Found",
    "GraphEdge",
    "GraphFact",
    "GraphNode",
    "GraphView",
    "HeldBack",
    "HistoryEntry",
    "Hit",
    "IndexStatus",
    "Lane",
    "Links",
    "Match",
    "MessageOutcome",
    "Moment",
    "RelationRef",
    "Remembered",
    "Score",
    "Shown",
    "Signals",
    "Timeline",
    "TimelineEntry",
    "Validity",
    "Verified",
    "VerifyProblem",
    "WhyNot",
    "camel_case",
    "to_json",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

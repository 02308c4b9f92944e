"""What a message asks of memory, and where a memory belongs (design document §8).

The names below are loaded when first used: most commands need none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.triggers.detection import detect, detect_all
    from workbench.engine.triggers.model import (
        Detection,
        EntityMention,
        FactStatement,
        NameLookup,
        ProcedureOutline,
        RelationMention,
        Routing,
        RoutingHints,
    )
    from workbench.engine.triggers.model_routing import route_by_model
    from workbench.engine.triggers.phrases import PhraseBook, load_phrases
    from workbench.engine.triggers.rules import route_by_rules

__all__ = [
    "Detection",
    "EntityMention",
    "FactStatement",
    "NameLookup",
    "PhraseBook",
    "ProcedureOutline",
    "RelationMention",
    "Routing",
    "RoutingHints",
    "detect",
    "detect_all",
    "load_phrases",
    "route_by_model",
    "route_by_rules",
]

_MODULES = {
    "PhraseBook": "phrases",
    "detect": "detection",
    "detect_all": "detection",
    "load_phrases": "phrases",
    "route_by_model": "model_routing",
    "route_by_rules": "rules",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'model')}"), name)
    globals()[name] = value
    return value

"""What a message asks of memory, and where a memory belongs (design document §8)."""

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
from workbench.engine.triggers.phrases import PhraseBook, load_phrases

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
]

"""What a message asks of memory, and where a memory belongs (design document §8)."""

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

__all__ = [
    "Detection",
    "EntityMention",
    "FactStatement",
    "NameLookup",
    "ProcedureOutline",
    "RelationMention",
    "Routing",
    "RoutingHints",
]

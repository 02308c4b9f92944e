"""Ranks what the index finds for a question, and can say why each result stands where it does."""

from workbench.engine.recall.ranking.graph import EntityGraph, GraphLane, Reached
from workbench.engine.recall.ranking.options import Options
from workbench.engine.recall.ranking.searching import Search

__all__ = ["EntityGraph", "GraphLane", "Options", "Reached", "Search"]

"""Extraction: what a log teaches, found by rules alone: entities, facts, relations, merges and ways of working."""

from workbench.engine.reflection.extraction.knowledge import extract_knowledge
from workbench.engine.reflection.extraction.working import find_procedures

__all__ = ["extract_knowledge", "find_procedures"]

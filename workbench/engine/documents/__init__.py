"""The file formats of an agent's memory: lossless parse, edit and render, one module for each kind of file.

Every document has `parse(content, path)` that takes any bytes and never raises, `render()` that gives back
the very bytes, `problems` for parts that cannot be read, and edits that return a new document and change only
their lines. Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.documents.annotations import (
        Annotation,
        read_annotations,
        strip_comments,
        trailing_comments,
    )
    from workbench.engine.documents.audit_digest import AuditArchive, MonthlyDigest
    from workbench.engine.documents.audit_log import (
        AuditLine,
        AuditLogFile,
        iterate_audit_backwards,
        parse_audit_fields,
        parse_audit_line,
        read_audit_tail,
        render_audit_fields,
        render_audit_line,
    )
    from workbench.engine.documents.core import CORE_BLOCKS, CoreBlock, CoreItem, CoreMemory
    from workbench.engine.documents.daily import DailyEntry, DailyLog, Turn
    from workbench.engine.documents.decay_scores import DecayScores, ScoreEntry
    from workbench.engine.documents.entity import Dated, EntityFile, Fact, Question, Relation
    from workbench.engine.documents.episodes import EpisodeEntry, EpisodeLog
    from workbench.engine.documents.evolution import Evolution, Insight
    from workbench.engine.documents.graph_index import (
        GraphIndex,
        IndexedEdge,
        IndexedEntity,
        render_graph_index,
        update_graph_index,
    )
    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.documents.outline import (
        Comment,
        Fence,
        Heading,
        ListItem,
        Outline,
        find_front_matter,
        read_headings,
        read_outline,
    )
    from workbench.engine.documents.pending_memories import PendingMemories
    from workbench.engine.documents.pending_reflection import PendingReflection, ReviewSection
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.procedure import Procedure
    from workbench.engine.documents.reflection_log import ReflectionLog, ReflectionRecord
    from workbench.engine.documents.rejected import RejectedClaim, RejectedClaims
    from workbench.engine.documents.relations import RelationType, RelationVocabulary, canonical_relation
    from workbench.engine.documents.review_item import Decision, Evidence, ReviewItem
    from workbench.engine.documents.source import LineSpan, SourceText, clean_text, text_lines
    from workbench.engine.documents.statement import (
        Provenance,
        Statement,
        new_block_id,
        parse_statement,
        render_statement,
    )
    from workbench.engine.documents.template import TEMPLATES, load_template
    from workbench.engine.documents.vault import VaultNote

_HOME: Final = {
    "Annotation": "annotations",
    "AuditArchive": "audit_digest",
    "AuditLine": "audit_log",
    "AuditLogFile": "audit_log",
    "CORE_BLOCKS": "core",
    "Comment": "outline",
    "CoreBlock": "core",
    "CoreItem": "core",
    "CoreMemory": "core",
    "DailyEntry": "daily",
    "DailyLog": "daily",
    "Dated": "entity_parts",
    "DecayScores": "decay_scores",
    "Decision": "review_item",
    "EntityFile": "entity",
    "EpisodeEntry": "episodes",
    "EpisodeLog": "episodes",
    "Evidence": "review_item",
    "Evolution": "evolution",
    "Fact": "entity_parts",
    "Fence": "outline",
    "GraphIndex": "graph_index",
    "Heading": "outline",
    "IndexedEdge": "graph_index",
    "IndexedEntity": "graph_index",
    "Insight": "evolution",
    "LineSpan": "source",
    "ListItem": "outline",
    "MemoryProposal": "memory_proposal",
    "MonthlyDigest": "audit_digest",
    "Outline": "outline",
    "PendingMemories": "pending_memories",
    "PendingReflection": "pending_reflection",
    "Problem": "problems",
    "Procedure": "procedure",
    "Provenance": "statement",
    "Question": "entity_parts",
    "ReflectionLog": "reflection_log",
    "ReflectionRecord": "reflection_log",
    "RejectedClaim": "rejected",
    "RejectedClaims": "rejected",
    "Relation": "entity_parts",
    "RelationType": "relations",
    "RelationVocabulary": "relations",
    "ReviewItem": "review_item",
    "ReviewSection": "pending_reflection",
    "ScoreEntry": "decay_scores",
    "SourceText": "source",
    "Statement": "statement",
    "TEMPLATES": "template",
    "Turn": "daily",
    "VaultNote": "vault",
    "canonical_relation": "relations",
    "clean_text": "source",
    "find_front_matter": "outline",
    "iterate_audit_backwards": "audit_log",
    "load_template": "template",
    "new_block_id": "statement",
    "parse_audit_fields": "audit_log",
    "parse_audit_line": "audit_log",
    "parse_statement": "statement",
    "read_annotations": "annotations",
    "read_audit_tail": "audit_log",
    "read_headings": "outline",
    "read_outline": "outline",
    "render_audit_fields": "audit_log",
    "render_audit_line": "audit_log",
    "render_graph_index": "graph_index",
    "render_statement": "statement",
    "strip_comments": "annotations",
    "text_lines": "source",
    "trailing_comments": "annotations",
    "update_graph_index": "graph_index",
}

__all__ = [
    "CORE_BLOCKS",
    "TEMPLATES",
    "Annotation",
    "AuditArchive",
    "AuditLine",
    "AuditLogFile",
    "Comment",
    "CoreBlock",
    "CoreItem",
    "CoreMemory",
    "DailyEntry",
    "DailyLog",
    "Dated",
    "DecayScores",
    "Decision",
    "EntityFile",
    "EpisodeEntry",
    "EpisodeLog",
    "Evidence",
    "Evolution",
    "Fact",
    "Fence",
    "GraphIndex",
    "Heading",
    "IndexedEdge",
    "IndexedEntity",
    "Insight",
    "LineSpan",
    "ListItem",
    "MemoryProposal",
    "MonthlyDigest",
    "Outline",
    "PendingMemories",
    "PendingReflection",
    "Problem",
    "Procedure",
    "Provenance",
    "Question",
    "ReflectionLog",
    "ReflectionRecord",
    "RejectedClaim",
    "RejectedClaims",
    "Relation",
    "RelationType",
    "RelationVocabulary",
    "ReviewItem",
    "ReviewSection",
    "ScoreEntry",
    "SourceText",
    "Statement",
    "Turn",
    "VaultNote",
    "canonical_relation",
    "clean_text",
    "find_front_matter",
    "iterate_audit_backwards",
    "load_template",
    "new_block_id",
    "parse_audit_fields",
    "parse_audit_line",
    "parse_statement",
    "read_annotations",
    "read_audit_tail",
    "read_headings",
    "read_outline",
    "render_audit_fields",
    "render_audit_line",
    "render_graph_index",
    "render_statement",
    "strip_comments",
    "text_lines",
    "trailing_comments",
    "update_graph_index",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""`memory/meta/decay-scores.json`: what cannot be derived about each memory's decay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.documents.problems import Problem


@dataclass(frozen=True, slots=True)
class ScoreEntry:
    """One memory's entry (design document §9.3).

    Args:
        store: core, episodic, semantic, procedural or vault.
        base_relevance: 0 to 1.
        created: ISO 8601 time as written; empty where missing.
        last_accessed: ISO 8601 time as written; empty where missing.
        access_count: From 1.
        type_weight: Multiplier of the store.
        current_score: The score when it was last computed; for people.
        status: active, fading, dormant or archived.
        extra: Further keys with their JSON values, in their order.
    """

    store: str
    base_relevance: float
    created: str
    last_accessed: str
    access_count: int
    type_weight: float
    current_score: float
    status: str = "active"
    pinned: bool = False
    extra: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class DecayScores:
    """The scores file. Edits return a new one; everything they do not name keeps its very bytes.

    Args:
        entries: By memory id, in the file's order.
        extra: Further keys of the outer object with their JSON values, such as `folded` and `checked`.
    """

    path: str
    content: bytes
    version: int
    last_updated: str
    entries: Mapping[str, ScoreEntry]
    problems: tuple[Problem, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/decay-scores.json") -> DecayScores:
        """Read the file. Any bytes will do; an entry that cannot be read is a problem and hides no other."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.content

    def update(
        self,
        changes: Mapping[str, ScoreEntry | None],
        *,
        last_updated: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> DecayScores:
        """Set, add (at the end) or remove (None) entries in one go, and `last_updated` where given.

        `extra` sets or adds further keys of the outer object; those it does not name stay as they are.

        Keys that an entry has in the file and `ScoreEntry.extra` lacks are dropped: carry `extra` over with
        `dataclasses.replace`.

        Raises:
            DocumentError: The file's outer structure is broken, so that writing could lose something.
        """
        raise NotImplementedError

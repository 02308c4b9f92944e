"""`memory/graph/relations.md`: the vocabulary of edges, with their inverses and the workspace's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import SourceText


@dataclass(frozen=True, slots=True)
class RelationType:
    """One kind of edge.

    Args:
        name: In canonical form, `part-of`.
        inverse: The name it has when read from its target, or None where it has none of its own.
        group: The heading it stands under: `Structural`, `Temporal`, `Qualitative` or the workspace's own.
        description: What follows the dash.
        line: Its line in the file, 0 for one of the built-in vocabulary.
    """

    name: str
    inverse: str | None
    group: str
    description: str
    line: int = 0


@dataclass(frozen=True)
class RelationVocabulary:
    """The relation types of a workspace: those of design document §6.3 and what its file adds."""

    path: str
    source: SourceText
    types: tuple[RelationType, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/graph/relations.md") -> RelationVocabulary:
        """Read the file; with empty content the vocabulary is the built-in one alone."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def find(self, name: str) -> RelationType | None:
        """Find a type by its name or its inverse's, tolerant of case, spaces and underscores (`Part of`)."""
        raise NotImplementedError

    def inverse_of(self, name: str) -> str | None:
        """Return the name of the opposite direction (`used-by` for `uses`), or None."""
        raise NotImplementedError

    def add(
        self, name: str, *, inverse: str | None = None, description: str = "", group: str = "Workspace"
    ) -> RelationVocabulary:
        """Add a type; one that is known already changes nothing. Raises `InvalidInput` for an empty name."""
        raise NotImplementedError


def canonical_relation(name: str) -> str:
    """Return a relation's name in canonical form: lower case, words joined by `-`."""
    raise NotImplementedError

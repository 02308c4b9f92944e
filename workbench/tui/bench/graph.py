"""What the bench asks about the knowledge graph, and how it changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.graph import EntityTable, GraphView
    from workbench.tui.bench.answers import Outcome


class GraphCalls(Protocol):
    """Entities, facts and relations."""

    def graph(
        self,
        entity: str,
        *,
        depth: int = 1,
        relations: Sequence[str] = (),
        types: Sequence[str] = (),
        min_score: float = 0.0,
        after: str | None = None,
        before: str | None = None,
    ) -> GraphView:
        """Return an entity with its facts and what lies around it.

        Args:
            entity: Its id or name.
            depth: Hops to follow.
            relations: Follow these alone; all where empty.
            types: Show entities of these types alone, the centre always; all where empty.
            min_score: Show entities of at least this score, 0-1.
            after: Follow relations first seen on this day or later, `2026-02-14`; undated ones always.
            before: Follow relations first seen on this day or earlier; undated ones always.
        """
        ...

    def entities(self) -> EntityTable:
        """Return every entity, quick enough for tens of thousands."""
        ...

    def graph_path(self, start: str, goal: str) -> GraphView:
        """Return a shortest way between two entities; without nodes where there is none."""
        ...

    def graph_relations(self) -> Sequence[str]:
        """Return the relations that the vocabulary knows."""
        ...

    def add_entity(self, type_: str, name: str) -> Outcome:
        """Make an entity."""
        ...

    def rename_entity(self, entity: str, name: str) -> Outcome:
        """Give an entity another name; its id stays."""
        ...

    def add_fact(self, entity: str, text: str) -> Outcome:
        """Add a fact to an entity."""
        ...

    def retire(self, id_: str) -> Outcome:
        """Say that a fact, or a relation, holds no longer."""
        ...

    def link(self, from_: str, relation: str, to: str) -> Outcome:
        """Relate two entities."""
        ...

    def unlink(self, from_: str, relation: str, to: str) -> Outcome:
        """Remove a relation."""
        ...

    def merge(self, keep: str, absorb: str) -> Outcome:
        """Make one entity of two, now."""
        ...

    def propose_merge(self, keep: str, absorb: str) -> Outcome:
        """Put the merge of two entities before a person, in the Inbox."""
        ...

    def unmerge(self, absorbed: str) -> Outcome:
        """Part an absorbed entity again."""
        ...

"""The bench’s calls about the knowledge graph, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.workspace_bench.door import Door

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.graph import EntityTable, GraphView
    from workbench.tui import bench


class WorkspaceGraph(Door):
    """The part of a workspace that is entities, facts and relations."""

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
        """Return an entity with its facts and what lies around it."""
        return self._workspace.graph(
            entity,
            depth=depth,
            relations=relations,
            types=types,
            min_score=min_score,
            after=after,
            before=before,
        )

    def entities(self) -> EntityTable:
        """Return every entity."""
        return self._workspace.graph_entities()

    def graph_path(self, start: str, goal: str) -> GraphView:
        """Return a shortest way between two entities; without nodes where there is none."""
        return self._workspace.graph_path(start, goal)

    def graph_relations(self) -> Sequence[str]:
        """Return the relations that the vocabulary knows."""
        return self._workspace.graph_relations()

    def add_entity(self, type_: str, name: str) -> bench.Outcome:
        """Make an entity."""
        return self._did(f"Added {name}.", self._workspace.graph_add(type_, name))

    def rename_entity(self, entity: str, name: str) -> bench.Outcome:
        """Give an entity another name; its id stays."""
        return self._did(f"It is called {name} now.", self._workspace.graph_rename(entity, name))

    def add_fact(self, entity: str, text: str) -> bench.Outcome:
        """Add a fact to an entity."""
        return self._did("Added the fact.", self._workspace.graph_add_fact(entity, text))

    def retire(self, id_: str) -> bench.Outcome:
        """Say that a fact, or a relation, holds no longer."""
        return self._did("Retired it.", self._workspace.graph_retire(id_))

    def link(self, from_: str, relation: str, to: str) -> bench.Outcome:
        """Relate two entities."""
        return self._did(f"Related them: {relation}.", self._workspace.graph_link(from_, relation, to))

    def unlink(self, from_: str, relation: str, to: str) -> bench.Outcome:
        """Remove a relation."""
        return self._did("Removed the relation.", self._workspace.graph_unlink(from_, relation, to))

    def merge(self, keep: str, absorb: str) -> bench.Outcome:
        """Make one entity of two, now."""
        return self._did("Merged them.", self._workspace.graph_merge(keep, absorb))

    def propose_merge(self, keep: str, absorb: str) -> bench.Outcome:
        """Put the merge of two entities before a person, in the Inbox."""
        changed = self._workspace.graph_propose_merge(keep, absorb)
        return self._did("The merge waits in the Inbox.", changed)

    def unmerge(self, absorbed: str) -> bench.Outcome:
        """Part an absorbed entity again."""
        return self._did("Parted them.", self._workspace.graph_unmerge(absorbed))

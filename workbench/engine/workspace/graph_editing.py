"""Changing the knowledge graph through the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.errors import Ambiguous
from workbench.engine.workspace.changing import Changing
from workbench.engine.workspace.graph_reading import GraphReading

if TYPE_CHECKING:
    from workbench.engine.history import Plan
    from workbench.engine.stores import EntityFiles


class GraphEditing(Changing, GraphReading):
    """Entities and relations as such; facts come in by remembering."""

    def graph_merge(self, keep: str, absorb: str) -> results.Changed:
        """Make everything known about one entity known about another; `graph_unmerge` parts them again.

        Raises:
            NotFound: One of them does not exist.
        """
        from workbench.engine.stores import plan_merge

        return self._change_graph(
            lambda files: plan_merge(files, keep, absorb), f"merge {absorb} into {keep}"
        )

    def graph_unmerge(self, entity: str) -> results.Changed:
        """Let an absorbed entity stand by itself again.

        Args:
            entity: Its id, or its name, which now leads to the entity that absorbed it.

        Raises:
            NotFound: It does not exist.
            InvalidInput: It was not merged.
            Ambiguous: Several absorbed entities may be meant.
        """
        from workbench.engine.stores import plan_unmerge

        absorbed = entity if "--" in entity else self._absorbed(entity)
        return self._change_graph(lambda files: plan_unmerge(files, absorbed), f"unmerge {absorbed}")

    def graph_rename(self, entity: str, name: str) -> results.Changed:
        """Give an entity another name; its id stays, and the old name becomes an alias.

        Raises:
            NotFound: There is no such entity.
        """
        from workbench.engine.stores import plan_rename

        return self._change_graph(lambda files: plan_rename(files, entity, name), f"rename {entity}")

    def graph_link(self, from_: str, relation: str, to: str) -> results.Changed:
        """Add a relation between two entities.

        Raises:
            NotFound: One of them does not exist.
            InvalidInput: The vocabulary does not know the relation.
        """
        from workbench.engine.stores import Origin, plan_link

        origin = Origin(("source:user-explicit",))
        settings = self._ground.settings
        return self._change_graph(
            lambda files: plan_link(files, settings, from_, relation, to, origin),
            f"link {from_} {relation} {to}",
        )

    def graph_unlink(self, from_: str, relation: str, to: str) -> results.Changed:
        """Remove a relation between two entities.

        Raises:
            NotFound: There is no such relation.
        """
        from workbench.engine.stores import plan_unlink

        settings = self._ground.settings
        return self._change_graph(
            lambda files: plan_unlink(files, settings, from_, relation, to), f"unlink {from_} {relation} {to}"
        )

    def graph_add(self, type_: str, name: str) -> results.Changed:
        """Make an entity.

        Args:
            type_: person, project, concept, tool, place or another word.
            name: What it is called.

        Raises:
            InvalidInput: The type or the name is none, or an entity is called so already.
        """
        raise NotImplementedError

    def graph_add_fact(self, entity: str, text: str) -> results.Changed:
        """Add a fact to an entity.

        Raises:
            NotFound: There is no such entity.
        """
        raise NotImplementedError

    def graph_retire(self, id: str) -> results.Changed:  # noqa: A002 - the field's word
        """Say that a fact, or a relation, holds no longer: its line moves under “Superseded”, with today as its end.

        Args:
            id: `entity:type--slug#^block`.

        Raises:
            NotFound: There is no such fact or relation.
        """
        raise NotImplementedError

    def graph_propose_merge(self, keep: str, absorb: str, *, reason: str = "") -> results.Changed:
        """Put the merge of two entities before a person: an item of the proposal that waits, or of a new one.

        Raises:
            NotFound: One of them does not exist.
            InvalidInput: They are the same, or this merge waits already.
        """
        raise NotImplementedError

    def _absorbed(self, name: str) -> str:
        """Return the id of the absorbed entity that a name means: its own name, or that of what absorbed it."""
        from workbench.engine.identifiers import slug

        self._ground.refresh_for_reading()
        lookups = self._ground.lookups
        keeper = self._entity(name).id
        absorbed = lookups.absorbed(keeper)
        called = [one for one in absorbed if (it := lookups.entity(one)) and slug(it.label) == slug(name)]
        meant = called or absorbed
        if len(meant) > 1:
            raise Ambiguous(f"“{name}” may be {', '.join(meant)}.", remedy="Name one of them.")
        return meant[0] if meant else keeper

    def _change_graph(
        self, planner: Callable[[EntityFiles], Plan[results.Changed]], trigger: str
    ) -> results.Changed:
        from workbench.engine.stores import Draft, EntityFiles

        ground = self._ground
        return self._change(
            lambda view: planner(EntityFiles(Draft(view), ground.lookups, ground.now())), trigger
        )

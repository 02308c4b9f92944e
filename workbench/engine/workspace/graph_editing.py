"""Changing the knowledge graph through the door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.agents.roles import Capability
from workbench.engine.errors import Ambiguous
from workbench.engine.results.memories import Changed
from workbench.engine.workspace.changing import Changing
from workbench.engine.workspace.graph_reading import GraphReading

if TYPE_CHECKING:
    from workbench.engine.history.plan import Plan
    from workbench.engine.stores.entities import EntityFiles


class GraphEditing(Changing, GraphReading):
    """Entities and relations as such; facts come in by remembering."""

    def graph_merge(self, keep: str, absorb: str) -> Changed:
        """Make everything known about one entity known about another; `graph_unmerge` parts them again.

        Raises:
            NotFound: One of them does not exist.
        """
        from workbench.engine.stores.merging import plan_merge

        return self._change_graph(
            lambda files: plan_merge(files, keep, absorb), f"merge {absorb} into {keep}"
        )

    def graph_unmerge(self, entity: str) -> Changed:
        """Let an absorbed entity stand by itself again.

        Args:
            entity: Its id, or its name, which now leads to the entity that absorbed it.

        Raises:
            NotFound: It does not exist.
            InvalidInput: It was not merged.
            Ambiguous: Several absorbed entities may be meant.
        """
        from workbench.engine.stores.merging import plan_unmerge

        absorbed = entity if "--" in entity else self._absorbed(entity)
        return self._change_graph(lambda files: plan_unmerge(files, absorbed), f"unmerge {absorbed}")

    def graph_rename(self, entity: str, name: str) -> Changed:
        """Give an entity another name; its id stays, and the old name becomes an alias.

        Raises:
            NotFound: There is no such entity.
        """
        from workbench.engine.stores.graph_changes import plan_rename

        return self._change_graph(lambda files: plan_rename(files, entity, name), f"rename {entity}")

    def graph_link(self, from_: str, relation: str, to: str) -> Changed:
        """Add a relation between two entities.

        Raises:
            NotFound: One of them does not exist.
            InvalidInput: The vocabulary does not know the relation.
        """
        from workbench.engine.stores.graph_changes import plan_link
        from workbench.engine.stores.semantic import Origin

        origin = Origin(("source:user-explicit",))
        settings = self._ground.settings
        return self._change_graph(
            lambda files: plan_link(files, settings, from_, relation, to, origin),
            f"link {from_} {relation} {to}",
        )

    def graph_unlink(self, from_: str, relation: str, to: str) -> Changed:
        """Remove a relation between two entities.

        Raises:
            NotFound: There is no such relation.
        """
        from workbench.engine.stores.graph_changes import plan_unlink

        settings = self._ground.settings
        return self._change_graph(
            lambda files: plan_unlink(files, settings, from_, relation, to), f"unlink {from_} {relation} {to}"
        )

    def graph_add(self, type_: str, name: str) -> Changed:
        """Make an entity.

        Args:
            type_: person, project, concept, tool, place or another word.
            name: What it is called.

        Raises:
            InvalidInput: The type or the name is none, or an entity of that type is called so already.
        """
        from workbench.engine.stores.graph_changes import plan_add

        return self._change_graph(lambda files: plan_add(files, type_, name), f"add {type_} {name}")

    def graph_add_fact(self, entity: str, text: str) -> Changed:
        """Add a fact to an entity.

        Raises:
            NotFound: There is no such entity.
            InvalidInput: The text cannot be kept.
        """
        from workbench.engine.stores.graph_changes import plan_add_fact
        from workbench.engine.stores.semantic import Origin
        from workbench.engine.workspace.reviewing import warnings_of_rejected

        origin = Origin(("source:user-explicit",))
        changed = self._change_graph(
            lambda files: plan_add_fact(files, entity, text, origin), f"add a fact to {entity}"
        )
        warnings = warnings_of_rejected(self._ground, text)
        return replace(changed, warnings=(*changed.warnings, *warnings))

    def graph_retire(self, id: str, *, expected: str | None = None) -> Changed:  # noqa: A002 - the field's word
        """Say that a fact, or a relation, holds no longer: its line moves under “Superseded”, with today as its end.

        Args:
            id: `entity:type--slug#^block`; `file:memory/graph/entities/type--slug.md#L12` for a line without one.
            expected: The text that it had when somebody looked at it.

        Raises:
            NotFound: There is no such fact or relation, or it holds no longer already.
            Stale: It says something else than expected.
        """
        from workbench.engine.stores.graph_changes import plan_retire

        return self._change_graph(lambda files: plan_retire(files, id, expected=expected), f"retire {id}")

    def graph_propose_merge(self, keep: str, absorb: str, *, reason: str = "") -> Changed:
        """Put the merge of two entities before a person: an item of the proposal that waits, or of a new one.

        Raises:
            NotFound: One of them does not exist.
            InvalidInput: They are the same, or this merge waits already.
            Refused: A person rejected this merge, and somebody else proposes it.
        """
        from workbench.engine.reflection.proposing_merges import plan_propose_merge
        from workbench.engine.stores.drafting import Draft
        from workbench.engine.stores.entities import EntityFiles

        ground = self._ground
        person = ground.role.may(Capability.DECIDE_REVIEW)
        by = ground.attribution(f"propose to merge {absorb} into {keep}")
        return self._change(
            lambda view: plan_propose_merge(
                EntityFiles(Draft(view), ground.lookups, ground.now()),
                keep,
                absorb,
                ground.now(),
                reason=reason,
                person=person,
            ),
            by.trigger,
            by=replace(by, approval="pending"),
        )

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

    def _change_graph(self, planner: Callable[[EntityFiles], Plan[Changed]], trigger: str) -> Changed:
        from workbench.engine.stores.drafting import Draft
        from workbench.engine.stores.entities import EntityFiles

        ground = self._ground
        return self._change(
            lambda view: planner(EntityFiles(Draft(view), ground.lookups, ground.now())), trigger
        )

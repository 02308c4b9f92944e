"""Owns what is changed from the graph browser: facts, relations, names; each is one commit and can be undone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from workbench.display.cells import plain
from workbench.engine.errors import InvalidInput
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.navigation import is_memory
from workbench.tui.panes.graph_places import GraphPlace
from workbench.tui.panes.graph_reading import GraphReading
from workbench.tui.panes.on_memories import ON_MEMORIES
from workbench.tui.screens.ask import AskScreen
from workbench.tui.views.graph_entity import RELATION_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.graph import GraphEdge, GraphFact
    from workbench.tui.bench import Outcome
    from workbench.tui.overlays import Overlays
    from workbench.tui.views.graph_entity import Portrait

_NAME = 60
_ON_ITEMS = frozenset({"retire_fact", "remove_relation"})
_ON_ENTITIES = frozenset({"relate", "rename_entity", "part_entities"})


class GraphEditing(GraphReading):
    """Acts on the fact or relation chosen in the detail, or else on the entity under the cursor."""

    BINDINGS: ClassVar = bindings(
        *ON_MEMORIES, commands.AddKnowledge, commands.Relate, commands.RetireFact, commands.RemoveRelation,
        commands.RenameEntity, commands.PartEntities,
    )  # fmt: skip

    # --- what is meant --------------------------------------------------------------------------------------

    def here(self) -> str:
        """Return what the cursor is on: an entity’s id, or the key of a box that stands for several."""
        raise NotImplementedError

    def portrait(self, key: str) -> Portrait:
        """Return all that is known so far about an entity."""
        raise NotImplementedError

    def visit(self, place: GraphPlace, filter_text: str | None = None) -> None:
        """Go to another place."""
        raise NotImplementedError

    def entity_here(self) -> str:
        """Return the id of the entity under the cursor, or an empty string."""
        return key if is_memory(key := self.here()) else ""

    def item_here(self) -> str:
        """Return the link that is chosen in the detail: of a fact, a relation or elsewhere; or an empty string."""
        return self.detail.focused_link if self.is_mounted and self.detail.has_focus else ""

    def edge_here(self) -> GraphEdge | None:
        """Return the relation that is chosen in the detail."""
        link = self.item_here()
        return self.portrait(self.entity_here()).edge(link) if link and self.entity_here() else None

    def fact_here(self) -> GraphFact | None:
        """Return the fact that is chosen in the detail."""
        link = self.item_here()
        return self.portrait(self.entity_here()).fact(link) if link and self.entity_here() else None

    def memory_here(self) -> str:
        """Return the id of the chosen fact or relation, else of the entity under the cursor."""
        item = self.item_here()
        if item.startswith(RELATION_KEY):
            edge = self.edge_here()
            return edge.id if edge is not None else ""
        fact = self.fact_here()
        return fact.id if fact is not None else self.entity_here()

    def subjects(self) -> tuple[str, ...]:
        """Return the ids of the memories that an action is about."""
        if self.list.has_focus:
            return super().subjects()
        return (here,) if (here := self.memory_here()) else ()

    def subject_keys(self) -> tuple[str, ...]:
        """Return the ids to copy."""
        return self.subjects()

    def status_of(self, memory_id: str) -> str:
        """Return an entity’s status, as far as it is known."""
        row = self.row(memory_id)
        return row.status if row is not None else super().status_of(memory_id)

    def name_of(self, memory_id: str) -> str:
        """Return what an entity is called."""
        return self.label(memory_id)

    # --- commands -------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something where the cursor is."""
        if action == "open_source" and self.is_mounted and (fact := self.fact_here()) is not None:
            return bool(_sources(fact)) and not self.is_writing
        if action == "add_knowledge":
            return self.is_mounted and not self.is_writing
        if action in _ON_ENTITIES or action in _ON_ITEMS:
            if not self.is_mounted or self.is_writing:
                return False
            here = self.entity_here()
            if action == "part_entities":
                return bool(here) and bool((view := self.portrait(here).view) and view.absorbed)
            return self._item_means(action) if action in _ON_ITEMS else bool(here)
        return super().check_action(action, parameters)

    def _item_means(self, action: str) -> bool:
        """Tell whether an action on a fact or relation makes sense for what is chosen in the detail."""
        edge = self.edge_here()
        if action == "remove_relation":
            return edge is not None
        fact = self.fact_here()
        return edge is not None or (fact is not None and not fact.retired)

    def _ask(
        self,
        question: str,
        hint: str,
        act: Callable[[str], Outcome],
        check: Callable[[str], str] = lambda _text: "",
    ) -> None:
        """Ask for a line, and do what it is for."""

        def answered(text: str | None) -> None:
            if text is not None and text.strip():
                self.act(partial(act, text.strip()))

        self.app.push_screen(AskScreen(plain(question, 3 * _NAME), hint, check), answered)

    def _called(self, key: str) -> str:
        return plain(self.label(key), _NAME)

    def action_add_knowledge(self) -> None:
        here = self.entity_here()
        if self.list.has_focus or not here:
            self._add_entity()
        else:
            self._ask(
                f"What is true of {self._called(here)}?",
                "a fact in one sentence",
                partial(self.bench.add_fact, here),
            )

    def _add_entity(self) -> None:
        added: list[str] = []

        def add(text: str) -> Outcome:
            kind, _, name = text.partition(":")
            outcome = self.bench.add_entity(kind.strip(), name.strip())
            added.extend(outcome.ids[:1])
            return outcome

        def show() -> None:
            if added:
                self.visit(GraphPlace("around", added[0]), "")

        def answered(text: str | None) -> None:
            if text is not None:
                self.act(partial(add, text), show)

        self.app.push_screen(AskScreen("Who or what is new?", "person: Mira Okafor", _check_entity), answered)

    def action_rename_entity(self) -> None:
        here = self.entity_here()
        self._ask(
            f"What is {self._called(here)} called from now on?",
            "its old name still leads to it",
            partial(self.bench.rename_entity, here),
        )

    def action_retire_fact(self) -> None:
        item, edge = self.item_here(), self.edge_here()
        if edge is None:
            self.act(partial(self.bench.retire, item))
        elif edge.id:
            self.act(partial(self.bench.retire, edge.id))
        else:
            error = InvalidInput(
                "This relation was written without an id, so it cannot be retired by itself.",
                remedy="Remove it with X, or edit its file.",
            )
            self.post_message(self.Done(None, error))

    def action_remove_relation(self) -> None:
        edge = self.edge_here()
        if edge is not None:
            self.act(partial(self.bench.unlink, edge.from_, edge.relation, edge.to))

    async def action_relate(self) -> None:
        from workbench.tui.screens.pick import PickScreen, WordScreen

        here = self.entity_here()
        name = self._called(here)

        def chosen(relation: str | None) -> None:
            if not relation:
                return

            def picked(other: str | None) -> None:
                if other:
                    self.act(partial(self.bench.link, here, relation, other))

            self.app.push_screen(PickScreen(self.bench, f"{name} {relation} whom or what?", (here,)), picked)

        self.app.push_screen(WordScreen(self._relations, f"How does {name} relate to another?"), chosen)

    async def action_part_entities(self) -> None:
        from workbench.tui.screens.pick import WordScreen

        view = self.portrait(self.entity_here()).view
        absorbed = view.absorbed if view is not None else ()

        def chosen(one: str | None) -> None:
            if one:
                self.act(partial(self.bench.unmerge, one))

        if len(absorbed) == 1:
            chosen(absorbed[0])
        elif absorbed:
            self.app.push_screen(WordScreen(absorbed, "Which one is to stand by itself again?"), chosen)

    def action_open_source(self) -> None:
        fact = self.fact_here()
        if fact is None:
            super().action_open_source()
        elif found := _sources(fact):
            self.post_message(self.GoTo(found[0]))

    def open_item(self, memory_id: str) -> None:
        """Show a fact by itself, with all that is known about it."""
        cast("Overlays", self.app).show_memory(memory_id)


def _sources(fact: GraphFact) -> list[str]:
    """Return the memories that a fact comes from."""
    return [each for each in fact.provenance if is_memory(each)]


def _check_entity(text: str) -> str:
    kind, colon, name = text.partition(":")
    if not colon or not kind.strip() or not name.strip():
        return "A type, a colon and a name: person: Mira Okafor"
    return ""

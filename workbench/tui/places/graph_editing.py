"""Changes entities: facts, relations and names are asked for in one line, a merge is shown before it is made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.display.card import Beside, Card, Section
from workbench.display.entity import center_of, name_of_absorbed, own_edges
from workbench.display.ink import Span, ink
from workbench.display.markdown import bare
from workbench.display.words import counted
from workbench.engine.identifiers import ENTITY_TYPES
from workbench.tui.verbs import graph as verbs_graph
from workbench.tui.verbs.graph import Entity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.display.ink import Line
    from workbench.engine.results.graph import EntityRow, GraphView
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.editing import Complete
    from workbench.tui.frame.screen import Frame
    from workbench.tui.verbs.act import Act

_MOST_OFFERED = 200


class Names:
    """What entities are called, to be written and completed."""

    def __init__(self, rows: Sequence[EntityRow]) -> None:
        self._ids: dict[str, list[str]] = {}
        self._shown: dict[str, str] = {}
        for row in rows:
            for name in (row.label, *row.aliases):
                self._ids.setdefault(name.casefold(), []).append(row.id)
                self._shown.setdefault(name.casefold(), name)

    def complete(self, text: str) -> list[str]:
        """Return the names that a text begins, or else that have it in them."""
        wanted = text.casefold()
        begun = [name for key, name in self._shown.items() if key.startswith(wanted)]
        found = begun or [name for key, name in self._shown.items() if wanted in key]
        return sorted(found, key=str.casefold)[:_MOST_OFFERED]

    def find(self, text: str, besides: str) -> str:
        """Return the id of the entity that a text names, other than one; or the sentence why it names none."""
        wanted = text.strip().casefold()
        ids = [text.strip()] if text.startswith("entity:") else list(dict.fromkeys(self._ids.get(wanted, ())))
        if not ids:
            found = self.complete(text.strip())
            ids = self._ids[found[0].casefold()] if len(found) == 1 else []
            if not ids:
                many = f"{len(found)} names have “{text}” in them" if found else f"Nothing is called “{text}”"
                return f"{many}; tab completes."
        others = [each for each in ids if each != besides]
        if not others:
            return "That is the same one."
        return (
            others[0]
            if len(others) == 1
            else f"“{text}” is the name of {len(others)}; mark the two rows instead."
        )


class GraphEditing:
    """Asks for what a change needs, and makes it.

    Args:
        names: What entities are called now.
        relations: What relations may be called.
    """

    def __init__(self, frame: Frame, names: Names, relations: Sequence[str]) -> None:
        self._frame = frame
        self._names = names
        self._relations = relations

    def _ask(
        self,
        title: str,
        act: Callable[[str], Act | str | None],
        initial: str = "",
        complete: Complete | None = None,
    ) -> None:
        def take(text: str) -> Act | str | None:
            return act(text.strip()) if text.strip() else "Nothing is written yet; esc leaves it."

        self._frame.editing.ask(title, initial, complete, take=take)

    def add_fact(self, entity: Entity) -> None:
        """Ask what is true of an entity."""
        self._ask(f"New fact about {entity.title}", partial(verbs_graph.add_fact, entity))

    def add_entity(self) -> None:
        """Ask who or what is new."""

        def take(text: str) -> Act | str:
            kind, colon, name = (part.strip() for part in text.partition(":"))
            if not (kind and colon and name):
                return "Write a type, a colon and a name, such as person: Mira Okafor."
            return verbs_graph.add_entity(kind, name)

        self._ask(
            "New entity",
            take,
            complete=lambda text: [f"{each}: " for each in ENTITY_TYPES if each.startswith(text)],
        )

    def rename(self, entity: Entity) -> None:
        """Ask what an entity is called from now on."""
        self._ask(f"Rename {entity.title} to", partial(verbs_graph.rename, entity), entity.title)

    def link(self, entity: Entity) -> None:
        """Ask for a relation, and then to what."""

        def take(relation: str) -> str | None:
            if relation not in self._relations:
                return f"“{relation}” is no relation of this workspace; tab lists them."
            self.pick(
                f"{entity.title} {relation}",
                entity,
                lambda other, name: verbs_graph.link(entity, relation, other, name),
            )
            return None

        self._ask(
            f"How is {entity.title} related",
            take,
            complete=lambda text: [each for each in self._relations if each.startswith(text)],
        )

    def pick(self, title: str, besides: Entity, act: Callable[[str, str], Act | str | None]) -> None:
        """Ask for the name of another entity; `act` is given its id and what was written."""

        def take(text: str) -> Act | str | None:
            found = self._names.find(text, besides.id)
            return act(found, text) if found.startswith("entity:") else found

        self._ask(title, take, complete=self._names.complete)

    def merge(self, entities: Sequence[Entity], cursor: str) -> None:
        """Show what two entities come to as one, and ask; one that was merged before is taken apart."""
        if len(entities) == 2:
            keep, absorb = sorted(entities, key=lambda each: (each.id != cursor, -each.links))
            self._preview(keep, absorb)
        elif len(entities) == 1:
            self._frame.reading.read(
                "merge", lambda workspace: workspace.graph(entities[0].id, depth=0),
                partial(self._merge_one, entities[0]),
            )  # fmt: skip
        else:
            self._frame.say("Two are merged at a time; mark two rows.")

    def _merge_one(self, entity: Entity, view: GraphView) -> None:
        if view.absorbed:
            last = view.absorbed[-1]
            self._frame.begin(verbs_graph.unmerge(last, name_of_absorbed(view, last)))
            return

        def take(other: str, name: str) -> None:
            self._preview(entity, Entity(other, "semantic", name))

        self.pick(f"Merge into {entity.title}", entity, take)

    def _preview(self, keep: Entity, absorb: Entity) -> None:
        def read(workspace: Workspace) -> Card:
            return merge_card(workspace.graph(keep.id, depth=1), workspace.graph(absorb.id, depth=1))

        def show(card: Card) -> None:
            self._frame.show_card(card)
            self._frame.begin(verbs_graph.merge(keep, absorb))

        self._frame.reading.read("merge", read, show)


def merge_card(keep: GraphView, absorb: GraphView) -> Card:
    """Return what two entities would come to as one."""
    one, other = center_of(keep), center_of(absorb)
    names = tuple(node.label if node is not None else "" for node in (one, other))
    held = {bare(fact.text).casefold() for fact in keep.facts}
    same = sum(bare(fact.text).casefold() in held for fact in absorb.facts)
    facts = len(keep.facts) + len(absorb.facts) - same
    told = f", {same} of them the same" if same else ""
    effect = (
        (ink(f"one entity, {names[0]}, with {facts} facts{told}"),),
        (ink(f"“{names[1]}” becomes another name of it"),),
        (Span("⸨merge⸩ on it takes them apart again", "soft"),),
    )
    return Card(
        "Merge",
        f"{names[1]} is merged into {names[0]}",
        (Span("to keep the other one, put the cursor on it and press ⸨merge⸩ again", "soft"),),
        (Beside(_side(keep, names[0]), _side(absorb, names[1])), Section("EFFECT", effect)),
    )


def _side(view: GraphView, name: str) -> Section:
    lines: list[Line] = [(Span("· ", "faint"), ink(bare(fact.text))) for fact in view.facts]
    count = len(own_edges(view))
    lines.append((Span("  "), ink(counted(count, "relation"), "soft")))
    return Section(name.upper()[:40], tuple(lines), hangs=1)

"""What keys act on in the graph, and what is done to it: entities, their facts and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.words import quoted
from workbench.engine.values import dataclass
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.memories import Memory, pin, reinforce

if TYPE_CHECKING:
    from workbench.engine.results.memories import Changed
    from workbench.engine.workspace import Workspace

GROUP = "group:"
_WALK_TO_ONE = "Press ⸨open⸩ and go down to a fact or relation first."
# Where the engine's warnings go on about the command line, and what they say before it is enough.
_AT_THE_SHELL = (" Take it out with:", " Part them with:", " Find its id with:", " List them with:")


@dataclass(frozen=True)
class Entity(Memory):
    """A person, project or thing."""

    links: int = 0


@dataclass(frozen=True)
class Statement(Memory):
    """A fact or relation on the card of an entity.

    Args:
        entity: Id of the entity.
        name: What the entity is called.
        retired: Whether it holds no longer.
        edge: From, relation and to; None for a fact.
    """

    entity: str = ""
    name: str = ""
    retired: bool = False
    edge: tuple[str, str, str] | None = None


def retire(subjects: tuple[Memory, ...]) -> Act | str:
    """Say that facts or relations held until today."""
    statements = [each for each in subjects if isinstance(each, Statement)]
    if not statements:
        return _WALK_TO_ONE
    (statement,) = statements
    if statement.retired:
        return "This is retired already."
    if not statement.id.startswith(("entity:", "file:")):
        return "This relation was written without an id; ⸨unlink⸩ removes it."
    return Act(
        lambda workspace: done(workspace.graph_retire(statement.id), f"Retired {quoted(statement.title)}.")
    )


def unlink(subjects: tuple[Memory, ...]) -> Act | str:
    """Remove a relation."""
    edge = next((each.edge for each in subjects if isinstance(each, Statement)), None)
    if edge is None:
        return "Press ⸨open⸩ and go down to a relation first."
    title = next(each.title for each in subjects)
    return Act(lambda workspace: done(workspace.graph_unlink(*edge), f"Removed {quoted(title)}."))


def merge(keep: Entity, absorb: Entity) -> Act:
    """Make two entities one, after a question below the preview."""

    def call(workspace: Workspace) -> str:
        said = f"Merged {quoted(absorb.title)} into {quoted(keep.title)}."
        return done(workspace.graph_merge(keep.id, absorb.id), said, "takes them apart")

    return Act(call, f"Merge {quoted(absorb.title)} into {quoted(keep.title)}?", "merge")


def unmerge(absorbed: str, name: str) -> Act:
    """Take an entity apart again that was merged into another."""
    return Act(
        lambda workspace: done(
            workspace.graph_unmerge(absorbed), f"Took {quoted(name)} apart again.", "merges them"
        )
    )


def rename(entity: Entity, name: str) -> Act:
    """Call an entity otherwise; its old name still leads to it."""
    return Act(
        lambda workspace: done(
            workspace.graph_rename(entity.id, name), f"Renamed {quoted(entity.title)} to {quoted(name)}."
        )
    )


def link(entity: Entity, relation: str, other: str, name: str) -> Act:
    """Relate two entities."""
    said = f"Linked {quoted(entity.title)} to {quoted(name)} ({relation})."
    return Act(lambda workspace: done(workspace.graph_link(entity.id, relation, other), said, "unlinks"))


def add_fact(entity: Entity, text: str) -> Act:
    """Write down a fact of an entity."""
    said = f"Added {quoted(text)} to {quoted(entity.title)}."
    return Act(lambda workspace: done(workspace.graph_add_fact(entity.id, text), said))


def add_entity(kind: str, name: str) -> Act:
    """Make an entity."""
    return Act(lambda workspace: done(workspace.graph_add(kind, name), f"Added the {kind} {quoted(name)}."))


def done(changed: Changed, said: str, undone: str = "takes that back") -> str:
    """Return the sentence of what was done, with what a person should know, and what `u` does."""
    warnings = " ".join(_without_the_shell(each) for each in changed.warnings)
    if changed.commit is None:
        return warnings or "Nothing had to change."
    return " ".join(filter(None, (said, warnings, f"⸨undo⸩ {undone}.")))


def _without_the_shell(warning: str) -> str:
    for lead in _AT_THE_SHELL:
        warning = warning.partition(lead)[0]
    return warning


def _whole(subjects: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """Return the entities of facts and relations, which are pinned and used as a whole; all else as it is."""
    return tuple(
        Memory(each.entity, each.store, each.name, each.pinned) if isinstance(each, Statement) else each
        for each in subjects
    )


VERBS = {
    "retire": retire,
    "unlink": unlink,
    "pin": lambda subjects: pin(_whole(subjects)),
    "reinforce": lambda subjects: reinforce(_whole(subjects)),
}

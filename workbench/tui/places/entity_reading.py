"""Reads what the card of an entity says; called on threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.entity import entity_card, own_edges, own_facts
from workbench.engine.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.display.card import Card
    from workbench.engine.workspace import Workspace

_MEMORIES = ("core:", "episode:", "entity:", "procedure:", "vault:")
_WAITS = "waits in the Inbox"


def is_entity(memory_id: str) -> bool:
    """Return whether an id is an entity's, and not that of one of its facts."""
    return memory_id.startswith("entity:") and "#" not in memory_id


def read_entity_card(
    workspace: Workspace, entity: str, disputed: Mapping[str, str] | None = None, chosen: str = ""
) -> Card:
    """Read the card of an entity.

    Args:
        workspace: Of the entity.
        entity: Its id.
        disputed: What is said against facts, by id; read where it is None.
        chosen: Id of the fact or relation that WHY is of; the first one where it is empty.
    """
    view = workspace.graph(entity, depth=1)
    whole = view.center or entity
    named = (*(fact.id for fact in own_facts(view)), *(edge.id for edge in own_edges(view)), whole)
    # What was removed meanwhile gives way to the first.
    reason = chosen if chosen in named or chosen.startswith("relation:") else named[0]
    shown = explained = why = None
    # An entity that only relations name has no file, so that there is nothing to show of it.
    if any(node.id == whole and node.known for node in view.nodes):
        shown = workspace.show(whole, count_access=False)
        explained = workspace.decay_explain(whole)
    if reason.startswith(("entity:", "file:")) and (shown is not None or reason != whole):
        why = workspace.why(reason)
    users = shown.links.from_ if shown is not None else ()
    titles = {each: title for each in users if (title := title_of(workspace, each))}
    disputed = disputed_facts(workspace) if disputed is None else disputed
    return entity_card(
        view, shown, why, explained, titles, disputed, workspace.now(), reason if reason != whole else ""
    )


def title_of(workspace: Workspace, memory_id: str) -> str:
    """Return the words of a memory; none for what is no memory, such as a session or a way of learning."""
    if not memory_id.startswith(_MEMORIES):
        return ""
    try:
        return workspace.title(memory_id)
    except (InvalidInput, NotFound):
        return ""


def disputed_facts(workspace: Workspace) -> dict[str, str]:
    """Return what waits for a decision against facts, by the id of the fact."""
    found: dict[str, str] = {}
    for item in workspace.review().items:
        if item.decision == "rejected" or item.kind not in ("contradiction", "supersession"):
            continue
        said = "contradicted" if item.kind == "contradiction" else "an update"
        for each in (item.target, *(quoted.id for quoted in item.evidence)):
            if each.startswith("entity:") and "#" in each:
                found.setdefault(each, f"{said}, {_WAITS}" if said == "contradicted" else f"{said} {_WAITS}")
    for proposal in workspace.proposals().proposals:
        for each in proposal.conflicts_with:
            if each.startswith("entity:"):
                found.setdefault(each, f"contradicted by {proposal.from_}, {_WAITS}")
    return found

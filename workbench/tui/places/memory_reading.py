"""Reads what is shown of a memory in every place: its card, where it comes from, what can be edited and copied.

Called on threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.card import memory_card
from workbench.engine.errors import InvalidInput, NotFound
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.evidence import evidence_of_memory
from workbench.tui.places.entity_reading import is_entity, read_entity_card, title_of
from workbench.tui.verbs.copied import Copied, copied_memory
from workbench.tui.verbs.graph import Statement
from workbench.tui.verbs.memories import Memory
from workbench.tui.verbs.rewording import memory_writing

if TYPE_CHECKING:
    from workbench.display.card import Card
    from workbench.display.evidence import Evidence
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.rewording import Writing


def read_memory_card(workspace: Workspace, subject: Subject) -> Card:
    """Read the card of a memory; that of an entity for what is one, or is said of one."""
    if isinstance(subject, Statement):
        return read_entity_card(workspace, subject.entity, chosen=subject.id)
    if is_entity(subject.id):
        return read_entity_card(workspace, subject.id)
    shown = workspace.show(subject.id, count_access=False)
    try:
        explained = workspace.decay_explain(subject.id)
    except (NotFound, InvalidInput):
        explained = None
    named = {*shown.links.to, *shown.links.from_}
    titles = {each: title for each in named if (title := title_of(workspace, each))}
    return memory_card(shown, workspace.why(subject.id), explained, titles, workspace.now())


def read_memory_evidence(workspace: Workspace, subject: Subject) -> Evidence | None:
    """Read where a memory comes from; None where nobody noted it."""
    is_named = not (isinstance(subject, Statement) and subject.id.startswith("relation:"))
    return evidence_of_memory(workspace, subject.id) if is_named else None


def no_evidence(subject: Subject) -> str:
    """Return what is said where a subject comes from nowhere; nothing of what nobody would expect to."""
    return COMMAND["evidence"].elsewhere if isinstance(subject, Memory | Statement) else ""


def read_memory_writing(workspace: Workspace, subject: Subject) -> Writing | str:
    """Read what `e` edits in a memory; a sentence says why nothing can be edited."""
    if isinstance(subject, Statement) and subject.edge is not None:
        return "A relation is removed with ⸨unlink⸩, and made with ⸨link⸩."
    if is_entity(subject.id):
        return "⸨rename⸩ renames it; a fact of it is edited where the cursor is on one: tab, then ↓."
    if isinstance(subject, Memory):
        return memory_writing(workspace, subject)
    return COMMAND["edit"].elsewhere


def read_copied(workspace: Workspace, subject: Subject) -> Copied:
    """Read what `y` copies of a row."""
    if isinstance(subject, Memory):
        return copied_memory(workspace, subject.id)
    return Copied(subject.title, id=subject.id)


def about(subject: Subject) -> str:
    """Return the id of the memory or file that a subject is about, for `g` and `h`; empty where it is about none.

    A memory is about itself; a kind of subject that is about something else says so in `about`.
    """
    named: str = getattr(subject, "about", subject.id)
    return named

"""Reads what is shown of a memory in every place: its card, where it comes from, what can be edited and copied.

Called on threads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workbench.display.action_words import by_title
from workbench.display.card import memory_card, without_source
from workbench.display.entity import entity_card, own_edges, own_facts
from workbench.display.found import MEMORIES, disputed
from workbench.display.matching import best_line
from workbench.engine.errors import InvalidInput, NotFound
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.evidence import evidence_of_memory
from workbench.tui.verbs.graph import Statement
from workbench.tui.verbs.memories import Copied, Memory, copied_memory
from workbench.tui.verbs.rewording import memory_writing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.display.card import Card
    from workbench.display.transcript import Evidence
    from workbench.engine.results.audit import Action, NextStep
    from workbench.engine.results.graph import GraphView
    from workbench.engine.results.memories import HistoryEntry, Shown
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.rewording import Writing

Done = TypeVar("Done", "Action", "NextStep", "HistoryEntry")


def read_memory_card(workspace: Workspace, subject: Subject, asked: str = "") -> Card:
    """Read the card of a memory; that of an entity for what is one, or is said of one.

    Args:
        asked: A question that it answers; the card of an entity gives the reason of the fact nearest to it.
    """
    if isinstance(subject, Statement):
        return read_entity_card(workspace, subject.entity, chosen=subject.id)
    if is_entity(subject.id):
        return read_entity_card(workspace, subject.id, asked=asked)
    shown = _shown(workspace, subject.id)
    try:
        explained = workspace.decay_explain(subject.id)
    except (NotFound, InvalidInput):
        explained = None
    named = {*shown.links.to, *shown.links.from_, *filter(None, (shown.validity.superseded_by,))}
    titles = {each: title for each in named if (title := title_of(workspace, each))}
    waits = disputed_memories(workspace).get(subject.id, "")
    return memory_card(shown, workspace.why(subject.id), explained, titles, workspace.now(), waits)


def read_memory_evidence(workspace: Workspace, subject: Subject, asked: str = "") -> Evidence | str | None:
    """Read where a memory comes from; None where nobody noted it, of a fact what there is instead.

    Args:
        asked: As for the card: of an entity it is the evidence of the statement that WHY is of.
    """
    if isinstance(subject, Statement) and subject.id.startswith("relation:"):
        return None
    if not isinstance(subject, Statement) and is_entity(subject.id):
        reason = reason_of(workspace.graph(subject.id, depth=1), subject.id, asked)
        return _evidence_of(workspace, reason or subject.id)
    return _evidence_of(workspace, subject.id)


def _evidence_of(workspace: Workspace, memory_id: str) -> Evidence | str | None:
    if "#^" in memory_id and not (why := workspace.why(memory_id)).said:
        # Its own line tells no more than the card does.
        return without_source(why, workspace.now())
    return evidence_of_memory(workspace, memory_id)


def no_evidence(subject: Subject) -> str:
    """Return what is said where a subject comes from nowhere; nothing of what nobody would expect to."""
    return COMMAND["evidence"].elsewhere if isinstance(subject, Memory | Statement) else ""


def read_memory_writing(workspace: Workspace, subject: Subject) -> Writing | str:
    """Read what `e` edits in a memory; a sentence says why nothing can be edited."""
    if isinstance(subject, Statement) and subject.edge is not None:
        return "A relation is removed with ⸨unlink⸩, and made with ⸨link⸩."
    if is_entity(subject.id):
        return "⸨rename⸩ renames it. To edit a fact, press ⸨open⸩, go down to the fact, then press ⸨edit⸩."
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


def is_entity(memory_id: str) -> bool:
    """Return whether an id is an entity's, and not that of one of its facts."""
    return memory_id.startswith("entity:") and "#" not in memory_id


def read_entity_card(
    workspace: Workspace,
    entity: str,
    against: Mapping[str, str] | None = None,
    chosen: str = "",
    *,
    asked: str = "",
) -> Card:
    """Read the card of an entity.

    Args:
        entity: Its id.
        against: What is said against facts, by id; read where it is None.
        chosen: Id of the fact or relation that WHY is of; where it is empty, the fact nearest to the question.
        asked: The question; the first fact is the nearest to none.
    """
    view = workspace.graph(entity, depth=1)
    whole = view.center or entity
    reason = reason_of(view, entity, asked, chosen)
    shown = explained = why = None
    # An entity that only relations name has no file, so that there is nothing to show of it.
    if any(node.id == whole and node.known for node in view.nodes):
        shown = _shown(workspace, whole)
        explained = workspace.decay_explain(whole)
    if reason.startswith(("entity:", "file:")) and (shown is not None or reason != whole):
        why = workspace.why(reason)
    users = shown.links.from_ if shown is not None else ()
    titles = {each: title for each in users if (title := title_of(workspace, each))}
    against = disputed_memories(workspace) if against is None else against
    return entity_card(
        view, shown, why, explained, titles, against, workspace.now(), reason if reason != whole else ""
    )


def _shown(workspace: Workspace, memory_id: str) -> Shown:
    shown = workspace.show(memory_id, count_access=False)
    return replace(shown, history=tuple(by_titles(workspace, each) for each in shown.history))


def reason_of(view: GraphView, entity: str, asked: str = "", chosen: str = "") -> str:
    """Return the id of the statement whose reason is given with an entity; its own where nothing is said of it.

    Args:
        asked: The question to which a fact shall be near.
        chosen: The one that the cursor is on; what was removed meanwhile gives way to the first.
    """
    facts = own_facts(view)
    near = best_line([fact.text for fact in facts], asked)
    facts = sorted(facts, key=lambda fact: fact.text != near)
    named = (*(fact.id for fact in facts), *(edge.id for edge in own_edges(view)), view.center or entity)
    return chosen if chosen in named or chosen.startswith("relation:") else named[0]


def title_of(workspace: Workspace, memory_id: str) -> str:
    """Return the words of a memory; none for what is no memory, such as a session or a way of learning."""
    if not memory_id.startswith(MEMORIES):
        return ""
    try:
        return workspace.title(memory_id)
    except (InvalidInput, NotFound):
        return ""


def by_titles(workspace: Workspace, done: Done) -> Done:
    """Return what was done, a step, an action or a commit, with the memories in its summary called by their words."""
    file = next(iter(getattr(done, "files", ())), "")
    summary = by_title(done.summary, lambda id_: title_of(workspace, id_), file)
    return done if summary == done.summary else replace(done, summary=summary)


def disputed_memories(workspace: Workspace) -> dict[str, str]:
    """Return what waits for a decision against memories, by the id of the memory or fact."""
    return disputed(workspace.review().items, workspace.proposals().proposals)

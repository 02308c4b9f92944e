"""Entities, facts, relations and merges, as approved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.statements import Provenance, Statement, render_statement
from workbench.engine.memory.entities import entity_path
from workbench.engine.memory.graph import (
    add_fact,
    add_relation,
    checked_relation,
    find_fact,
    read_vocabulary,
    record_past_fact,
)
from workbench.engine.memory.graph_changes import plan_merge
from workbench.engine.memory.wording import clean_line, clean_memory, clean_name, clip

if TYPE_CHECKING:
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.item_changes import (
        Merging,
        NewEntity,
        NewFact,
        NewRelation,
        OtherWording,
    )


def add_new_fact(step: Step, change: NewFact) -> None:
    """Add a fact with its evidence as sources; those of one that was corrected stay with what was proposed."""
    proposed = step.corrected()
    origin = step.origin(change.since)
    stated = add_fact(step.files, change.entity, change.text, step.own_origin() if proposed else origin)
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    if proposed:
        by = stated.id.rpartition("#^")[2] if "#^" in stated.id else None
        step.ids.append(record_past_fact(step.files, change.entity, proposed, origin, by=by).id)


def reword_fact(step: Step, change: OtherWording) -> None:
    """Change what a fact says; its dates and id stay, and the evidence joins its sources."""
    files = step.files
    file, fact = find_fact(files, change.fact)
    wording = clean_line(change.text)
    block = fact.block_id or ""
    sources = tuple(dict.fromkeys((*fact.provenance.sources, *step.evidence())))
    reworded = file.replace_fact(block, wording.text)
    reworded = reworded.set_provenance(block, replace(fact.provenance, sources=sources))
    files.save(reworded, f"changed “{clip(fact.text, 60)}” to “{clip(wording.text, 60)}”")
    step.ids.append(change.fact)
    step.warnings.extend(wording.warnings)


def make_entity(step: Step, change: NewEntity) -> None:
    """Make an entity’s file with its names, and say where it was first mentioned.

    Raises:
        InvalidInput: It exists already, or its name cannot be a label.
    """
    path = entity_path(change.entity, step.draft)
    if step.draft.read(path) is not None:
        raise InvalidInput(
            f"[[{change.entity}]] exists already.",
            where=path,
            remedy="Reject the item, or choose another id.",
        )
    label = clean_name(change.label)
    file = EntityFile.create(path, label=label, created=step.today)
    for alias in change.aliases:
        file = file.add_alias(clean_name(alias, what="Another name"))
    if change.summary:
        file = file.set_summary(clean_memory(change.summary, what="A summary").text)
    origin = step.origin()
    if step.evidence():
        mention = render_statement(Statement("First mentioned", Provenance(sources=step.evidence()[:1])))
        file = file.add_timeline(origin.since or step.today, mention)
    kind = change.entity.partition("--")[0]
    step.files.save(file, f"new entity “{clip(label)}” ({kind})", Action.CREATE)
    step.ids.append(f"entity:{change.entity}")


def relate(step: Step, change: NewRelation) -> None:
    """Add a relation of the workspace’s vocabulary.

    Raises:
        InvalidInput: The vocabulary does not know it, or both ends are one entity.
        NotFound: One of the entities does not exist.
    """
    vocabulary = read_vocabulary(step.draft, step.context.settings)
    name = checked_relation(vocabulary, change.name)
    origin = step.origin(change.since)
    stated = add_relation(step.files, vocabulary, change.from_, name, change.to, origin)
    step.ids.append(stated.id)


def merge(step: Step, change: Merging) -> None:
    """Let one entity go into another, so that they can be parted again."""
    outcome = plan_merge(step.files, change.keep, change.absorb).outcome
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)

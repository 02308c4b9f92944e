"""Which planner carries out what an item asks, and in which order items are carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.reflection.review import item_changes as ask
from workbench.engine.reflection.review.applying import core, graph, memories, statements, understanding

if TYPE_CHECKING:
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.item_changes import ItemChange
    from workbench.engine.reflection.review.parsed_files import ParsedFiles


def carry_out(step: Step, change: ItemChange) -> None:
    """Draft what an item asks.

    Raises:
        WorkbenchError: It cannot be done; the message says why.
    """
    match change:
        case ask.NewFact():
            graph.add_new_fact(step, change)
        case ask.OtherWording():
            graph.reword_fact(step, change)
        case ask.NewEntity():
            graph.make_entity(step, change)
        case ask.NewRelation():
            graph.relate(step, change)
        case ask.Merging():
            graph.merge(step, change)
        case ask.Superseding():
            statements.supersede(step, change)
        case ask.Deciding():
            statements.decide(step, change)
        case ask.Archiving():
            memories.archive(step, change)
        case ask.Restoring():
            memories.restore(step, change)
        case ask.Pinning():
            memories.pin(step, change)
        case ask.NewProcedure():
            memories.learn(step, change)
        case ask.OtherSteps():
            memories.change_steps(step, change)
        case ask.CoreWording():
            core.reword_core_item(step, change)
        case ask.CoreAddition():
            core.add_core_item(step, change)
        case ask.Demoting():
            core.demote(step, change)
        case ask.NewInsight():
            understanding.note_insight(step, change)
        case ask.Answering():
            understanding.remember_answer(step, change)


def stage_of(change: ItemChange, files: ParsedFiles) -> int:
    """Return how early an item is carried out, lowest first; items of one stage go in the order of the file.

    Entities before what is said of them; merges before what is said of the merged; what makes room in core
    memory before what fills it, so that whether an item fits does not depend on where it stands in the file.
    """
    match change:
        case ask.NewEntity():
            return 0
        case ask.Merging():
            return 1
        case ask.Demoting() | ask.Archiving():
            return 2
        case ask.CoreWording(item=item, text=text):
            known = files.core.item(item)
            return 3 if known is not None and len(text) <= len(known.text) else 4
        case _:
            return 4

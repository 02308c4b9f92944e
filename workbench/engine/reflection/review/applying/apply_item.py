"""Which planner carries out what an item asks, and in which order items are carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.reflection.review import asked as ask
from workbench.engine.reflection.review.applying import core, graph, memories, statements, understanding

if TYPE_CHECKING:
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.asked import Asked
    from workbench.engine.reflection.review.shelf import Shelf


def carry_out(step: Step, asked: Asked) -> None:
    """Draft what an item asks.

    Raises:
        WorkbenchError: It cannot be done; the message says why.
    """
    match asked:
        case ask.NewFact():
            graph.add_new_fact(step, asked)
        case ask.OtherWording():
            graph.reword_fact(step, asked)
        case ask.NewEntity():
            graph.make_entity(step, asked)
        case ask.NewRelation():
            graph.relate(step, asked)
        case ask.Merging():
            graph.merge(step, asked)
        case ask.Superseding():
            statements.supersede(step, asked)
        case ask.Deciding():
            statements.decide(step, asked)
        case ask.Archiving():
            memories.archive(step, asked)
        case ask.Restoring():
            memories.restore(step, asked)
        case ask.Pinning():
            memories.pin(step, asked)
        case ask.NewProcedure():
            memories.learn(step, asked)
        case ask.OtherSteps():
            memories.change_steps(step, asked)
        case ask.CoreWording():
            core.reword_core_item(step, asked)
        case ask.CoreAddition():
            core.add_core_item(step, asked)
        case ask.Demoting():
            core.demote(step, asked)
        case ask.NewInsight():
            understanding.note_insight(step, asked)
        case ask.Answering():
            understanding.remember_answer(step, asked)


def stage_of(asked: Asked, shelf: Shelf) -> int:
    """Return how early an item is carried out, lowest first; items of one stage go in the order of the file.

    Entities before what is said of them; merges before what is said of the merged; what makes room in core
    memory before what fills it, so that whether an item fits does not depend on where it stands in the file.
    """
    match asked:
        case ask.NewEntity():
            return 0
        case ask.Merging():
            return 1
        case ask.Demoting() | ask.Archiving():
            return 2
        case ask.CoreWording(item=item, text=text):
            known = shelf.core.item(item)
            return 3 if known is not None and len(text) <= len(known.text) else 4
        case _:
            return 4

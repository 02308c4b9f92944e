"""Which planner carries out what an item asks, and in which order items are carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.reflection.review import reading
from workbench.engine.reflection.review.applying import core, graph, memories, statements, understanding
from workbench.engine.stores.core import read_core

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.reading import Asked


def carry_out(step: Step, asked: Asked) -> None:
    """Draft what an item asks.

    Raises:
        WorkbenchError: It cannot be done; the message says why.
    """
    match asked:
        case reading.NewFact():
            graph.add_new_fact(step, asked)
        case reading.OtherWording():
            graph.reword_fact(step, asked)
        case reading.NewEntity():
            graph.make_entity(step, asked)
        case reading.NewRelation():
            graph.relate(step, asked)
        case reading.Merging():
            graph.merge(step, asked)
        case reading.Superseding():
            statements.supersede(step, asked)
        case reading.Deciding():
            statements.decide(step, asked)
        case reading.Archiving():
            memories.archive(step, asked)
        case reading.Restoring():
            memories.restore(step, asked)
        case reading.Pinning():
            memories.pin(step, asked)
        case reading.NewProcedure():
            memories.learn(step, asked)
        case reading.OtherSteps():
            memories.change_steps(step, asked)
        case reading.CoreWording():
            core.reword_core_item(step, asked)
        case reading.CoreAddition():
            core.add_core_item(step, asked)
        case reading.Demoting():
            core.demote(step, asked)
        case reading.NewInsight():
            understanding.note_insight(step, asked)
        case reading.Answering():
            understanding.remember_answer(step, asked)


def stage_of(asked: Asked, view: FileView) -> int:
    """Return how early an item is carried out, lowest first; items of one stage go in the order of the file.

    Entities before what is said of them; merges before what is said of the merged; what makes room in core
    memory before what fills it, so that whether an item fits does not depend on where it stands in the file.
    """
    match asked:
        case reading.NewEntity():
            return 0
        case reading.Merging():
            return 1
        case reading.Demoting() | reading.Archiving():
            return 2
        case reading.CoreWording(item=item, text=text):
            known = read_core(view).item(item)
            return 3 if known is not None and len(text) <= len(known.text) else 4
        case _:
            return 4


def touches_core(asked: Asked) -> bool:
    """Tell whether an item may change how much core memory holds."""
    match asked:
        case reading.CoreWording() | reading.CoreAddition() | reading.Demoting():
            return True
        case reading.Archiving() | reading.Restoring() | reading.Pinning():
            return True
        case _:
            return False

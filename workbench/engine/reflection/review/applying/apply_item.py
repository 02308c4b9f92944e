"""Which planner carries out what an item asks, and in which order items are carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError
from workbench.engine.reflection.review import reading
from workbench.engine.reflection.review.applying import core, graph, memories, statements, understanding
from workbench.engine.stores.forget import items_saying
from workbench.engine.stores.locate import locate_memory

if TYPE_CHECKING:
    from datetime import tzinfo

    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.reading import Asked
    from workbench.engine.reflection.review.shelf import Shelf


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


def stage_of(asked: Asked, shelf: Shelf) -> int:
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
            known = shelf.core.item(item)
            return 3 if known is not None and len(text) <= len(known.text) else 4
        case _:
            return 4


def touches_core(asked: Asked, shelf: Shelf, zone: tzinfo) -> bool:
    """Tell whether an item may change how much core memory holds."""
    match asked:
        case reading.CoreWording() | reading.CoreAddition() | reading.Demoting():
            return True
        case reading.Pinning(memory=memory):
            return memory.startswith("core:")
        case reading.Restoring(memory=memory):
            along = any(item.along == memory for item in shelf.archived_items.values())
            return along or memory.startswith("core:")
        case reading.Archiving(memory=memory):
            return memory.startswith("core:") or _said_in_core(memory, shelf, zone)
        case _:
            return False


def _said_in_core(memory: str, shelf: Shelf, zone: tzinfo) -> bool:
    try:
        return bool(items_saying(shelf.core, locate_memory(shelf, memory, zone)))
    except WorkbenchError:
        return False

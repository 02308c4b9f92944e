"""Whether the files say already what an item would add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
from workbench.engine.memory.core import same_item
from workbench.engine.memory.entities import merged_into
from workbench.engine.memory.graph import find_relation, same_fact
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection.files import read_evolution
from workbench.engine.reflection.items import numbered
from workbench.engine.reflection.review.asked import (
    Archiving,
    CoreAddition,
    Merging,
    NewEntity,
    NewFact,
    NewInsight,
    NewProcedure,
    NewRelation,
    Pinning,
    Superseding,
)
from workbench.engine.reflection.review.existing import Stands, is_hidden, names_of, read_procedure

if TYPE_CHECKING:
    from workbench.engine.markdown.entity import EntityFile, Fact
    from workbench.engine.reflection.review.asked import Asked
    from workbench.engine.reflection.review.shelf import Shelf


def said_already(asked: Asked, shelf: Shelf) -> Stands | None:
    """Return what says already what an item would add; None where nothing does.

    Raises:
        WorkbenchError: An id in it leads nowhere that it could.
    """
    match asked:
        case NewFact(entity=entity, text=text):
            file = _followed(shelf, entity)
            fact = same_fact(file, text) if file else None
            return Stands(fact.text, note="This fact is recorded already.") if fact else None
        case NewEntity(entity=entity):
            file = shelf.entity(entity)
            return Stands(names_of(file), note="This entity exists already.") if file else None
        case NewRelation():
            return _relation_already(asked, shelf)
        case Merging(keep=keep, absorb=absorb):
            file = shelf.entity(absorb)
            into = merged_into(file) if file else None
            return (
                Stands(f"[[{absorb}]] is part of [[{into}]].", note="They are one already.")
                if into == keep
                else None
            )
        case Superseding(entity=entity, old=old, new=new, fact=fact):
            return _update_already(_followed(shelf, entity), old, new) if fact is None else None
        case NewProcedure(procedure=procedure):
            known = read_procedure(shelf, procedure)
            return Stands(numbered(known.steps), note="This procedure exists already.") if known else None
        case CoreAddition(text=text):
            item = same_item(shelf.core, text)
            return Stands(item.text, note="Core memory says this already.") if item else None
        case NewInsight(text=text):
            insights = read_evolution(shelf).insights
            same = next((one for one in insights if text_key(one.text) == text_key(text)), None)
            return Stands(same.text, note="evolution.md says this already.") if same else None
        case Pinning(memory=memory):
            entry = shelf.entries.get(memory)
            pinned = memory.startswith("vault:") or (entry is not None and entry.pinned)
            return Stands("", note="It is protected already.") if pinned else None
        case Archiving(memory=memory):
            return Stands("", note="It is archived already.") if is_hidden(shelf, memory) else None
        case _:
            return None


def _relation_already(asked: NewRelation, shelf: Shelf) -> Stands | None:
    start, end = _followed(shelf, asked.from_), _followed(shelf, asked.to)
    if start is None or end is None:
        return None
    vocabulary = RelationVocabulary.parse(shelf.read(layout.RELATIONS) or b"", layout.RELATIONS)
    name = canonical_relation(asked.name)
    for file, wanted, other in ((start, name, end.id), (end, vocabulary.inverse_of(name), start.id)):
        if wanted and find_relation(file, wanted, other) is not None:
            text = f"[[{file.id}]] {wanted} [[{other}]]"
            return Stands(text, note="This relation is recorded already.")
    return None


def _update_already(file: EntityFile | None, old: str, new: str) -> Stands | None:
    """Return the recorded new value, where nobody says the old one any more."""
    fact: Fact | None = same_fact(file, new) if file else None
    if file is None or fact is None or same_fact(file, old) is not None:
        return None
    return Stands(fact.text, note="The new value is recorded already.")


def _followed(shelf: Shelf, entity: str) -> EntityFile | None:
    """Return the entity that one is by now, whatever it was merged into."""
    file = shelf.entity(entity)
    for _ in range(16):
        target = merged_into(file) if file is not None else None
        if target is None:
            break
        file = shelf.entity(target)
    return file

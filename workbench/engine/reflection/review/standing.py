"""What stands in the files where an item would change them, and whether they say already what it would add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.documents import Evolution, Procedure, RelationVocabulary, canonical_relation
from workbench.engine.errors import NotFound
from workbench.engine.reflection.items import numbered
from workbench.engine.reflection.review.reading import (
    Answering,
    Archiving,
    Asked,
    CoreAddition,
    CoreWording,
    Deciding,
    Demoting,
    Merging,
    NewEntity,
    NewFact,
    NewInsight,
    NewProcedure,
    NewRelation,
    OtherSteps,
    OtherWording,
    Pinning,
    Restoring,
    Superseding,
)
from workbench.engine.stores.core import same_item
from workbench.engine.stores.entities import merged_into
from workbench.engine.stores.locate import locate_memory
from workbench.engine.stores.procedural import procedure_path
from workbench.engine.stores.semantic import find_relation, same_fact
from workbench.engine.stores.wording import text_key

if TYPE_CHECKING:
    from datetime import tzinfo

    from workbench.engine.documents import EntityFile, Fact
    from workbench.engine.reflection.review.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Stands:
    """What stands there.

    Args:
        text: In words, for people.
        basis: Everything that must not change for an item to stay good.
        note: One sentence about it, where there is one to say.
    """

    text: str
    basis: tuple[str, ...] = ()
    note: str = ""


def targets(asked: Asked) -> tuple[str, ...]:
    """Return the ids of what is to be changed; empty where nothing is but added to."""
    match asked:
        case OtherWording(fact=fact):
            return (fact,)
        case Superseding(fact=fact) | Deciding(fact=fact):
            return (fact,) if fact else ()
        case Merging(keep=keep, absorb=absorb):
            return (keep, absorb)
        case Archiving(memory=memory) | Restoring(memory=memory) | Pinning(memory=memory):
            return (memory,)
        case OtherSteps(procedure=procedure):
            return (procedure,)
        case CoreWording(item=item) | Demoting(item=item):
            return (item,)
        case CoreAddition(of=of):
            return (of,) if of else ()
        case _:
            return ()


def what_stands(asked: Asked, shelf: Shelf, zone: tzinfo) -> Stands | None:
    """Return the very lines that an item would change; None where there are none, or it only adds.

    Raises:
        InvalidInput: An id in it is none.
        OutsideWorkspace: An id leads out of the memory files.
    """
    try:
        return _stands(asked, shelf, zone)
    except NotFound:
        return None


def _stands(asked: Asked, shelf: Shelf, zone: tzinfo) -> Stands | None:
    match asked:
        case OtherWording(fact=fact):
            return _lines(shelf, fact, zone)
        case Superseding(fact=fact) | Deciding(fact=fact):
            return _lines(shelf, fact, zone) if fact else None
        case Merging(keep=keep, absorb=absorb):
            kept, absorbed = shelf.entity(keep), shelf.entity(absorb)
            if kept is None or absorbed is None:
                return None
            names = (_names(kept), _names(absorbed))
            return Stands("\n".join(names), names)
        case Archiving(memory=memory) | Pinning(memory=memory):
            return _memory(shelf, memory, zone, counts_pins=isinstance(asked, Archiving))
        case Restoring(memory=memory):
            item = shelf.archived_items.get(memory)
            if item is not None:
                return Stands(item.text, (item.text, "archived"))
            return _memory(shelf, memory, zone)
        case OtherSteps(procedure=procedure):
            known = _procedure(shelf, procedure)
            if known is None:
                return None
            return Stands(numbered(known.steps), (known.trigger, *known.steps))
        case CoreWording(item=name) | Demoting(item=name):
            found = shelf.core.item(name)
            return Stands(found.text, (found.text, "pinned" * found.pinned)) if found else None
        case CoreAddition(of=of):
            return _memory(shelf, of, zone) if of else None
        case _:
            return None


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
            return Stands(_names(file), note="This entity exists already.") if file else None
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
            known = _procedure(shelf, procedure)
            return Stands(numbered(known.steps), note="This procedure exists already.") if known else None
        case CoreAddition(text=text):
            item = same_item(shelf.core, text)
            return Stands(item.text, note="Core memory says this already.") if item else None
        case NewInsight(text=text):
            evolution = Evolution.parse(shelf.read(layout.EVOLUTION) or b"")
            same = next((one for one in evolution.insights if text_key(one.text) == text_key(text)), None)
            return Stands(same.text, note="evolution.md says this already.") if same else None
        case Pinning(memory=memory):
            entry = shelf.entries.get(memory)
            pinned = memory.startswith("vault:") or (entry is not None and entry.pinned)
            return Stands("", note="It is protected already.") if pinned else None
        case Archiving(memory=memory):
            return Stands("", note="It is archived already.") if _archived(shelf, memory) else None
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


def _names(file: EntityFile) -> str:
    """Return who an entity is, whatever is known about it."""
    also = f", also {', '.join(file.aliases)}" if file.aliases else ""
    into = merged_into(file)
    return f"{file.label} ([[{file.id}]]{also})" + (f", part of [[{into}]]" if into else "")


def _lines(shelf: Shelf, memory: str, zone: tzinfo) -> Stands:
    placed = locate_memory(shelf, memory, zone)
    text = f"{placed.text} (no longer holds)" if placed.retired else placed.text
    known = placed.provenance
    basis = (placed.text, known.since or "", known.until or "", known.superseded_by or "")
    return Stands(text, (*basis, "retired" * placed.retired))


def _memory(shelf: Shelf, memory: str, zone: tzinfo, *, counts_pins: bool = False) -> Stands:
    placed = locate_memory(shelf, memory, zone)
    entry = shelf.entries.get(memory)
    marks = ["archived" * _archived(shelf, memory), "retired" * placed.retired]
    pinned = placed.pinned or (entry is not None and entry.pinned)
    if counts_pins:
        marks.append("pinned" * pinned)
    said = [word for word in marks if word]
    text = f"{placed.text} ({', '.join(said)})" if said else placed.text
    return Stands(text, (placed.text, *marks))


def _archived(shelf: Shelf, memory: str) -> bool:
    from workbench.engine.decay.records import is_archived

    entry = shelf.entries.get(memory)
    return entry is not None and is_archived(entry)


def _procedure(shelf: Shelf, procedure: str) -> Procedure | None:
    path = procedure_path(procedure)
    content = shelf.read(path)
    return Procedure.parse(content, path) if content is not None else None


def creates(asked: Asked) -> str | None:
    """Return the entity (`type--slug`) that an item would make, None for all others."""
    return asked.entity if isinstance(asked, NewEntity) else None


def may_wait_for_a_person(asked: Asked) -> str:
    """Return why an approval alone does not do, for what needs a person’s words as well; else empty."""
    match asked:
        case Deciding(resolve="ask"):
            return "It asks which of two statements holds: set resolve to this, that or both."
        case Answering(answer=""):
            return "It has no answer yet."
        case _:
            return ""

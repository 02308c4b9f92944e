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
from workbench.engine.reflection.review.current_text import CurrentText, is_hidden, names_of, read_procedure
from workbench.engine.reflection.review.item_changes import (
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

if TYPE_CHECKING:
    from workbench.engine.markdown.entity import EntityFile, Fact
    from workbench.engine.reflection.review.item_changes import ItemChange
    from workbench.engine.reflection.review.parsed_files import ParsedFiles


def find_duplicate(change: ItemChange, files: ParsedFiles) -> CurrentText | None:
    """Return what says already what an item would add; None where nothing does.

    Raises:
        WorkbenchError: An id in it leads nowhere that it could.
    """
    match change:
        case NewFact(entity=entity, text=text):
            file = _followed(files, entity)
            fact = same_fact(file, text) if file else None
            return CurrentText(fact.text, note="This fact is recorded already.") if fact else None
        case NewEntity(entity=entity):
            file = files.entity(entity)
            return CurrentText(names_of(file), note="This entity exists already.") if file else None
        case NewRelation():
            return _relation_already(change, files)
        case Merging(keep=keep, absorb=absorb):
            file = files.entity(absorb)
            into = merged_into(file) if file else None
            return (
                CurrentText(f"[[{absorb}]] is part of [[{into}]].", note="They are one already.")
                if into == keep
                else None
            )
        case Superseding(entity=entity, old=old, new=new, fact=fact):
            return _update_already(_followed(files, entity), old, new) if fact is None else None
        case NewProcedure(procedure=procedure):
            known = read_procedure(files, procedure)
            return (
                CurrentText(numbered(known.steps), note="This procedure exists already.") if known else None
            )
        case CoreAddition(text=text):
            item = same_item(files.core, text)
            return CurrentText(item.text, note="Core memory says this already.") if item else None
        case NewInsight(text=text):
            insights = read_evolution(files).insights
            same = next((one for one in insights if text_key(one.text) == text_key(text)), None)
            return CurrentText(same.text, note="evolution.md says this already.") if same else None
        case Pinning(memory=memory):
            entry = files.entries.get(memory)
            pinned = memory.startswith("vault:") or (entry is not None and entry.pinned)
            return CurrentText("", note="It is protected already.") if pinned else None
        case Archiving(memory=memory):
            return CurrentText("", note="It is archived already.") if is_hidden(files, memory) else None
        case _:
            return None


def _relation_already(change: NewRelation, files: ParsedFiles) -> CurrentText | None:
    start, end = _followed(files, change.from_), _followed(files, change.to)
    if start is None or end is None:
        return None
    vocabulary = RelationVocabulary.parse(files.read(layout.RELATIONS) or b"", layout.RELATIONS)
    name = canonical_relation(change.name)
    for file, wanted, other in ((start, name, end.id), (end, vocabulary.inverse_of(name), start.id)):
        if wanted and find_relation(file, wanted, other) is not None:
            text = f"[[{file.id}]] {wanted} [[{other}]]"
            return CurrentText(text, note="This relation is recorded already.")
    return None


def _update_already(file: EntityFile | None, old: str, new: str) -> CurrentText | None:
    """Return the recorded new value, where nobody says the old one any more."""
    fact: Fact | None = same_fact(file, new) if file else None
    if file is None or fact is None or same_fact(file, old) is not None:
        return None
    return CurrentText(fact.text, note="The new value is recorded already.")


def _followed(files: ParsedFiles, entity: str) -> EntityFile | None:
    """Return the entity that one is by now, whatever it was merged into."""
    file = files.entity(entity)
    for _ in range(16):
        target = merged_into(file) if file is not None else None
        if target is None:
            break
        file = files.entity(target)
    return file

"""Whether what an item would change still reads as it did when the item was proposed.

A stamp, written with the proposal, is a digest of just those lines: other edits of the same file make nothing
stale. An item that adds something is stale once it is there already.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
from workbench.engine.memory.core import same_item
from workbench.engine.memory.entities import merged_into
from workbench.engine.memory.graph import find_relation, same_fact
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection.files import read_evolution
from workbench.engine.reflection.items import AS_OF, field_of, numbered
from workbench.engine.reflection.review.current_text import (
    CurrentText,
    current_text,
    is_hidden,
    names_of,
    read_procedure,
)
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
    targets,
)
from workbench.engine.reflection.review.item_reading import read_item
from workbench.engine.reflection.review.parsed_files import ParsedFiles
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.entity import EntityFile, Fact
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.review.item_changes import ItemChange

_CHANGED = "What it would change reads otherwise by now."
_GONE = "What it would change is no longer there."


@dataclass(frozen=True, slots=True)
class Staleness:
    """Whether an item is stale.

    Args:
        stale: Whether it is.
        now: What stands there now; empty where nothing does.
        reason: One sentence; empty where it is not stale.
    """

    stale: bool
    now: str = ""
    reason: str = ""


FRESH = Staleness(False)


def stamp(item: ReviewItem, view: FileView, zone: tzinfo) -> ReviewItem:
    """Return an item with the digest of what it would change, as it reads now; an older stamp is replaced.

    Args:
        item: As proposed; with or without an id.
        view: The files.
        zone: The workspace’s.
    """
    fields = tuple((label, value) for label, value in item.fields if label != AS_OF)
    change = _readable(item if item.id else replace(item, id="r-0.0"))
    mark = _mark(change, ParsedFiles.of(view), zone) if change is not None else None
    return replace(item, fields=(*fields, (AS_OF, mark)) if mark else fields)


def check(item: ReviewItem, view: FileView, zone: tzinfo) -> Staleness:
    """Return whether what an item would change has moved on.

    An item without a stamp, such as one that somebody wrote by hand, is judged by its `was`. One that was
    given another target by hand has no past to compare. An item that cannot be read is not stale.
    """
    change = _readable(item)
    if change is None:
        return FRESH
    files = ParsedFiles.of(view)
    try:
        already = find_duplicate(change, files)
        if already is not None:
            return Staleness(True, already.text, already.note or "This stands there already.")
        stamped = field_of(item, AS_OF)
        current = current_text(change, files, zone)
    except WorkbenchError:
        # A path that leads nowhere: applying says what is wrong with it.
        return FRESH
    target, _, digest = stamped.partition("-")
    if stamped and target != _digest(*targets(change)):
        return FRESH
    if current is None:
        return Staleness(True, "", _GONE) if stamped else FRESH
    if stamped:
        return FRESH if digest == _of(current) else Staleness(True, current.text, _CHANGED)
    return FRESH if _says(current, item) else Staleness(True, current.text, _CHANGED)


def check_all(items: Iterable[ReviewItem], view: FileView, zone: tzinfo) -> dict[str, Staleness]:
    """Return the staleness of several items by their ids."""
    files = ParsedFiles.of(view)
    return {item.id: check(item, files, zone) for item in items}


def _says(current: CurrentText, item: ReviewItem) -> bool:
    return not item.before or not current.text or text_key(item.before) == text_key(current.text)


def _readable(item: ReviewItem) -> ItemChange | None:
    try:
        return read_item(item)
    except WorkbenchError:
        return None


def _mark(change: ItemChange, files: ParsedFiles, zone: tzinfo) -> str | None:
    try:
        current = current_text(change, files, zone)
    except WorkbenchError:
        return None
    return f"{_digest(*targets(change))}-{_of(current)}" if current is not None else None


def _of(current: CurrentText) -> str:
    return _digest(*current.basis, length=10)


def _digest(*parts: str, length: int = 4) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:length]


# Whether the files say already what an item would add.


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

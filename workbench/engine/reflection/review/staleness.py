"""Whether what an item would change still reads as it did when the item was proposed, and how it reads now.

A stamp, written with the proposal, is a digest of just those lines: other edits of the same file make nothing
stale. An item that adds something is stale once it is there already, and a contradiction once either of its sides
reads otherwise.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
from workbench.engine.markdown.pages import Procedure
from workbench.engine.markdown.statements import parse_statement
from workbench.engine.memory.core import same_item
from workbench.engine.memory.decay import is_archived
from workbench.engine.memory.entities import merged_into
from workbench.engine.memory.graph import find_relation, same_fact
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.stores import procedure_path
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection.files import read_evolution
from workbench.engine.reflection.items import AS_OF, field_of, numbered
from workbench.engine.reflection.review import item_changes as ask
from workbench.engine.reflection.review.item_reading import asked_core_item, read_item
from workbench.engine.reflection.review.plan_context import ParsedFiles
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.entity import EntityFile, Fact
    from workbench.engine.markdown.review import ReviewItem

_CHANGED = "What it would change reads otherwise by now."
_SIDE_CHANGED = "One of the two reads otherwise by now."
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
        if (
            isinstance(change, ask.Deciding)
            and (side := _reworded_side(item, change, files, zone)) is not None
        ):
            return Staleness(True, side, _SIDE_CHANGED)
        stamped = field_of(item, AS_OF)
        current = current_text(change, files, zone)
    except WorkbenchError:
        # A path that leads nowhere: applying says what is wrong with it.
        return FRESH
    target, _, digest = stamped.partition("-")
    if stamped and target != _digest(*ask.targets(change)):
        return FRESH
    if current is None:
        return Staleness(True, "", _GONE) if stamped else FRESH
    if stamped:
        return FRESH if digest == _of(current) else Staleness(True, current.text, _CHANGED)
    return FRESH if _says(current, item) else Staleness(True, current.text, _CHANGED)


def _reworded_side(item: ReviewItem, change: ask.Deciding, files: ParsedFiles, zone: tzinfo) -> str | None:
    """Return how the other recorded side of a contradiction reads by now; None where it reads as the item says."""
    for proof in item.evidence:
        said = text_key(parse_statement(proof.quote.strip().removeprefix("- ")).text)
        if "#^" not in proof.id or proof.id == change.fact or said != text_key(change.that):
            continue
        now = current_text(ask.OtherWording(proof.id, change.that), files, zone)
        if now is None or text_key(now.text) != said:
            return now.text if now is not None else ""
    return None


def check_all(items: Iterable[ReviewItem], view: FileView, zone: tzinfo) -> dict[str, Staleness]:
    """Return the staleness of several items by their ids."""
    files = ParsedFiles.of(view)
    return {item.id: check(item, files, zone) for item in items}


def _says(current: CurrentText, item: ReviewItem) -> bool:
    return not item.before or not current.text or text_key(item.before) == text_key(current.text)


def _readable(item: ReviewItem) -> ask.ItemChange | None:
    try:
        # What a question may change is known before its answer.
        asked = asked_core_item(item)
        return ask.Demoting(asked) if asked else read_item(item)
    except WorkbenchError:
        return None


def _mark(change: ask.ItemChange, files: ParsedFiles, zone: tzinfo) -> str | None:
    try:
        current = current_text(change, files, zone)
    except WorkbenchError:
        return None
    return f"{_digest(*ask.targets(change))}-{_of(current)}" if current is not None else None


def _of(current: CurrentText) -> str:
    return _digest(*current.basis, length=10)


def _digest(*parts: str, length: int = 4) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:length]


# Whether the files say already what an item would add.


def find_duplicate(change: ask.ItemChange, files: ParsedFiles) -> CurrentText | None:
    """Return what says already what an item would add; None where nothing does.

    Raises:
        WorkbenchError: An id in it leads nowhere that it could.
    """
    match change:
        case ask.NewFact(entity=entity, text=text):
            file = _followed(files, entity)
            fact = same_fact(file, text) if file else None
            return CurrentText(fact.text, note="This fact is recorded already.") if fact else None
        case ask.NewEntity(entity=entity):
            file = files.entity(entity)
            return CurrentText(names_of(file), note="This entity exists already.") if file else None
        case ask.NewRelation():
            return _relation_already(change, files)
        case ask.Merging(keep=keep, absorb=absorb):
            file = files.entity(absorb)
            into = merged_into(file) if file else None
            return (
                CurrentText(f"[[{absorb}]] is part of [[{into}]].", note="They are one already.")
                if into == keep
                else None
            )
        case ask.Superseding(entity=entity, old=old, new=new, fact=fact):
            return _update_already(_followed(files, entity), old, new) if fact is None else None
        case ask.NewProcedure(procedure=procedure):
            known = read_procedure(files, procedure)
            return (
                CurrentText(numbered(known.steps), note="This procedure exists already.") if known else None
            )
        case ask.CoreAddition(text=text):
            item = same_item(files.core, text)
            return CurrentText(item.text, note="Core memory says this already.") if item else None
        case ask.NewInsight(text=text):
            insights = read_evolution(files).insights
            same = next((one for one in insights if text_key(one.text) == text_key(text)), None)
            return CurrentText(same.text, note="evolution.md says this already.") if same else None
        case ask.Pinning(memory=memory):
            entry = files.entries.get(memory)
            pinned = memory.startswith("vault:") or (entry is not None and entry.pinned)
            return CurrentText("", note="It is protected already.") if pinned else None
        case ask.Archiving(memory=memory):
            return (
                CurrentText("", note="It is archived already.")
                if is_archived(files.entries.get(memory))
                else None
            )
        case _:
            return None


def _relation_already(change: ask.NewRelation, files: ParsedFiles) -> CurrentText | None:
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


@dataclass(frozen=True, slots=True)
class CurrentText:
    """What the files say there.

    Args:
        text: In words, for people.
        basis: Everything that must not change for an item to stay good.
        note: One sentence about it, where there is one to say.
    """

    text: str
    basis: tuple[str, ...] = ()
    note: str = ""


def current_text(change: ask.ItemChange, files: ParsedFiles, zone: tzinfo) -> CurrentText | None:
    """Return the very lines that an item would change; None where there are none, or it only adds.

    Raises:
        InvalidInput: An id in it is none.
        OutsideWorkspace: An id leads out of the memory files.
    """
    try:
        return _current_text(change, files, zone)
    except NotFound:
        return None


def _current_text(change: ask.ItemChange, files: ParsedFiles, zone: tzinfo) -> CurrentText | None:
    match change:
        case ask.OtherWording(fact=fact):
            return _lines(files, fact, zone)
        case ask.Superseding(fact=fact) | ask.Deciding(fact=fact):
            return _lines(files, fact, zone) if fact else None
        case ask.Merging(keep=keep, absorb=absorb):
            kept, absorbed = files.entity(keep), files.entity(absorb)
            if kept is None or absorbed is None:
                return None
            names = (names_of(kept), names_of(absorbed))
            return CurrentText("\n".join(names), names)
        case ask.Archiving(memory=memory) | ask.Pinning(memory=memory):
            return _memory(files, memory, zone, counts_pins=isinstance(change, ask.Archiving))
        case ask.Restoring(memory=memory):
            item = files.archived_items.get(memory)
            if item is not None:
                return CurrentText(item.text, (item.text, "archived"))
            return _memory(files, memory, zone)
        case ask.OtherSteps(procedure=procedure):
            known = read_procedure(files, procedure)
            if known is None:
                return None
            return CurrentText(numbered(known.steps), (known.trigger, *known.steps))
        case ask.CoreWording(item=name) | ask.Demoting(item=name):
            found = files.core.item(name)
            return CurrentText(found.text, (found.text, "pinned" * found.pinned)) if found else None
        case ask.CoreAddition(of=of):
            return _memory(files, of, zone) if of else None
        case _:
            return None


def names_of(file: EntityFile) -> str:
    """Return who an entity is, whatever is known about it."""
    also = f", also {', '.join(file.aliases)}" if file.aliases else ""
    into = merged_into(file)
    return f"{file.label} ([[{file.id}]]{also})" + (f", part of [[{into}]]" if into else "")


def _lines(files: ParsedFiles, memory: str, zone: tzinfo) -> CurrentText:
    placed = locate_memory(files, memory, zone)
    text = f"{placed.text} (no longer holds)" if placed.retired else placed.text
    known = placed.provenance
    basis = (placed.text, known.since or "", known.until or "", known.successor_block or "")
    return CurrentText(text, (*basis, "retired" * placed.retired))


def _memory(files: ParsedFiles, memory: str, zone: tzinfo, *, counts_pins: bool = False) -> CurrentText:
    placed = locate_memory(files, memory, zone)
    entry = files.entries.get(memory)
    marks = ["archived" * is_archived(files.entries.get(memory)), "retired" * placed.retired]
    pinned = placed.pinned or (entry is not None and entry.pinned)
    if counts_pins:
        marks.append("pinned" * pinned)
    said = [word for word in marks if word]
    text = f"{placed.text} ({', '.join(said)})" if said else placed.text
    return CurrentText(text, (placed.text, *marks))


def read_procedure(files: ParsedFiles, procedure: str) -> Procedure | None:
    """Return a procedure by its id; None where there is none."""
    path = procedure_path(procedure)
    content = files.read(path)
    return Procedure.parse(content, path) if content is not None else None

"""What the files say now where an item would change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import NotFound
from workbench.engine.markdown.pages import Procedure
from workbench.engine.memory.decay import is_archived
from workbench.engine.memory.entities import merged_into
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.stores import procedure_path
from workbench.engine.reflection.items import numbered
from workbench.engine.reflection.review.item_changes import (
    Archiving,
    CoreAddition,
    CoreWording,
    Deciding,
    Demoting,
    Merging,
    OtherSteps,
    OtherWording,
    Pinning,
    Restoring,
    Superseding,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import tzinfo

    from workbench.engine.markdown.entity import EntityFile
    from workbench.engine.reflection.review.item_changes import ItemChange
    from workbench.engine.reflection.review.parsed_files import ParsedFiles


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


def current_text(change: ItemChange, files: ParsedFiles, zone: tzinfo) -> CurrentText | None:
    """Return the very lines that an item would change; None where there are none, or it only adds.

    Raises:
        InvalidInput: An id in it is none.
        OutsideWorkspace: An id leads out of the memory files.
    """
    try:
        return _current_text(change, files, zone)
    except NotFound:
        return None


def _current_text(change: ItemChange, files: ParsedFiles, zone: tzinfo) -> CurrentText | None:
    match change:
        case OtherWording(fact=fact):
            return _lines(files, fact, zone)
        case Superseding(fact=fact) | Deciding(fact=fact):
            return _lines(files, fact, zone) if fact else None
        case Merging(keep=keep, absorb=absorb):
            kept, absorbed = files.entity(keep), files.entity(absorb)
            if kept is None or absorbed is None:
                return None
            names = (names_of(kept), names_of(absorbed))
            return CurrentText("\n".join(names), names)
        case Archiving(memory=memory) | Pinning(memory=memory):
            return _memory(files, memory, zone, counts_pins=isinstance(change, Archiving))
        case Restoring(memory=memory):
            item = files.archived_items.get(memory)
            if item is not None:
                return CurrentText(item.text, (item.text, "archived"))
            return _memory(files, memory, zone)
        case OtherSteps(procedure=procedure):
            known = read_procedure(files, procedure)
            if known is None:
                return None
            return CurrentText(numbered(known.steps), (known.trigger, *known.steps))
        case CoreWording(item=name) | Demoting(item=name):
            found = files.core.item(name)
            return CurrentText(found.text, (found.text, "pinned" * found.pinned)) if found else None
        case CoreAddition(of=of):
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
    marks = ["archived" * is_hidden(files, memory), "retired" * placed.retired]
    pinned = placed.pinned or (entry is not None and entry.pinned)
    if counts_pins:
        marks.append("pinned" * pinned)
    said = [word for word in marks if word]
    text = f"{placed.text} ({', '.join(said)})" if said else placed.text
    return CurrentText(text, (placed.text, *marks))


def is_hidden(files: ParsedFiles, memory: str) -> bool:
    """Return whether somebody archived a memory."""
    entry = files.entries.get(memory)
    return entry is not None and is_archived(entry)


def read_procedure(files: ParsedFiles, procedure: str) -> Procedure | None:
    """Return a procedure by its id; None where there is none."""
    path = procedure_path(procedure)
    content = files.read(path)
    return Procedure.parse(content, path) if content is not None else None

"""Items that left core memory by being archived: what they said, noted with their scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workbench.engine.decay.scores_file import change, read_scores
from workbench.engine.documents.core import CoreMemory
from workbench.engine.documents.decay_scores import ScoreEntry
from workbench.engine.history.plan import Action, FileView
from workbench.engine.stores.drafting import Draft

_KEY = "core_item"


@dataclass(frozen=True)
class ArchivedItem:
    """An item as it stood in core memory.

    Args:
        id: The id of its entry.
        block: Name of its block.
        text: What it said.
        pinned: Whether it was marked as pinned.
        along: Id of the memory that it was archived along with, or empty.
    """

    id: str
    block: str
    text: str
    pinned: bool = False
    along: str = ""


def archived_items(view: FileView) -> dict[str, ArchivedItem]:
    """Return the archived items of core memory by the ids of their entries."""
    found = {}
    for entry_id, entry in read_scores(view).entries.items():
        note = dict(entry.extra).get(_KEY) if entry.extra else None
        if isinstance(note, Mapping):
            found[entry_id] = ArchivedItem(
                entry_id,
                str(note.get("block", "")),
                str(note.get("text", "")),
                bool(note.get("pinned")),
                str(note.get("with", "")),
            )
    return found


def note_items(draft: Draft, items: list[ArchivedItem], now: datetime) -> None:
    """Note with the entries of archived items what they said; an item without an entry is passed over."""
    entries = read_scores(draft).entries
    noted: dict[str, ScoreEntry | None] = {}
    for item in items:
        if item.id not in entries:
            continue
        note: dict[str, Any] = {"block": item.block, "text": item.text, "pinned": item.pinned}
        if item.along:
            note["with"] = item.along
        noted[item.id] = dataclasses.replace(
            entries[item.id], extra=(*_without_note(entries[item.id]), (_KEY, note))
        )
    _write(draft, noted, "noted what core memory said", now)


def move_entry(draft: Draft, entry_id: str, to: str, now: datetime) -> None:
    """Give an archived item's entry the id that the item has now, without the note."""
    entry = read_scores(draft).entries[entry_id]
    _write(draft, {entry_id: None}, f"restored {to}", now)
    _write(draft, {to: dataclasses.replace(entry, extra=_without_note(entry))}, f"restored {to}", now)


def release_ids(draft: Draft, core: CoreMemory, now: datetime) -> None:
    """Let items of core memory have the ids of archived ones, whose entries are renamed.

    An item's id follows from what it says, so that a new `Name: …` gets the id of the one archived before.
    """
    archived = archived_items(draft)
    if not archived:
        return
    entries = read_scores(draft).entries
    renamed: dict[str, ScoreEntry | None] = {}
    for block in core.blocks:
        for item in block.items:
            if item.id in archived:
                number = 1
                while f"{item.id}~{number}" in entries:
                    number += 1
                renamed |= {item.id: None, f"{item.id}~{number}": entries[item.id]}
    _write(draft, renamed, "kept an archived item apart from a new one", now)


def _without_note(entry: ScoreEntry) -> tuple[tuple[str, Any], ...]:
    return tuple((key, value) for key, value in entry.extra if key != _KEY)


def _write(draft: Draft, entries: dict[str, ScoreEntry | None], summary: str, now: datetime) -> None:
    file = change(read_scores(draft), entries, action=Action.EDIT, summary=summary, now=now)
    if file is not None and file.content is not None:
        draft.write(file.path, file.content, file.action, file.summary)

"""What differs between two moments, memory by memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.decay.records import is_archived
from workbench.engine.documents.decay_scores import DecayScores
from workbench.engine.past.files import is_entity
from workbench.engine.past.units import Unit, units_of, whole_entity
from workbench.engine.results.past import Comparison, FileChanged, MemoryChange

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_ORDER = {store: place for place, store in enumerate(("core", "episodic", "semantic", "procedural", "vault"))}

Pairs = Mapping[str, tuple[bytes | None, bytes | None]]


def compare(
    pairs: Pairs,
    find: Callable[[str], tuple[str, Unit] | None],
    zone: ZoneInfo,
    ends: tuple[str | None, str | None],
) -> Comparison:
    """Return what differs.

    Args:
        pairs: The content of each differing file at the one and the other moment, by path; None where there was none.
        find: Gives a memory’s path and unit at the later moment, where it stands in a file that does not differ.
        zone: The zone that days and times of the files are in.
        ends: The one and the other moment’s commit.
    """
    pairs = {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}
    files = tuple(
        FileChanged(path, "added" if before is None else "removed" if after is None else "changed")
        for path, (before, after) in sorted(pairs.items())
    )
    changes: dict[str, tuple[int, MemoryChange]] = {}
    for path, (before, after) in sorted(pairs.items()):
        if path == layout.DECAY_SCORES:
            continue
        for line, change in _changes(path, before, after, zone):
            changes.setdefault(change.id, (line, change))
    for change in _scored(pairs, find, changes.keys()):
        changes[change.id] = (0, change)
    ordered = sorted(
        changes.values(),
        key=lambda row: (_ORDER.get(row[1].store, len(_ORDER)), row[1].path, row[0], row[1].id),
    )
    return Comparison(*ends, files, tuple(change for _, change in ordered))


def _changes(
    path: str, before: bytes | None, after: bytes | None, zone: ZoneInfo
) -> Iterator[tuple[int, MemoryChange]]:
    content = after if before is None else before if after is None else None
    if content is not None and is_entity(path):
        # Its parts came or went with it.
        one = whole_entity(path, content)
        change, was, now = ("added", None, one.text) if before is None else ("removed", one.text, None)
        yield one.line, MemoryChange(one.id, one.store, path, one.title, change, was, now)
        return
    old = units_of(path, before, zone) if before is not None else {}
    new = units_of(path, after, zone) if after is not None else {}
    for id_ in dict.fromkeys((*new, *old)):
        earlier, later = old.get(id_), new.get(id_)
        told = later or earlier
        if told is None or (earlier and later and earlier.compared == later.compared):
            continue
        change = "added" if earlier is None else "removed" if later is None else "changed"
        yield (
            told.line,
            MemoryChange(
                id_,
                told.store,
                path,
                told.title,
                change,
                earlier.text if earlier else None,
                later.text if later else None,
            ),
        )


def _scored(
    pairs: Pairs, find: Callable[[str], tuple[str, Unit] | None], told: Collection[str]
) -> Iterator[MemoryChange]:
    """Yield the memories that were pinned, unpinned, archived or restored, and say what they said before."""
    before, after = pairs.get(layout.DECAY_SCORES, (None, None))
    if before == after:
        return
    old, new = _decided(before), _decided(after)
    for id_ in sorted({*old, *new}):
        if old.get(id_) == new.get(id_) or id_ in told:
            continue
        found = find(id_)
        if found is not None:
            path, unit = found
            yield MemoryChange(id_, unit.store, path, unit.title, "scored", unit.text, unit.text)


def _decided(content: bytes | None) -> dict[str, tuple[bool, bool]]:
    entries = DecayScores.parse(content or b"").entries
    decided = {id_: (entry.pinned, is_archived(entry)) for id_, entry in entries.items()}
    return {id_: each for id_, each in decided.items() if any(each)}

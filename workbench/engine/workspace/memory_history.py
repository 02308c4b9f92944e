"""Which commits touched one memory, as opposed to the file it stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.engine.identifiers import MemoryId
    from workbench.engine.results import HistoryEntry
    from workbench.engine.workspace.ground import Ground

_MOST_ENTRIES = 20
# Versions of a file that are looked into for one memory; older ones are left out.
_MOST_VERSIONS = 200
_PARTS_OF_FILES = frozenset({"core", "episode"})


def memory_history(ground: Ground, memory_id: MemoryId, path: str) -> tuple[HistoryEntry, ...]:
    """Return the commits that changed what a memory says, newest first.

    Args:
        ground: The open workspace.
        memory_id: A memory; one that is a whole file has the file's history.
        path: The file it stands in.
    """
    from workbench.engine.history.queries import file_history

    store = ground.history.store
    if memory_id.kind not in _PARTS_OF_FILES and memory_id.block is None:
        return file_history(ground.root, store, path, limit=_MOST_ENTRIES)
    versions = file_history(ground.root, store, path, limit=_MOST_VERSIONS)
    if not versions:
        return ()
    said = [_said(ground, memory_id, version.commit) for version in versions]
    # The oldest version looked at has none before it, unless there are more than were looked at.
    before = [*said[1:], None if len(versions) < _MOST_VERSIONS else said[-1] if said else None]
    changed = [version for version, now, then in zip(versions, said, before, strict=True) if now != then]
    return tuple(changed[:_MOST_ENTRIES])


def _said(ground: Ground, memory_id: MemoryId, commit: str) -> str | None:
    from workbench.engine.stores import locate_memory

    try:
        return locate_memory(ground.history.at(commit), str(memory_id), ground.zone).text
    except WorkbenchError:
        return None

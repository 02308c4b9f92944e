"""Which commits touched one memory, as opposed to the file it stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.history.plan import FileView
    from workbench.engine.identifiers import MemoryId
    from workbench.engine.results.memories import HistoryEntry
    from workbench.engine.workspace.ground import Ground

_MOST_ENTRIES = 20
# Versions of a file that are looked into for one memory; older ones are left out.
_MOST_VERSIONS = 200
# Versions whose texts are kept in memory.
_MOST_REMEMBERED = 1_000
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
    said = [_said(ground, memory_id, path, version.commit) for version in versions]
    # The oldest version looked at has none before it, unless there are more than were looked at.
    before = [*said[1:], None if len(versions) < _MOST_VERSIONS else said[-1] if said else None]
    changed = [version for version, now, then in zip(versions, said, before, strict=True) if now != then]
    return tuple(changed[:_MOST_ENTRIES])


def _said(ground: Ground, memory_id: MemoryId, path: str, commit: str) -> str | None:
    from workbench.engine.stores.locate import locate_memory

    try:
        if memory_id.block is None:
            return _texts(ground, memory_id.kind, path, commit).get(str(memory_id))
        return locate_memory(ground.history.at(commit), str(memory_id), ground.zone).text
    except WorkbenchError:
        return None


def _texts(ground: Ground, kind: str, path: str, commit: str) -> Mapping[str, str]:
    """Return what each memory of a file said at a commit; read once for all of them."""
    known = ground.past_texts
    texts = known.get((commit, path))
    if texts is None:
        if len(known) >= _MOST_REMEMBERED:
            known.clear()
        view = ground.history.at(commit)
        texts = known[commit, path] = _core_texts(view) if kind == "core" else _episodes(view, path)
    return texts


def _core_texts(view: FileView) -> dict[str, str]:
    from workbench.engine.documents.core import CoreMemory
    from workbench.engine.stores.core import core_path

    core = CoreMemory.parse(view.read(core_path(view)) or b"")
    return {item.id: item.text for block in core.blocks for item in block.items}


def _episodes(view: FileView, path: str) -> dict[str, str]:
    from workbench.engine.documents.episodes import EpisodeLog

    log = EpisodeLog.parse(view.read(path) or b"", path)
    return {entry.id: entry.body for entry in log.entries}

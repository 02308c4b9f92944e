"""Decides which scores stand after a rollback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.documents.decay_scores import DecayScores
from workbench.engine.errors import InvalidInput
from workbench.engine.history.views import named_by_id
from workbench.engine.identifiers import EPISODE_ID, NOTE, MemoryId, parse_memory_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.documents.decay_scores import ScoreEntry


def merge_scores(then: bytes | None, now: bytes | None, read: Callable[[str], bytes | None]) -> bytes | None:
    """Return the scores of then, with the entries added since for memories that still exist.

    What was pinned or archived only since goes back too: its entry falls away.

    Args:
        then: The scores file at the moment that is gone back to, None where there was none.
        now: The scores file as it is.
        read: Gives a file's content as it will be, or None.
    """
    if now is None or then == now:
        return then
    current = DecayScores.parse(now)
    if then is None:
        gone = {
            name: None
            for name, entry in current.entries.items()
            if _decided(entry) or not memory_exists(name, read)
        }
        if len(gone) == len(current.entries):
            return None
        return current.update(gone).render() if gone else now
    earlier = DecayScores.parse(then)
    added = {
        name: entry
        for name, entry in current.entries.items()
        if name not in earlier.entries and not _decided(entry) and memory_exists(name, read)
    }
    return earlier.update(added).render() if added else then


def scores_of_file(path: str, then: bytes | None, now: bytes | None, content: bytes) -> bytes | None:
    """Return the scores of now, with those of the memories in one file as they were then.

    Args:
        path: The file that is restored.
        then: The scores file at the commit it is restored from.
        now: The scores file as it is.
        content: The restored file.
    """
    if now is None:
        return then
    current = DecayScores.parse(now)
    earlier = DecayScores.parse(then).entries if then is not None else {}

    def restored(other: str) -> bytes | None:
        return content if other == named_by_id(path) else None

    changes: dict[str, ScoreEntry | None] = {}
    for name in {**earlier, **current.entries}:
        if named_by_id(path) not in _places(name):
            continue
        if name in earlier:
            if earlier[name] != current.entries.get(name):
                changes[name] = earlier[name]
        elif _decided(current.entries[name]) or not memory_exists(name, restored):
            changes[name] = None
    return current.update(changes).render() if changes else now


def scores_of_memory(memory_id: str, then: bytes | None, now: bytes | None) -> bytes | None:
    """Return the scores of now, with those of one memory and its parts as they were then.

    What was counted since is kept for one that had no entry then, unless somebody pinned or archived it since.

    Args:
        memory_id: Of the memory that is restored.
        then: The scores file at the commit it is restored from.
        now: The scores file as it is.
    """
    current = DecayScores.parse(now or b"")
    earlier = DecayScores.parse(then or b"").entries
    changes: dict[str, ScoreEntry | None] = {}
    for name in {**earlier, **current.entries}:
        if name != memory_id and not name.startswith(f"{memory_id}#^"):
            continue
        if name in earlier:
            if earlier[name] != current.entries.get(name):
                changes[name] = earlier[name]
        elif _decided(current.entries[name]):
            changes[name] = None
    return current.update(changes).render() if changes else now


def _decided(entry: ScoreEntry) -> bool:
    """Tell whether somebody pinned or archived a memory, which is more than counting its accesses."""
    return entry.pinned or entry.status == "archived"


def memory_exists(name: str, read: Callable[[str], bytes | None]) -> bool:
    """Tell whether a memory stands in its file; what cannot be looked up by its id counts as there."""
    places = _places(name)
    if not places:
        return True
    memory = parse_memory_id(name)
    contents = [content for content in map(read, places) if content is not None]
    if memory.block is not None and contents:
        return any(f"^{memory.block}".encode() in content for content in contents)
    episode = EPISODE_ID.match(name)
    if episode:
        number = f" #{episode.group(3)}" if episode.group(3) else "(?! #)"
        heading = re.compile(rf"^##\s+{episode.group(2)}{number}(?!\d)".encode(), re.MULTILINE)
        return any(heading.search(content) for content in contents)
    # A note is found by its name alone, which its id does not tell.
    return bool(contents) or (memory.kind == "entity" and memory.name.startswith(f"{NOTE}--"))


def _places(name: str) -> tuple[str, ...]:
    try:
        memory = parse_memory_id(name)
    except InvalidInput:
        return ()
    return _files_of(memory)


def _files_of(memory: MemoryId) -> tuple[str, ...]:
    match memory.kind:
        case "entity":
            return (f"{layout.ENTITIES}/{memory.name}.md",)
        case "procedure":
            return (f"{layout.PROCEDURES}/{memory.name}.md",)
        case "vault":
            name = memory.name.removeprefix(f"{layout.VAULT}/")
            return (f"{layout.VAULT}/{name}", f"{layout.VAULT}/{name}.md")
        case "episode":
            return (f"{layout.EPISODES}/{memory.name[:10]}.md",)
        case "core":
            return (layout.CORE,)
        case _:
            return ()

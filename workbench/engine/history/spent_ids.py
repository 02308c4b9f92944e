"""Remembers former ids, so that no memory ever takes the id of another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from workbench.engine import layout
from workbench.engine.errors import StorageError
from workbench.engine.file_access import flush_to_disk, write_all
from workbench.engine.history.commits import SPENT_IDS, CommitMessage, parse_message
from workbench.engine.history.git_objects import Commit
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.work_files import stem_of
from workbench.engine.identifiers import entity_name
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.patterns import lazy_pattern

_DIGITS = 16
_BLOCK = lazy_pattern(rb"\^([A-Za-z0-9-]+)[ \t]*\r?$", re.MULTILINE)
_REFLECTION = lazy_pattern(rb"(?<![\w-])r-\d{1,9}(?![\w-])")
_REFLECTIONS = frozenset({layout.PENDING_REFLECTION, layout.REFLECTION_LOG})
# Files outside the memory folders that also contain ids.
_NUMBERED = _REFLECTIONS | {layout.EVOLUTION}


def is_spent(spent: bytes | None, memory_id: str) -> bool:
    """Return True if an id was used and is gone.

    Args:
        spent: The content of `layout.SPENT_IDS`.
        memory_id: As people read it: of an episode, fact, relation or reflection; for an insight, file and block id.
    """
    return spent is not None and b"\n%s\n" % spent_digest(memory_id).encode() in b"\n" + spent


def with_spent_ids(
    store: GitStore, tree: str | None, message: CommitMessage, changes: Mapping[str, bytes | None]
) -> CommitMessage:
    """Add the digests of the ids that a commit removes to its message, and store them.

    Args:
        tree: The root tree before it; None for an empty one.
        changes: New content by path, None for a deleted file.

    Raises:
        StorageError: They cannot be stored.
    """
    gone = _ids_gone(store, tree, changes) if tree else set()
    if not gone:
        return message
    digests = sorted(map(spent_digest, gone))
    _keep(store, digests)
    return replace(message, trailers=(*message.trailers, (SPENT_IDS, " ".join(digests))))


def keep_all_spent(store: GitStore) -> None:
    """Rebuild the file of digests from the commits if it is missing. Needs the writer's lock.

    Raises:
        StorageError: It cannot be written.
    """
    place = _place(store)
    if place.exists():
        return
    digests = digests_of(store.walk())
    # After a history was set aside, the ids of its memories are still in the files.
    for former in store.path.parent.glob(f"{layout.HISTORY}.*/{place.name}"):
        with suppress(OSError):
            digests.update(former.read_text(encoding="ascii", errors="replace").split())
    _keep(store, sorted(digests))


def keep_spent_of(store: GitStore, commits: Iterable[Commit]) -> None:
    """Add the digests that commits of another device name.

    Raises:
        StorageError: They cannot be stored.
    """
    if digests := digests_of(commits):
        _keep(store, sorted(digests))


def kept_digests(store: GitStore) -> set[str]:
    """Return the digests that are kept."""
    try:
        return set(_place(store).read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return set()


def digests_of(commits: Iterable[Commit]) -> set[str]:
    """Return the digests that commits name."""
    told = (parse_message(each).trailer(SPENT_IDS) for each in commits if SPENT_IDS in each.message)
    return {digest for line in told for digest in (line or "").split()}


@dataclass
class SpentIds:
    """The digests stored within a block; `is_kept` says that their commit stands."""

    is_kept: bool = False


@contextmanager
def spent_ids_restored(store: GitStore) -> Iterator[SpentIds]:
    """Remove the digests that were stored within a block, unless their commit stands."""
    place = _place(store)
    size = _size(place)
    stored = SpentIds()
    try:
        yield stored
    finally:
        if not stored.is_kept and _size(place) > size:
            with suppress(OSError):
                os.truncate(place, size)


def _size(place: Path) -> int:
    try:
        return place.lstat().st_size
    except OSError:
        return 0


def _ids_gone(store: GitStore, tree: str, changes: Mapping[str, bytes | None]) -> set[str]:
    before: set[str] = set()
    after: set[str] = set()
    for path, content in changes.items():
        in_episodes = path.startswith(f"{layout.EPISODES}/")
        if not (in_episodes or path.startswith(f"{layout.ENTITIES}/") or path in _NUMBERED):
            continue
        blob = store.tree_blob(tree, path)
        older = store.read_blob(blob) if blob else b""
        # Most changes of a log append to it.
        if content is None or not (in_episodes and content.startswith(older)):
            before |= _ids_in(path, older)
            after |= _ids_in(path, content or b"")
    return before - after


def _ids_in(path: str, content: bytes) -> set[str]:
    if path.startswith(f"{layout.EPISODES}/"):
        return {entry.id for entry in EpisodeLog.parse(content, path).entries}
    if path in _REFLECTIONS:
        return {found.decode() for found in _REFLECTION.findall(content)}
    whole = layout.EVOLUTION if path == layout.EVOLUTION else f"entity:{entity_name(stem_of(path))}"
    return {f"{whole}#^{block.decode()}" for block in _BLOCK.findall(content)}


def spent_digest(memory_id: str) -> str:
    """Return what is kept of an id that is gone."""
    return sha256(memory_id.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def _keep(store: GitStore, digests: Iterable[str]) -> None:
    place = _place(store)
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            size = os.fstat(handle).st_size
            # An incomplete line, left by a full disk or a power cut, must not run into the next one.
            torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            lines = "".join(f"{digest}\n" for digest in digests)
            write_all(handle, (b"\n" if torn else b"") + lines.encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        if not size:
            flush_to_disk(place.parent)
    except OSError as error:
        raise StorageError(
            f"The history cannot be written: {error.strerror or error}.",
            where=str(place),
            remedy="Free some space, or make the folder writable.",
        ) from error


def _place(store: GitStore) -> Path:
    return store.path / PurePosixPath(layout.SPENT_IDS).name

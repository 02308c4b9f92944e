"""The past of an open workspace: its line of commits, texts of versions, and which commits touched one memory."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from workbench.engine.clock import time_or_none
from workbench.engine.errors import HistoryError, InvalidInput, NotFound, WorkbenchError
from workbench.engine.services.audit import AGO, COMMIT, read_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from workbench.engine.history.commits import CachedCommitIndex, CommitIndex
    from workbench.engine.history.git_store import Commit, GitStore
    from workbench.engine.history.plan import FileView
    from workbench.engine.identifiers import MemoryId
    from workbench.engine.past import Past
    from workbench.engine.past.files import Versions
    from workbench.engine.results.memories import HistoryEntry
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.first_seen import FirstSeen


_PURGED = b"\n\n[PURGE] "


class PastReader:
    """The past of one workspace.

    Args:
        context: The open workspace.
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._kept: CachedCommitIndex | None = None
        self._versions: tuple[GitStore, Versions] | None = None

    def line(self) -> CommitIndex:
        """Return the way from the first commit to the newest.

        Raises:
            NotFound: There is no history yet.
            HistoryDamaged: A commit that has to be read is missing or broken.
        """
        from workbench.engine.history.commits import INDEX_FILE, CachedCommitIndex

        store = self.store
        with self._lock:
            if self._kept is None:
                self._kept = CachedCommitIndex(self._context.derived / INDEX_FILE)
            return self._kept.read(store)

    @property
    def store(self) -> GitStore:
        """Return the history.

        Raises:
            NotFound: There is none yet.
            HistoryDamaged: There was one, and it is gone.
        """
        self._context.history.refuse_gone()
        if not self._context.has_history():
            raise NotFound("There is no history here to go back in.", remedy="The next change begins one.")
        return self._context.history.store

    def moment(self, text: str, name: str) -> tuple[str, datetime | None]:
        """Return the commit that a person means, and the time they gave where they gave one.

        Args:
            text: A commit, a time, or a day, whose end is meant.
            name: What it is for, for the error.

        Raises:
            NotFound: There is no such commit, or the history begins later.
            InvalidInput: It is neither a commit nor a time.
        """
        from workbench.engine.history.commits import history_begins_later

        commit, asked = self.found(text, name)
        if commit is None:
            assert asked is not None
            raise history_begins_later(asked)
        return commit, asked

    def found(self, text: str, name: str) -> tuple[str | None, datetime | None]:
        """Do as `moment` does, and give None where the history begins later than the time."""
        asked = self._time(text, name)
        if COMMIT.fullmatch(text.strip()):
            try:
                return self.commit(text), None
            except NotFound:
                # What could be the beginning of a hash may be a day without hyphens, or so many days ago.
                if asked is None:
                    raise
        if asked is None:
            raise InvalidInput(
                f"“{text}” is neither a commit nor a time.",
                where=name,
                remedy="Name a commit, or a time such as 2026-02-02T14:30, 2026-02-02, 3d or yesterday.",
            )
        return self.line().at(asked), asked

    def commit(self, name: str) -> str:
        """Return the full hash of the commit that a name means.

        Raises:
            NotFound: There is no such commit.
            Ambiguous: There are several.
        """
        try:
            return self.store.resolve(name)
        except NotFound as missing:
            if self._was_purged():
                raise NotFound(
                    f"No commit is called “{name[:60]}” any more.",
                    where=missing.where,
                    remedy="The history was purged, and commits have other names since: workbench audit log",
                ) from missing
            raise

    def past(self, text: str, name: str = "moment") -> Past:
        """Return memory as it was; arguments and errors as for `moment`."""
        return self.of(*self.moment(text, name))

    def of(self, commit: str, asked: datetime | None = None) -> Past:
        """Return memory as a commit held it.

        Args:
            commit: Full hash.
            asked: The time that was asked for; the commit's own by default.
        """
        from workbench.engine.past import Past
        from workbench.engine.past.files import CatalogedFiles
        from workbench.engine.services.first_seen import SeenUntil

        context = self._context
        store = self.store
        found = store.commit(commit)
        return Past(
            context.root,
            store,
            found,
            asked or found.moment,
            versions=self._versions_of(store),
            same=CatalogedFiles(context.catalog),
            settings=context.settings,
            first_seen=SeenUntil(self._first_seen, lambda: self._latest_by(found)),
        )

    def forget(self) -> None:
        """Let go of all that was read, for it may be gone from the history."""
        self._versions = None

    def _first_seen(self) -> FirstSeen:
        """Return when memories first stood in the history, up to its newest commit."""
        from workbench.engine.services.first_seen import FirstSeen, note_first_seen

        context = self._context
        if context.reads_refresh:
            # A damaged history costs the days of adoption, never an answer; `doctor` says so.
            with contextlib.suppress(HistoryError):
                note_first_seen(context.catalog, self.store)
        return FirstSeen(context.catalog)

    def _latest_by(self, commit: Commit) -> datetime:
        """Return the latest time that a clock had shown up to a commit, which another program may have merged."""
        line, latest = self.line(), commit.moment
        for ancestor in self.store.walk(commit.id):
            known = line.latest_by(ancestor.id)
            latest = max(latest, known or ancestor.moment)
            if known:
                break
        return latest

    def _time(self, text: str, name: str) -> datetime | None:
        stripped = text.strip()
        if AGO.fullmatch(stripped) or stripped in ("now", "today", "yesterday") or time_or_none(stripped):
            return read_time(stripped, name, self._context.now(), end=True)
        return None

    def _versions_of(self, store: GitStore) -> Versions:
        from workbench.engine.past.files import Versions

        with self._lock:
            if self._versions is None or self._versions[0] is not store:
                self._versions = store, Versions(store, self._context.zone)
            return self._versions[1]

    def _was_purged(self) -> bool:
        line = self.line()
        return any(
            _PURGED in self.store.raw_object(line.commit(place)) for place in range(len(line) - 1, -1, -1)
        )


_MOST_ENTRIES = 20
# Versions of a file that are looked into for one memory; older ones are left out.
_MOST_VERSIONS = 200
# Versions whose texts are kept in memory.
_MOST_REMEMBERED = 1_000
_PARTS_OF_FILES = frozenset({"core", "episode"})


def memory_history(context: WorkspaceContext, memory_id: MemoryId, path: str) -> tuple[HistoryEntry, ...]:
    """Return the commits that changed what a memory says, newest first.

    Args:
        context: The open workspace.
        memory_id: A memory; one that is a whole file has the file's history.
        path: The file it stands in.
    """
    from workbench.engine.history.audit import file_history

    store = context.history.store
    if memory_id.kind not in _PARTS_OF_FILES and memory_id.block is None:
        return file_history(context.root, store, path, limit=_MOST_ENTRIES)
    versions = file_history(context.root, store, path, limit=_MOST_VERSIONS)
    if not versions:
        return ()
    said = [_said(context, memory_id, path, version.commit) for version in versions]
    # The oldest version looked at has none before it, unless there are more than were looked at.
    before = [*said[1:], None if len(versions) < _MOST_VERSIONS else said[-1] if said else None]
    changed = [version for version, now, then in zip(versions, said, before, strict=True) if now != then]
    return tuple(changed[:_MOST_ENTRIES])


def _said(context: WorkspaceContext, memory_id: MemoryId, path: str, commit: str) -> str | None:
    from workbench.engine.memory.lookup import locate_memory

    try:
        if memory_id.block is None:
            return _texts(context, memory_id.kind, path, commit).get(str(memory_id))
        return locate_memory(context.history.at(commit), str(memory_id), context.zone).text
    except WorkbenchError:
        return None


def _texts(context: WorkspaceContext, kind: str, path: str, commit: str) -> Mapping[str, str]:
    """Return what each memory of a file said at a commit; read once for all of them."""
    known = context.past_texts
    texts = known.get((commit, path))
    if texts is None:
        if len(known) >= _MOST_REMEMBERED:
            known.clear()
        view = context.history.at(commit)
        texts = known[commit, path] = _core_texts(view) if kind == "core" else _episodes(view, path)
    return texts


def _core_texts(view: FileView) -> dict[str, str]:
    from workbench.engine.markdown.core import CoreMemory
    from workbench.engine.memory.core import core_path

    core = CoreMemory.parse(view.read(core_path(view)) or b"")
    return {item.id: item.text for block in core.blocks for item in block.items}


def _episodes(view: FileView, path: str) -> dict[str, str]:
    from workbench.engine.markdown.episodes import EpisodeLog

    log = EpisodeLog.parse(view.read(path) or b"", path)
    return {entry.id: entry.body for entry in log.entries}

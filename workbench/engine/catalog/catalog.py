"""The catalog: the location and words of every memory, kept current by file stamps."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.database import Database, DatabaseLost
from workbench.engine.catalog.file_rows import FileContent, extract, read_file
from workbench.engine.catalog.records import CatalogLost
from workbench.engine.catalog.tables import ReadFile, remove_files, store_files
from workbench.engine.errors import StorageError
from workbench.engine.file_access import Fallback, Stamp, nowhere_else
from workbench.engine.markdown.source import Problem
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import apsw

# A file changed again within one tick of the file system's clock keeps its stamp; the coarsest tick is 2 s.
_TICK_NS = 2_000_000_000
_UNSURE = -1
_KNOWN_FILES = "SELECT path, size, mtime_ns, ctime_ns, inode, digest, secrets FROM files"
_KNOWN_DIGESTS = "SELECT path, digest FROM files WHERE path IN (SELECT value FROM json_each(?))"
_ANY_MASKED = "SELECT EXISTS (SELECT 1 FROM files WHERE secrets <> '')"
_SCREENED_UNDER = "SELECT value FROM state WHERE key = 'recogniser'"
_SET_SCREENED_UNDER = "INSERT OR REPLACE INTO state VALUES ('recogniser', ?)"
_FIRST_BATCH_SECONDS = 0.05
_BATCH_SECONDS = 0.15
_MOST_GONE = 500
_MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class Synced:
    """The result of a synchronisation.

    Args:
        changed: New or changed paths.
        gone: Deleted paths.
        unread: New or changed paths left unread because of cancellation.
    """

    changed: tuple[str, ...]
    gone: tuple[str, ...]
    unread: tuple[str, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """Return every affected path."""
        return frozenset(self.changed) | frozenset(self.gone)


class MemoryMask(Protocol):
    """Masks content that may not reach anything derived from the files."""

    def screened(self, path: str, content: bytes) -> tuple[bytes, str]:
        """Return the readable part of a file, and what its name and content depend on; empty for nothing."""
        ...

    def depends_on(self, path: str) -> str:
        """Return the current value of that dependency: if it differs, the file is read again."""
        ...

    def recogniser(self) -> str:
        """Return what decides which files have a dependency: if it differs, every file is read again."""
        ...

    def hidden_names(self, paths: Collection[str], clean: Collection[str] = ()) -> Collection[str]:
        """Return the paths of files that must stay unknown because of their names.

        Args:
            paths: All paths.
            clean: Paths of files without dependencies when they were screened.
        """
        ...


class UnmaskedMemory:
    """A mask that hides nothing."""

    def screened(self, _path: str, content: bytes) -> tuple[bytes, str]:
        return content, ""

    def depends_on(self, _path: str) -> str:
        return ""

    def recogniser(self) -> str:
        return ""

    def hidden_names(self, _paths: Collection[str], _clean: Collection[str] = ()) -> Collection[str]:
        return ()


class Catalog:
    """A derived view of the workspace in SQLite; its file may be deleted at any time.

    Safe for several threads and processes: readers never wait for a synchronisation, and see each batch as soon as it
    is committed.

    Args:
        place: The database file, outside the workspace.
        zone: The time zone of dates and times in the files.
        clock_ns: Returns the time in nanoseconds of the file system's clock.
        mask: Hides parts of files.
        elsewhere: Alternative folder for the database if its own fails.
    """

    def __init__(
        self,
        root: Path,
        place: Path,
        zone: ZoneInfo,
        *,
        clock_ns: Callable[[], int] = time.time_ns,
        mask: MemoryMask | None = None,
        elsewhere: Fallback = nowhere_else,
    ) -> None:
        self.root = root
        self.zone = zone
        self._clock_ns = clock_ns
        self._mask = mask or UnmaskedMemory()
        self._database = Database(place, zone.key, elsewhere)
        self._hides_names = False

    @contextmanager
    def database(self) -> Iterator[apsw.Connection]:
        """Provide the writing connection to one thread at a time."""
        try:
            with self._database.connection() as connection:
                yield connection
        except DatabaseLost as error:
            raise self._out_of_reach() from error

    def rows(self, question: str, values: Sequence[str | int | float | None] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows as last committed.

        A deleted or damaged database is first rebuilt from the files.

        Raises:
            StorageError: The database cannot be stored.
            Locked: Another process prevents opening it.
        """
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._database.ask(question, values)
            except DatabaseLost:
                self.sync()
        raise self._out_of_reach()

    def version(self) -> Hashable:
        """Return a value that differs after any change of the catalog by any process (raises like `rows`)."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._database.version()
            except DatabaseLost:
                self.sync()
        raise self._out_of_reach()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def destroy(self) -> None:
        """Delete the database with everything derived in it."""
        self._database.destroy()

    def sync(
        self,
        *,
        progress: Callable[[int, int], None] | None = None,
        unread: Callable[[Sequence[str]], None] = lambda _paths: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Synced:
        """Synchronise the catalog with every file of the workspace, newest days first.

        Args:
            progress: Called with the numbers of processed and of all files after each committed batch.
            unread: Called with the paths still to be read, at first and after each committed batch.
            cancelled: Polled between files; committed batches stay.

        Raises:
            StorageError: A folder cannot be listed, or the database cannot be stored.
            Locked: Another process prevents writing the database.
        """
        for _ in range(_MOST_ATTEMPTS):
            try:
                known = {row[0]: row for row in self._database.ask(_KNOWN_FILES)}
                recogniser = self._mask.recogniser()
                is_other = [(recogniser,)] != self._database.ask(_SCREENED_UNDER)
                clean = [] if is_other else [name for name, row in known.items() if not row[6]]
                present = self._list_files(clean)
                stale = [
                    path
                    for path, stamp in present.items()
                    if (row := known.get(path if path.isascii() else layout.shown(path))) is None
                    or is_other
                    or row[1:5] != stamp
                    or (row[6] and row[6] != self._mask.depends_on(path))
                ]
                gone = (
                    sorted(known.keys() - map(layout.shown, present))
                    if stale or len(known) > len(present)
                    else []
                )
                digests = {path: known[path][5] for path in stale if path in known}
                stale.sort(key=_newest_first)
                synced = self._refresh(stale, gone, digests, progress, unread, cancelled)
                if is_other and not synced.unread:
                    with self._database.connection() as connection, connection:
                        connection.execute(_SET_SCREENED_UNDER, (recogniser,))
                return synced
            except DatabaseLost:
                continue
        raise self._out_of_reach()

    def update(self, paths: Iterable[str]) -> Synced:
        """Read these files again, regardless of their stamps; raises like `sync`."""
        tracked = [path for path in dict.fromkeys(paths) if layout.is_tracked(path)]
        hidden = self._mask.hidden_names(tracked)
        self._hides_names = self._hides_names or bool(hidden)
        tracked = [path for path in tracked if path not in hidden]
        names = json.dumps([path for path in tracked if layout.shown(path) == path])
        for _ in range(_MOST_ATTEMPTS):
            try:
                digests = dict(self._database.ask(_KNOWN_DIGESTS, (names,)))
                return self._refresh(tracked, [], digests, None, lambda _paths: None, lambda: False)
            except DatabaseLost:
                self.sync()
        raise self._out_of_reach()

    def depends_on_decisions(self) -> bool:
        """Return whether a decision on a secret may change what is known of the files though no file changes."""
        return self._hides_names or bool(self.rows(_ANY_MASKED)[0][0])

    def state(self, key: str) -> str | None:
        """Return a stored value of the catalog itself, such as the commit of its last synchronisation."""
        rows = self.rows("SELECT value FROM state WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_state(self, values: Mapping[str, str]) -> None:
        """Store values of the catalog itself."""
        with self.database() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", list(values.items()))

    def _list_files(self, clean: Collection[str]) -> dict[str, layout.FileStatus]:
        try:
            found = layout.tracked_files(self.root)
        except OSError as error:
            raise StorageError(
                f"The workspace cannot be listed: {error.strerror or error}.",
                where=str(error.filename or self.root),
                remedy="Give yourself the right to read that folder.",
            ) from error
        hidden = self._mask.hidden_names(found, clean)
        self._hides_names = bool(hidden)
        return {path: status for path, status in found.items() if path not in hidden} if hidden else found

    def _refresh(
        self,
        stale: list[str],
        gone: list[str],
        digests: Mapping[str, bytes],
        progress: Callable[[int, int], None] | None,
        unread: Callable[[Sequence[str]], None],
        cancelled: Callable[[], bool],
    ) -> Synced:
        changed: list[str] = []
        removed: list[str] = []
        done = 0
        names = tuple(map(layout.shown, stale))
        unread(names)
        while (done < len(stale) or gone) and not cancelled():
            batch: dict[str, ReadFile | None] = dict.fromkeys(gone[:_MOST_GONE])
            del gone[:_MOST_GONE]
            until = time.monotonic() + (_BATCH_SECONDS if done else _FIRST_BATCH_SECONDS)
            while done < len(stale) and not cancelled():
                path = stale[done]
                batch[path] = self._read(path, digests.get(path))
                done += 1
                if time.monotonic() >= until:
                    break
                self._database.give_way()
            self._commit(batch)
            changed.extend(path for path, file in batch.items() if file is not None and file.rows is not None)
            removed.extend(path for path, file in batch.items() if file is None)
            unread(names[done:])
            if progress is not None:
                progress(done, len(stale))
        return Synced(tuple(changed), tuple(removed), names[done:])

    def _commit(self, batch: dict[str, ReadFile | None]) -> None:
        """Store read files; files changed since are read again, so that an older state never replaces a newer one."""
        with self._database.change() as connection:
            for path, file in batch.items():
                if file is not None and not self._is_current(path, file.stamp):
                    batch[path] = self._read(path, None)
            remove_files(connection, [layout.shown(path) for path, file in batch.items() if file is None])
            store_files(connection, [file for file in batch.values() if file is not None])

    def _read(self, path: str, digest: bytes | None) -> ReadFile | None:
        """Read one file; None if it is gone. Content with this digest is known and not parsed again."""
        file = read_file(self.root, path)
        if file is None:
            return None
        name = layout.shown(path)
        content, secrets = self._mask.screened(path, file.content)
        if content is not file.content:
            file = replace(file, content=content, masked=True)
        if digest and file.digest == digest:
            return ReadFile(name, self._settled(file.stamp), file.digest, None, secrets=secrets)
        rows = extract(name, file.content, self.zone)
        problems = list(_problems(path, name, file))
        if problems:
            rows = replace(rows, problems=(*rows.problems, *problems))
        return ReadFile(name, self._settled(file.stamp), file.digest, rows, file.blob, secrets)

    def _settled(self, stamp: Stamp) -> Stamp:
        """Return the stamp to store: one that matches nothing if the file may still change without a new stamp."""
        settled = self._clock_ns() - stamp.ctime_ns >= _TICK_NS
        return stamp if settled else replace(stamp, mtime_ns=_UNSURE)

    def _is_current(self, path: str, stamp: Stamp) -> bool:
        try:
            status = os.lstat(f"{self.root}/{path}")
        except OSError:
            return False
        return (status.st_size, status.st_ctime_ns, status.st_ino) == (
            stamp.size,
            stamp.ctime_ns,
            stamp.inode,
        )

    def _out_of_reach(self) -> CatalogLost:
        return CatalogLost(
            "The catalog of memories is deleted or damaged again and again.",
            where=str(self._database.place),
            remedy="Find out what removes files there, or name another folder in WORKBENCH_PATHS_CACHE.",
        )


def _problems(path: str, name: str, file: FileContent) -> Iterator[Problem]:
    if name != path:
        yield Problem(
            name,
            None,
            "The name of this file is not UTF-8; the invalid bytes are written out.",
            "Rename it.",
        )
    if file.unreadable is not None:
        yield Problem(
            name, None, f"This file cannot be read: {file.unreadable}.", "Give yourself the right to read it."
        )
    elif file.cut:
        yield Problem(
            name,
            file.content.count(b"\n") + 1,
            "What follows in this very large file is not searched.",
            "Part it into several files.",
        )


def _newest_first(path: str) -> tuple[int, str]:
    """Sort key for files: core first, then days from the newest."""
    if path.startswith(layout.GRAPH):
        # Most files of a large workspace, so checked first.
        return (2, path)
    store = layout.store_of(path)
    if store == "core":
        return (0, path)
    if store == "episodic" or layout.is_daily_log(path):
        day = path.rsplit("/", 1)[1]
        return (1, "".join(chr(0x10FFFF - ord(character)) for character in day))
    return (2, path)

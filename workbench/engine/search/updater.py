"""Keeps the index up to date on a background thread while searches go on, and notices changes to files."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.search.chunks import FileSource
from workbench.engine.search.contract import IndexSync, SearchIndex

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch


# Seconds to wait for another building process: in the background, and on request.
_WAIT = 0.2
_LONG_WAIT = 60.0

# Under continuous writing, still look now and then.
_MOST_QUIET_SPELLS = 10
_FIRST_RETRY = 1.0
_LAST_RETRY = 30.0
_POLL_SECONDS = 5.0
# For more files than these, a full scan is faster.
_MOST_PATHS = 500
_READING = frozenset({"opened", "closed_no_write"})


class BackgroundTask:
    """Runs one kind of work on its own thread, once at a time, and again if requested meanwhile.

    Args:
        work: Does all pending work; given a function that says whether to stop.

    Attributes:
        failure: Why the last round failed, or None.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], None], *, name: str) -> None:
        self._work = work
        self._name = name
        self._turn = threading.Condition()
        self._asked = 0
        self._done = 0
        self._stopping = False
        self.failure: WorkbenchError | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether work is in progress."""
        with self._turn:
            return self._thread is not None

    def ask(self) -> None:
        """Request the work for everything pending by now; a round that began before does not count."""
        with self._turn:
            self._asked += 1
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None, *, enough: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the work requested so far is done or given up.

        Args:
            seconds: Maximum wait; None waits as long as it takes.
            enough: Checked whenever the work calls `tell`: whether its progress suffices.

        Returns:
            Whether it is over, or progress suffices.
        """
        with self._turn:
            wanted = self._asked
            return self._turn.wait_for(
                lambda: self._done >= wanted or self._thread is None or enough(), timeout=seconds
            )

    def tell(self) -> None:
        """Let waiting callers check whether they have waited enough."""
        with self._turn:
            self._turn.notify_all()

    def stop(self) -> None:
        """Stop the work as soon as possible and wait for that; later requests are ignored."""
        with self._turn:
            self._stopping = True
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._turn:
                if self._stopping or self._done >= self._asked:
                    self._thread = None
                    self._turn.notify_all()
                    return
                round_ = self._asked
            failure: WorkbenchError | None = None
            try:
                self._work(lambda: self._stopping)
            except WorkbenchError as error:
                # Reported on the next request; the files are the truth, so nothing is lost.
                failure = error
            except BaseException:
                with self._turn:
                    self._thread = None
                    self._turn.notify_all()
                raise
            with self._turn:
                self.failure = failure
                self._done = round_
                self._turn.notify_all()


Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Ignore progress."""


class IndexUpdater:
    """An index, its sources, and the work of keeping them in step; thread-safe.

    Args:
        version: Returns the version of the sources: equal values mean no change.
        unread: Returns the paths that the sources have not read yet.

    Attributes:
        embedding_failure: Why the last embedding failed, or None.
    """

    def __init__(
        self,
        index: SearchIndex,
        sources: Sequence[FileSource],
        version: Callable[[], Hashable],
        unread: Callable[[], Collection[str]] = lambda: (),
    ) -> None:
        self.index = index
        self._sources = sources
        self._version = version
        self._unread = unread
        self._known: Hashable = None
        self._vectors_left = 0
        self._busy_elsewhere = False
        self.embedding_failure: str | None = None
        self._lock = threading.Lock()
        self._background = BackgroundTask(self._bring_up_to_date, name="workbench-index")

    @property
    def is_current(self) -> bool:
        """Return whether the index holds the present words of every file."""
        return (
            self._known is not None
            and not self._unread()
            and self.index.is_in_place()
            and self._known == self._version()
        )

    def freshen(self, seconds: float) -> str | None:
        """Request an update of the index and wait for it up to this many seconds.

        With no time to wait, it starts once the sources have read everything: two readers at a time are slower.

        Returns:
            A sentence on what the index misses, or None.
        """
        if not self.is_current and (seconds or not self._unread()):
            self._background.ask()
            self._background.wait(seconds, enough=lambda: self.is_current)
        return self.stale()

    def stale(self) -> str | None:
        """Return a sentence on what the index misses, or None."""
        if not self.is_current:
            failure = self._background.failure
            if failure is not None:
                return f"The index could not be brought up to date: {failure}"
            if self._busy_elsewhere:
                return "Another process is bringing the index up to date; the newest changes may be missing."
            unread, _ = self.files_behind()
            if not unread:
                return "The index is not up to date: it is being read."
            left = "1 file is not read yet" if unread == 1 else f"{unread:,} files are not read yet"
            return f"The index is not up to date: {left}; `workbench index` waits for that."
        if self._vectors_left and self.embedding_failure is None:
            left = f"{self._vectors_left:,} pieces of memory are found by their words alone until they are embedded"
            return f"{left}; `workbench index` waits for that."
        return None

    def files_behind(self) -> tuple[int, int]:
        """Compare every file with the index.

        Returns:
            The number of files missing or outdated in the index, and of files in it that are gone.
        """
        # Read first: what is read between the two looks is found by the second.
        unread = set(self._unread())
        wanted: dict[str, bytes] = {}
        for source in self._sources:
            wanted = {**source.digests(), **wanted}
        held = self.index.digests()
        unread.update(path for path, digest in wanted.items() if held.get(path) != digest)
        return len(unread), len(held.keys() - wanted.keys() - unread)

    def sync(
        self,
        *,
        force: bool = False,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Update the index in this thread, vectors included, however long that takes.

        Args:
            force: Rebuild beside the present index.
            progress: Called with units done and in total, first in files, then in chunks to embed.
            cancelled: Polled; work done so far is kept.

        Raises:
            StorageError: The index cannot be kept.
        """
        again = self._bring(force=force, progress=progress, cancelled=cancelled, wait=_LONG_WAIT)
        while again and not cancelled():
            again = self._bring(progress=progress, cancelled=cancelled, wait=_LONG_WAIT)

    def take_in(self, *, cancelled: Callable[[], bool]) -> None:
        """Index what the sources have read so far, in this thread.

        Args:
            cancelled: Polled; work done so far is kept.

        Raises:
            StorageError: The index cannot be kept.
        """
        self._bring(progress=no_progress, cancelled=cancelled, wait=_WAIT, words_first=True)

    def close(self) -> None:
        """Stop the work and close the index."""
        self._background.stop()
        self.index.close()

    def destroy(self) -> None:
        """Delete the index with everything derived in it."""
        with self._lock:
            self._known = None
            self.index.destroy()

    def _bring_up_to_date(self, cancelled: Callable[[], bool]) -> None:
        left = True
        while left and not cancelled():
            left = self._bring(progress=no_progress, cancelled=cancelled, wait=_WAIT, words_first=True)

    def _bring(
        self,
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
        wait: float,
        force: bool = False,
        words_first: bool = False,
    ) -> bool:
        """Read changes, then embed them; return True if embedding gave way to files that changed meanwhile."""
        with self._lock:
            version = self._version()
            synced = self.index.sync(
                self._sources,
                force=force,
                words_first=words_first,
                progress=progress,
                cancelled=cancelled,
                wait=wait,
            )
            self._busy_elsewhere = synced.busy
            self._note(synced)
            # Embedding while the sources still read would delay words yet to come.
            is_unread = bool(self._unread())
            if synced.finished and not cancelled() and not is_unread:
                self._known = version
            self._background.tell()
            if not synced.pending_vectors or cancelled() or is_unread:
                return False

            def overtaken() -> bool:
                return self._version() != version

            embedded = self.index.embed(progress=progress, cancelled=lambda: cancelled() or overtaken())
            if not embedded.busy:
                self._note(embedded)
            return overtaken()

    def _note(self, synced: IndexSync) -> None:
        self._vectors_left = synced.pending_vectors
        self.embedding_failure = synced.failure


class Watcher:
    """Calls back on its own thread once changes have settled.

    The folder `memory/` may be created, removed and created again meanwhile. A call that fails with an engine error
    (another process holds the lock) is retried later.

    Args:
        root: The workspace folder, absolute and without links.
        changed: Called after each quiet spell; the callee finds out what changed. Never called concurrently.
        quiet: Seconds without a further event before the call.
        noted: Called before each such call with the workspace-relative files that events named since the last;
            None if more may have changed than the events said, as after moving a folder or a failed call.
    """

    def __init__(
        self,
        root: Path,
        changed: Callable[[], None],
        *,
        quiet: float = 0.3,
        noted: Callable[[frozenset[str] | None], None] = lambda _paths: None,
    ) -> None:
        self._root = root
        self._changed = changed
        self._noted = noted
        self._paths: set[str] | None = set()
        self._quiet = quiet
        self._wake = threading.Condition()
        self._stopped = False
        self._first_event = 0.0
        self._last_event = 0.0
        self._pending = False
        self._memory_watch: ObservedWatch | None = None
        self._memory_identity: tuple[int, int] | None = None
        self._handler = _handler(self._note)
        self._observer = self._observe()
        self._thread = threading.Thread(target=self._run, name="workbench-watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for a call in progress, unless called from within it."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        current = threading.current_thread()
        if current is not self._thread:
            self._thread.join()
        self._observer.stop()
        if current is not self._observer:
            self._observer.join()

    def _observe(self) -> BaseObserver:
        from watchdog.observers import Observer
        from watchdog.observers.polling import PollingObserver

        # Its threads log an error where an event comes as they end; on stderr that would break the daemon's JSON lines.
        logging.getLogger("watchdog").setLevel(logging.CRITICAL)
        try:
            return self._start(Observer())
        except OSError:
            # The system is out of watches; polling finds the same, later.
            self._observer.unschedule_all()
            return self._start(PollingObserver(timeout=_POLL_SECONDS))

    def _start(self, observer: Any) -> BaseObserver:
        watched: BaseObserver = observer  # watchdog types its observers as factories
        # The root is watched flat: a repository beside the memory may hold any number of folders.
        watched.schedule(self._handler, str(self._root), recursive=False)
        self._observer = watched
        self._memory_watch = self._memory_identity = None
        self._follow_memory_folder()
        watched.start()
        return watched

    def _follow_memory_folder(self) -> None:
        """Watch the present `memory/` folder."""
        folder = self._root / "memory"
        try:
            status = folder.lstat()
        except OSError:
            identity = None
        else:
            identity = (status.st_dev, status.st_ino) if folder.is_dir() and not folder.is_symlink() else None
        if identity == self._memory_identity:
            return
        if self._memory_watch is not None:
            self._observer.unschedule(self._memory_watch)
            self._memory_watch = None
        self._memory_identity = None
        if identity is not None:
            self._memory_watch = self._observer.schedule(self._handler, str(folder), recursive=True)
            self._memory_identity = identity

    def _note(self, event: FileSystemEvent) -> None:
        if event.event_type in _READING or (event.is_directory and event.event_type == "modified"):
            return
        places = (os.fsdecode(event.src_path), os.fsdecode(event.dest_path or ""))
        concerned = [
            place for place in places if place and self._concerns(place, is_folder=event.is_directory)
        ]
        if not concerned:
            return
        with self._wake:
            if event.is_directory or len(self._paths or ()) > _MOST_PATHS:
                self._paths = None
            elif self._paths is not None:
                self._paths.update(Path(os.path.relpath(place, self._root)).as_posix() for place in concerned)
            self._last_event = time.monotonic()
            if not self._pending:
                self._pending = True
                self._first_event = self._last_event
                self._wake.notify_all()

    def _concerns(self, place: str, *, is_folder: bool) -> bool:
        path = os.path.relpath(place, self._root)
        # Even what changes no file, such as an acknowledgement, writes a line to the audit log.
        if layout.is_tracked(path) or path == layout.AUDIT_LOG:
            return True
        parts = Path(path).parts
        # The workspace itself has no part when deleted or moved away.
        return (
            is_folder and parts[:1] in ((), ("memory",)) and not any(part.startswith(".") for part in parts)
        )

    def _run(self) -> None:
        retry = _FIRST_RETRY
        while self._wait_for_quiet():
            try:
                watched = self._memory_identity
                self._follow_memory_folder()
                self._noted(self._take_paths() if watched == self._memory_identity else None)
                self._changed()
            except (WorkbenchError, OSError):
                with self._wake:
                    self._paths = None
                    self._wake.wait_for(lambda: self._stopped, timeout=retry)
                    self._pending = True
                retry = min(2 * retry, _LAST_RETRY)
            else:
                retry = _FIRST_RETRY

    def _take_paths(self) -> frozenset[str] | None:
        with self._wake:
            paths, self._paths = self._paths, set()
            return None if paths is None else frozenset(paths)

    def _wait_for_quiet(self) -> bool:
        """Wait for changes to start and end; return False if the watcher is stopped."""
        with self._wake:
            self._wake.wait_for(lambda: self._pending or self._stopped)
            while not self._stopped:
                latest = self._first_event + _MOST_QUIET_SPELLS * self._quiet
                left = min(self._last_event + self._quiet, latest) - time.monotonic()
                if left <= 0:
                    self._pending = False
                    return True
                self._wake.wait(left)
            return False


def _handler(note: Callable[[FileSystemEvent], None]) -> Any:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            note(event)

    return Handler()

"""Keeps the index up to date on a background thread while searches go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Sequence

from workbench.engine.errors import WorkbenchError
from workbench.engine.search.chunks import FileSource
from workbench.engine.search.index.index import Index, IndexState, IndexSync

# Seconds to wait for another building process: in the background, and on request.
_WAIT = 0.2
_LONG_WAIT = 60.0


class BackgroundTask:
    """Runs one kind of work on its own thread, once at a time, and again if requested meanwhile.

    Args:
        work: Does all pending work; given a function that says whether to stop.
        name: Of the thread.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], None], *, name: str) -> None:
        self._work = work
        self._name = name
        self._turn = threading.Condition()
        self._asked = 0
        self._done = 0
        self._stopping = False
        self._failure: WorkbenchError | None = None
        self._thread: threading.Thread | None = None

    @property
    def failure(self) -> WorkbenchError | None:
        """Return why the last round failed, or None."""
        return self._failure

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
                self._failure = failure
                self._done = round_
                self._turn.notify_all()


Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Ignore progress."""


class IndexUpdater:
    """An index, its sources, and the work of keeping them in step; thread-safe.

    Args:
        index: The index.
        sources: Everything searched.
        version: Returns the version of the sources: equal values mean no change.
        unread: Returns the paths that the sources have not read yet.
    """

    def __init__(
        self,
        index: Index,
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
        self._embedding_failure: str | None = None
        self._lock = threading.Lock()
        self._background = BackgroundTask(self._bring_up_to_date, name="workbench-index")

    @property
    def embedding_failure(self) -> str | None:
        """Return why the last embedding failed, or None."""
        return self._embedding_failure

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
        if self._vectors_left and self._embedding_failure is None:
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
        held = self.index.asked(lambda snapshot: snapshot.digests())
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

    def state(self) -> IndexState:
        """Return what the index holds."""
        return self.index.state()

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
        self._embedding_failure = synced.failure

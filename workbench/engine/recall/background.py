"""Work that goes on beside its callers, who wait for it as long as they like."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.engine.errors import WorkbenchError


class Background:
    """Does one kind of work on a thread of its own, once at a time, and again where it was asked for meanwhile.

    Args:
        work: Does everything there is to do; it is given a function that says whether to stop.
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
        """Return why the last round could not be finished, or None."""
        return self._failure

    @property
    def is_busy(self) -> bool:
        """Tell whether there is work under way."""
        with self._turn:
            return self._thread is not None

    def ask(self) -> None:
        """Have the work done with everything that is so by now; a round that began before does not count."""
        with self._turn:
            self._asked += 1
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None, *, enough: Callable[[], bool] = lambda: False) -> bool:
        """Wait until what was asked for so far is done, or was given up.

        Args:
            seconds: At most so long; None for as long as it takes.
            enough: Tells, whenever the work calls `tell`, whether what it has done so far will do.

        Returns:
            Whether it is over, or enough is done.
        """
        with self._turn:
            wanted = self._asked
            return self._turn.wait_for(
                lambda: self._done >= wanted or self._thread is None or enough(), timeout=seconds
            )

    def tell(self) -> None:
        """Let those who wait see whether they have waited enough."""
        with self._turn:
            self._turn.notify_all()

    def stop(self) -> None:
        """Have the work stop as soon as it can, and wait for that; what is asked for later is not done."""
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
                # Told to whoever asks next; the files are the truth, and nothing of them is lost.
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

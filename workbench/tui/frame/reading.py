"""Reads memory on threads: of what is read for one part, only the newest request is shown."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from workbench.engine.workspace import Workspace

T = TypeVar("T")
_READERS = 3


class Reading:
    """Answers questions to memory; the only thing beside `Acting` that calls the engine.

    Args:
        app: Which answers are delivered to, on its own thread.
        failed: Told of a question that could not be answered.
    """

    def __init__(
        self, app: App[None], workspace: Workspace, failed: Callable[[WorkbenchError], object]
    ) -> None:
        self._app = app
        self._workspace = workspace
        self._failed = failed
        self._newest: dict[str, int] = {}
        self._under_way: set[str] = set()
        self._pool = ThreadPoolExecutor(_READERS, "read")
        self._is_closed = False

    def read(
        self,
        part: str,
        ask: Callable[[Workspace], T],
        show: Callable[[T], object],
        failed: Callable[[WorkbenchError], object] | None = None,
    ) -> None:
        """Ask on a thread, and show the answer unless something newer was asked for the same part.

        Args:
            part: For whom; a newer request for it makes this one void.
            ask: Called on a thread.
            show: Called with the answer on the app's thread.
            failed: Told instead of the one that is told of every failure.
        """
        if self._is_closed:
            return
        number = self._newest[part] = self._newest.get(part, 0) + 1
        self._under_way.add(part)

        def answer() -> None:
            if self._newest[part] != number:
                return
            try:
                found = ask(self._workspace)
            except WorkbenchError as error:
                self._app.call_later(self._tell, part, number, failed or self._failed, error)
                return
            except Exception:
                if self._is_closed:
                    # The bench was left meanwhile: who asked looked for a screen that is gone.
                    return
                raise
            self._app.call_later(self._tell, part, number, show, found)

        self._pool.submit(answer).add_done_callback(partial(break_with, self._app))

    def is_reading(self, part: str) -> bool:
        """Return whether something is still being read for a part."""
        return part in self._under_way

    def forget(self, part: str) -> None:
        """Make void whatever is still being read for a part."""
        self._newest[part] = self._newest.get(part, 0) + 1
        self._under_way.discard(part)

    def _tell(self, part: str, number: int, show: Callable[[T], object], found: T) -> None:
        # Once the bench was left, there is nothing on the screen to show it in.
        if self._newest[part] == number and not self._is_closed:
            self._under_way.discard(part)
            show(found)

    def close(self) -> None:
        """Begin nothing more; what is asked from now on is not answered."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)


def break_with(app: App[Any], future: Future[None]) -> None:
    """End the bench with what nobody expected on a thread: it is ours to mend, and nothing may go on waiting for it."""
    if not future.cancelled() and (error := future.exception()) is not None:
        app.call_later(raise_on_screen, error)


def raise_on_screen(error: BaseException) -> None:
    """Raise what a thread ran into where it ends the bench, with its trace."""
    raise error

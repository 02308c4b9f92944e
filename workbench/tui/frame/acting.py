"""Acts on memory, one action after another; each ends in one sentence of the status line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Protocol

from workbench.display.remedies import told_in_bench
from workbench.engine.errors import WorkbenchError
from workbench.tui.frame.reading import break_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from textual.app import App

    from workbench.engine.workspace import Workspace


class Told(Protocol):
    """Is told after each action what was done."""

    def __call__(self, said: str, *, is_problem: bool, stays: bool) -> object: ...


class Acting:
    """A queue of actions, in the order in which they were asked for.

    Args:
        app: On whose thread is told what was done.
        workspace: What is acted on.
        done: Told the sentence after each action, with whether it is a problem and whether it stays.
    """

    def __init__(self, app: App[None], workspace: Workspace, done: Told) -> None:
        self._app = app
        self._workspace = workspace
        self._done = done
        self._queue = ThreadPoolExecutor(1, "act")
        self._last: Future[None] | None = None
        self._under_way = 0

    def act(self, call: Callable[[Workspace], str], *, stays: bool = True) -> None:
        """Have something done.

        Args:
            call: Does it and returns the sentence that says so; called on the thread of actions.
            stays: Whether the sentence holds wherever one goes on to.
        """

        def do() -> None:
            try:
                said, is_problem = call(self._workspace), False
            except WorkbenchError as error:
                said, is_problem = told_in_bench(error), True
            self._app.call_later(self._tell, said, is_problem, stays)

        self._under_way += 1
        self._last = self._queue.submit(do)
        self._last.add_done_callback(partial(break_with, self._app))

    @property
    def is_busy(self) -> bool:
        """Return whether something that was asked for is not done and told yet."""
        return self._under_way > 0

    def _tell(self, said: str, is_problem: bool, stays: bool) -> None:
        self._under_way -= 1
        self._done(said, is_problem=is_problem, stays=stays)

    def close(self) -> None:
        """Wait until everything asked for is done; nothing more is taken then."""
        if self._last is not None:
            wait([self._last])
        self._queue.shutdown(wait=False)

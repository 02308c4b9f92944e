"""Which changes make up one action though each is a commit of its own, so that one undo takes all of them back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.errors import Stale

if TYPE_CHECKING:
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import FileView, Plan, Planner

T = TypeVar("T")


class OneAction(threading.local):
    """The action that a thread's changes belong to; by itself, each change is one of its own."""

    def __init__(self) -> None:
        self._is_open = False
        self._first: str | None = None
        self._base: str | None = None

    @contextmanager
    def resting_on(self, history: History | None) -> Iterator[None]:
        """Let changes of a block rest on memory as it is now: they are refused once a purge took something out of it.

        What was read before a purge would bring back what is purged.

        Args:
            history: Whose newest commit they rest on; None where there is no history yet.
        """
        before, self._base = self._base, history.head() if history is not None else None
        try:
            yield
        finally:
            self._base = before

    def refuse_purged(self, history: History) -> None:
        """Refuse a change that rests on memory from before a purge. Needs the writer's lock.

        Raises:
            Stale: What it rests on is no longer in the history.
        """
        if self._base is not None and not history.holds(self._base):
            raise Stale(
                "Something was purged from memory while this ran; nothing was written, since it may say that again.",
                where=str(history.root),
                remedy="Do it again; what was purged is not read any more.",
            )

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Let every change that this thread makes meanwhile go on with the first one."""
        self._is_open, self._first = True, None
        try:
            yield
        finally:
            self._is_open, self._first = False, None

    def going_on(self, planner: Planner[T]) -> Planner[T]:
        """Return a planner whose commit names the first one of its action, where there is one."""
        trailers = self.trailers
        if not trailers:
            return planner

        def plan(view: FileView) -> Plan[T]:
            planned = planner(view)
            return replace(planned, trailers=(*planned.trailers, *trailers))

        return plan

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        """Return what a commit says that goes on with the first one of its action; nothing where it is none."""
        from workbench.engine.history.trailers import CONTINUES

        return () if self._first is None else ((CONTINUES, self._first),)

    def note(self, commit: str | None) -> None:
        """Take the first commit since the action began for its first."""
        if self._is_open and self._first is None:
            self._first = commit

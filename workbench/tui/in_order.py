"""Runs what a person asks for one after another, off the screen's thread: keys neither wait nor overtake."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future


class InOrder:
    """A queue of actions on a thread of its own, which is made with the first of them.

    Args:
        broke: Told on that thread of an error that an action did not expect: it is ours, and must not pass unseen.
    """

    def __init__(self, broke: Callable[[BaseException], object]) -> None:
        self._broke = broke
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="in order")
        self._number = 0
        self._newest: Future[None] | None = None
        self._closed = False

    @property
    def number(self) -> int:
        """Return the number of the newest action."""
        return self._number

    def submit(self, action: Callable[[int], None]) -> int:
        """Have an action run once those before it are over.

        Args:
            action: Given its own number.

        Returns:
            Its number, from 1 and ascending.
        """
        submitted = self._submit(action)
        self._newest = submitted or self._newest
        return self._number

    def look(self, action: Callable[[int], None]) -> None:
        """Have something read once those before it are over; leaving does not wait for it.

        Args:
            action: Given its own number.
        """
        self._submit(action)

    def _submit(self, action: Callable[[int], None]) -> Future[None] | None:
        self._number += 1
        if self._closed:
            return None
        future = self._executor.submit(action, self._number)
        future.add_done_callback(self._over)
        return future

    def _over(self, future: Future[None]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            self._broke(error)

    async def finish(self) -> None:
        """Wait until everything asked for is over; nothing more is taken then."""
        self._closed = True
        # It has a thread of its own: those that others read with may all be taken for long.
        if self._newest is not None:
            await asyncio.wait([asyncio.wrap_future(self._newest)])
        self._executor.shutdown(wait=False)

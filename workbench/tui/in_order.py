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
        self._number += 1
        if not self._closed:
            self._executor.submit(action, self._number).add_done_callback(self._over)
        return self._number

    def _over(self, future: Future[None]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            self._broke(error)

    async def finish(self) -> None:
        """Wait until everything asked for is over; nothing more is taken then."""
        self._closed = True
        await asyncio.to_thread(self._executor.shutdown)

"""Asks somebody else's machine several things at once, and stops waiting as soon as nobody wants the answers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from workbench.engine.providers.embedding.model import EmbeddingCancelled

# Seconds between two looks at whether the answers are still wanted.
_LOOK_SECONDS = 0.05
# What is about to be answered may end in order, and let go of its connection.
_GRACE_SECONDS = 0.25

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def ask_at_once(
    ask: Callable[[Asked], Answer], everything: Sequence[Asked], *, most: int, cancelled: Callable[[], bool]
) -> list[Answer]:
    """Return the answer to each thing, in order.

    What is under way when it is cancelled, or when another answer fails, is left to end by itself: it keeps
    neither the caller nor the end of the program waiting.

    Args:
        ask: Gives one answer; called on other threads.
        everything: What to ask.
        most: Most things asked at the same time.
        cancelled: Asked again and again.

    Raises:
        EmbeddingCancelled: `cancelled` said so.
        Exception: What the first `ask` that failed raised.
    """
    waiting = deque(enumerate(everything))
    answers: SimpleQueue[tuple[int, list[Answer], Exception | None]] = SimpleQueue()

    def work() -> None:
        while waiting:
            try:
                number, asked = waiting.popleft()
            except IndexError:
                return
            try:
                answers.put((number, [ask(asked)], None))
            except Exception as error:  # raised again on the caller's thread
                answers.put((number, [], error))

    found: dict[int, Answer] = {}
    threads = [
        threading.Thread(target=work, name="embedding", daemon=True)
        for _ in range(min(most, len(everything)))
    ]
    try:
        for thread in threads:
            thread.start()
        while len(found) < len(everything):
            if cancelled():
                raise EmbeddingCancelled
            try:
                number, answer, error = answers.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue
            if error is not None:
                raise error
            found[number] = answer[0]
    finally:
        waiting.clear()
        until = time.monotonic() + _GRACE_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
    return [found[number] for number in range(len(everything))]

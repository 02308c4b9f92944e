"""Waits for an answer on another thread, and stops waiting as soon as nobody wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from workbench.engine.providers.chat import ChatCancelled

# Seconds between two looks at whether the answer is still wanted.
_LOOK_SECONDS = 0.05

Answer = TypeVar("Answer")


def answer_unless_cancelled(
    ask: Callable[[Callable[[], bool]], Answer], cancelled: Callable[[], bool] | None
) -> Answer:
    """Return an answer, or give up on it.

    What is under way when it is called off is told so and left to end by itself: it keeps neither the caller nor
    the end of the program waiting.

    Args:
        ask: Gives the answer. It is handed a function that tells, on any thread, whether it was given up.
        cancelled: Asked again and again on the caller's thread; None to wait for the answer there.

    Raises:
        ChatCancelled: `cancelled` said so.
        Exception: What `ask` raised.
    """
    if cancelled is None:
        return ask(lambda: False)
    if cancelled():
        raise ChatCancelled
    given_up = threading.Event()
    answers: SimpleQueue[tuple[list[Answer], Exception | None]] = SimpleQueue()

    def work() -> None:
        try:
            answers.put(([ask(given_up.is_set)], None))
        except Exception as error:  # raised again on the caller's thread
            answers.put(([], error))

    threading.Thread(target=work, name="chat", daemon=True).start()
    try:
        while True:
            try:
                answer, error = answers.get(timeout=_LOOK_SECONDS)
            except Empty:
                if cancelled():
                    raise ChatCancelled from None
                continue
            if error is not None:
                raise error
            return answer[0]
    finally:
        given_up.set()

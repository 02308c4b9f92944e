"""Work beside its callers: once at a time, never lost, always stoppable."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.engine.errors import StorageError
from workbench.engine.search.updater import BackgroundTask


def test_what_is_asked_for_while_it_works_is_done_in_another_round() -> None:
    begun, go_on = threading.Semaphore(0), threading.Semaphore(0)
    rounds: list[str] = []

    def work(_: Callable[[], bool]) -> None:
        rounds.append(threading.current_thread().name)
        begun.release()
        go_on.acquire()

    background = BackgroundTask(work, name="test")
    background.ask()
    begun.acquire()
    background.ask()
    background.ask()
    assert background.is_busy
    assert not background.wait(0)
    go_on.release(2)
    assert background.wait(60)
    assert rounds == ["test", "test"]


def test_a_failure_is_told_until_a_round_succeeds() -> None:
    failing = [True]

    def work(_: Callable[[], bool]) -> None:
        if failing:
            raise StorageError("The disk is full.")

    background = BackgroundTask(work, name="test")
    background.ask()
    assert background.wait(60)
    assert str(background.failure) == "The disk is full."
    failing.clear()
    background.ask()
    assert background.wait(60)
    assert background.failure is None


def test_stopping_tells_the_work_and_waits_for_it() -> None:
    begun = threading.Event()
    ended = threading.Event()

    def work(cancelled: Callable[[], bool]) -> None:
        begun.set()
        while not cancelled():
            ended.wait(0.001)
        ended.set()

    background = BackgroundTask(work, name="test")
    background.ask()
    begun.wait(60)
    background.stop()
    assert ended.is_set()
    background.ask()
    assert background.wait(0)
    assert not background.is_busy

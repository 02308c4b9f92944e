"""One writer at a time, and whoever waits in vain is told for whom."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.engine.errors import HistoryError, Locked, StorageError
from workbench.engine.history import journal
from workbench.engine.history.journal import QUEUE_FILE, WriterLock

SINCE = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)

HOLDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from workbench.engine.history.journal import WriterLock

with WriterLock(Path(sys.argv[1]), timeout=1).hold("bot:busy", datetime(2026, 2, 2, 14, 30, tzinfo=UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, str(path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    assert child.stdout.readline() == "held\n"
    return child


def test_another_process_is_named(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    try:
        with (
            pytest.raises(Locked, match=rf"process {child.pid}, bot:busy.* 2026-02-02T14:30:00Z"),
            WriterLock(tmp_path / "lock", timeout=0.02).hold("manual", SINCE),
        ):
            pass
    finally:
        child.communicate()
    with WriterLock(tmp_path / "lock", timeout=0.02).hold("manual", SINCE) as held:
        assert not held.predecessor_died


def test_a_queue_that_moves_is_waited_in(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    turns = iter(range(1, 4))

    def another_holder(_: object) -> int:
        number = next(turns)
        if number == 3:
            child.communicate()
        return number

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(journal, "_turns", another_holder)
        with WriterLock(tmp_path / "lock", timeout=0.02).hold("manual", SINCE):
            pass
    assert next(turns, None) is None


def test_no_queue_is_waited_in_for_ever(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    turns = iter(range(100))
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(journal, "_turns", lambda _: next(turns))
            with (
                pytest.raises(Locked, match="bot:busy"),
                WriterLock(tmp_path / "lock", timeout=0.001).hold("manual", SINCE),
            ):
                pass
    finally:
        child.communicate()
    assert next(turns) == journal._MOST_ROUNDS + 1


@pytest.mark.skipif(
    not Path("/proc/locks").exists(), reason="only this tells who stands in the kernel's queue"
)
def test_they_come_in_the_order_in_which_they_stood(tmp_path: Path) -> None:
    came: list[int] = []

    def come(number: int) -> None:
        with WriterLock(tmp_path / "lock", timeout=10).hold(f"bot:{number}", SINCE):
            came.append(number)

    waiting = [threading.Thread(target=come, args=(number,)) for number in range(8)]
    with WriterLock(tmp_path / "lock", timeout=10).hold("manual", SINCE):
        for number, thread in enumerate(waiting):
            thread.start()
            while in_queue(tmp_path / QUEUE_FILE) <= number:
                time.sleep(0.001)
    for thread in waiting:
        thread.join()
    assert came == list(range(8))


def test_a_place_that_was_left_keeps_nobody_waiting(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    head = threading.Thread(target=lambda: took.append(took_in_turn(tmp_path / "lock")))
    took: list[bool] = []
    head.start()
    while not (tmp_path / QUEUE_FILE).exists():
        time.sleep(0.001)
    try:
        with (
            pytest.raises(Locked),
            WriterLock(tmp_path / "lock", timeout=0.02).hold("bot:impatient", SINCE),
        ):
            pass
    finally:
        child.communicate()
    head.join()
    assert took == [True]
    assert took_in_turn(tmp_path / "lock")


def in_queue(path: Path) -> int:
    """Return how many hold the lock on a file or are waiting for it."""
    file = f":{path.stat().st_ino} " if path.exists() else "none"
    return Path("/proc/locks").read_text(encoding="utf-8").count(file)


def took_in_turn(path: Path) -> bool:
    with WriterLock(path, timeout=10).hold("manual", SINCE):
        return True


def test_the_lock_of_a_killed_process_is_free_and_known(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    child.kill()
    child.communicate()
    own = WriterLock(tmp_path / "lock", timeout=1)
    with own.hold("manual", SINCE) as held:
        assert held.predecessor_died
    with own.hold("manual", SINCE) as held:
        assert not held.predecessor_died


def test_an_error_inside_is_no_death(tmp_path: Path) -> None:
    own = WriterLock(tmp_path / "lock", timeout=1)
    with pytest.raises(ValueError), own.hold("manual", SINCE):
        raise ValueError
    with own.hold("manual", SINCE) as held:
        assert not held.predecessor_died


def test_two_doors_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    with (
        WriterLock(tmp_path / "lock", timeout=1).hold("bot:first", SINCE),
        pytest.raises(Locked, match="bot:first"),
        WriterLock(tmp_path / "lock", timeout=0.01).hold("bot:second", SINCE),
    ):
        pass


def test_the_same_thread_is_told_that_it_nests(tmp_path: Path) -> None:
    own = WriterLock(tmp_path / "lock", timeout=1)
    with own.hold("a", SINCE), pytest.raises(HistoryError, match="inside another"), own.hold("b", SINCE):
        pass


def test_a_lock_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError), WriterLock(tmp_path / "none/lock", timeout=1).hold("a", SINCE):
        pass


def test_a_lock_is_abandoned_once_its_holder_died(tmp_path: Path) -> None:
    own = WriterLock(tmp_path / "lock", timeout=1)
    assert not own.was_abandoned()
    (tmp_path / "lock").write_text("4711 somebody\n")
    assert own.was_abandoned()
    with own.hold("manual", datetime(2026, 2, 2, tzinfo=UTC)) as held:
        assert held.predecessor_died
        assert not WriterLock(tmp_path / "lock", timeout=1).was_abandoned()
    assert not own.was_abandoned()

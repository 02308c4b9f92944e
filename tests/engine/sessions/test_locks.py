"""Lock files among real processes: one at a time, left behind by the dead, and by other programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.engine.errors import Locked, StorageError
from workbench.engine.sessions.locks import store_lock, transcript_lock

Lock = Callable[..., AbstractContextManager[None]]
both = pytest.mark.parametrize("lock", [store_lock, transcript_lock])
HOLDER = """
import sys, time
from pathlib import Path
from workbench.engine.sessions import locks
with getattr(locks, sys.argv[1])(Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(60)
"""
ADDER = """
import sys
from pathlib import Path
from workbench.engine.sessions import locks
place, counter = Path(sys.argv[2]), Path(sys.argv[3])
for _ in range(40):
    with getattr(locks, sys.argv[1])(place):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def dead_pid() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def aged(place: Path, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(place, (moment, moment))


@both
def test_a_lock_is_a_file_while_it_is_held(lock: Lock, tmp_path: Path) -> None:
    place = tmp_path / "a.jsonl"
    with lock(place):
        held = json.loads((tmp_path / "a.jsonl.lock").read_text())
        assert held["pid"] == os.getpid()
        assert {"startedAt", "createdAt"} & set(held)
        with lock(place):
            pass
        assert (tmp_path / "a.jsonl.lock").exists()
    assert list(tmp_path.iterdir()) == []


@both
def test_threads_of_one_process_take_turns(lock: Lock, tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with lock(tmp_path / "a.jsonl"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 80


@both
@pytest.mark.slow
def test_processes_take_turns(lock: Lock, tmp_path: Path) -> None:
    place, counter = tmp_path / "a.jsonl", tmp_path / "counter"
    counter.write_text("0")
    name = lock.__name__
    running = [subprocess.Popen([sys.executable, "-c", ADDER, name, place, counter]) for _ in range(4)]
    assert [each.wait(120) for each in running] == [0] * 4
    assert counter.read_text() == "160"
    assert not (tmp_path / "a.jsonl.lock").exists()


@both
def test_a_killed_process_leaves_nobody_waiting(lock: Lock, tmp_path: Path) -> None:
    place = tmp_path / "a.jsonl"
    name = lock.__name__
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, name, place], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Locked, match=str(holder.pid)), lock(place, wait=0.1):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert (tmp_path / "a.jsonl.lock").exists()
    with lock(place, wait=0):
        pass


def test_another_programs_store_lock_is_stale_after_half_a_minute(tmp_path: Path) -> None:
    place, lock = tmp_path / "sessions.json", tmp_path / "sessions.json.lock"
    lock.write_text(json.dumps({"pid": dead_pid(), "startedAt": 1}))
    aged(lock, 25)
    with pytest.raises(Locked), store_lock(place, wait=0.05):
        pass
    aged(lock, 31)
    with store_lock(place, wait=0):
        pass


@pytest.mark.parametrize(
    ("content", "age", "stale"),
    [
        ('{"pid": %(me)d, "createdAt": "%(now)s"}', 0, False),
        ('{"pid": %(dead)d, "createdAt": "%(now)s"}', 0, True),
        ('{"pid": %(me)d, "createdAt": "%(old)s"}', 0, True),
        ('{"pid": %(me)d, "createdAt": "nonsense"}', 10, True),
        ('{"pid": %(me)d, "createdAt": "%(later)s"}', 0, True),
        ("no json", 10, True),
        ("[]", 10, True),
        ("", 10, True),
        ("", 0, False),
    ],
)
def test_another_programs_transcript_lock(content: str, age: float, stale: bool, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    known = {
        "me": os.getpid(),
        "dead": dead_pid(),
        "now": now.isoformat(),
        "old": (now - timedelta(minutes=31)).isoformat(),
        "later": (now + timedelta(days=300)).isoformat(),
    }
    lock = tmp_path / "a.jsonl.lock"
    lock.write_text(content % known if "%" in content else content)
    aged(lock, age)
    if stale:
        with transcript_lock(tmp_path / "a.jsonl", wait=0):
            pass
        assert not lock.exists()
    else:
        with pytest.raises(Locked), transcript_lock(tmp_path / "a.jsonl", wait=0.05):
            pass
        assert lock.exists()


def test_a_lock_from_before_the_clock_was_set_back_is_stale(tmp_path: Path) -> None:
    lock = tmp_path / "sessions.json.lock"
    lock.write_text("{}")
    aged(lock, -3600)
    with store_lock(tmp_path / "sessions.json", wait=0):
        pass
    assert not lock.exists()


@both
@pytest.mark.parametrize("made", [os.mkdir, os.mkfifo])
def test_what_is_no_file_in_its_place_is_told(
    lock: Lock, made: Callable[[Path], None], tmp_path: Path
) -> None:
    made(tmp_path / "a.jsonl.lock")
    with pytest.raises(StorageError, match="no file"), lock(tmp_path / "a.jsonl", wait=0.05):
        pass
    assert (tmp_path / "a.jsonl.lock").exists()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "a.jsonl.lock").symlink_to(tmp_path / "other")
    with pytest.raises(Exception, match="lock"), transcript_lock(tmp_path / "a.jsonl", wait=0.05):
        pass
    assert (tmp_path / "other").read_text() == "kept"

"""One writer at a time, and whoever waits in vain is told for whom."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.engine.errors import HistoryError, Locked, StorageError
from workbench.engine.history.lock import WriterLock

SINCE = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)

HOLDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from workbench.engine.history.lock import WriterLock

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


def test_the_lock_of_a_killed_process_is_free_and_known(tmp_path: Path) -> None:
    child = holder(tmp_path / "lock")
    child.kill()
    child.communicate()
    lock = WriterLock(tmp_path / "lock", timeout=1)
    with lock.hold("manual", SINCE) as held:
        assert held.predecessor_died
    with lock.hold("manual", SINCE) as held:
        assert not held.predecessor_died


def test_an_error_inside_is_no_death(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock", timeout=1)
    with pytest.raises(ValueError), lock.hold("manual", SINCE):
        raise ValueError
    with lock.hold("manual", SINCE) as held:
        assert not held.predecessor_died


def test_two_doors_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    with (
        WriterLock(tmp_path / "lock", timeout=1).hold("bot:first", SINCE),
        pytest.raises(Locked, match="bot:first"),
        WriterLock(tmp_path / "lock", timeout=0.01).hold("bot:second", SINCE),
    ):
        pass


def test_the_same_thread_is_told_that_it_nests(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock", timeout=1)
    with lock.hold("a", SINCE), pytest.raises(HistoryError, match="inside another"), lock.hold("b", SINCE):
        pass


def test_a_lock_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError), WriterLock(tmp_path / "none/lock", timeout=1).hold("a", SINCE):
        pass


def test_a_lock_is_abandoned_once_its_holder_died(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock", timeout=1)
    assert not lock.was_abandoned()
    (tmp_path / "lock").write_text("4711 somebody\n")
    assert lock.was_abandoned()
    with lock.hold("manual", datetime(2026, 2, 2, tzinfo=UTC)) as held:
        assert held.predecessor_died
        assert not WriterLock(tmp_path / "lock", timeout=1).was_abandoned()
    assert not lock.was_abandoned()

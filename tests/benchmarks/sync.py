"""How long syncing takes: `python -m tests.benchmarks.sync [MEMORIES] [COMMITS] [plain|sealed]`.

20,000 and 50,000 by default, and both ways. Two devices and a remote that is a folder on the same disk, first as it is,
then sealed. Seconds of wall clock and of processor time, git's included; each sync is a call in a process that is warm.
The past is that of `large_history`, which takes more commits than memories.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks.large_history import make_history
from tests.benchmarks.large_workspace import generate
from workbench.engine import Workspace
from workbench.engine.clock import FixedClock


def lay_out(root: Path, memories: int, commits: int) -> None:
    """Make a memory: half of it episodes, half of it entities."""
    generate(root, episodes=memories // 2, entities=memories // 2)
    make_history(root, commits=commits)


def size_of(folder: Path) -> int:
    """Return the bytes of a folder's files."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def timed(what: str, act: Callable[[], object]) -> None:
    """Print what something took."""

    def used() -> float:
        return sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )

    began, before = time.perf_counter(), used()
    act()
    sys.stdout.write(
        f"{what:44} {time.perf_counter() - began:7.2f} s   {used() - before:7.2f} s of processor\n"
    )
    sys.stdout.flush()


def main(memories: int, commits: int, *ways: str) -> None:
    """Measure it."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        os.environ |= {"XDG_STATE_HOME": str(base / "state"), "XDG_CACHE_HOME": str(base / "cache")}
        clock = FixedClock(datetime(2026, 2, 3, 8, tzinfo=UTC))
        timed(
            f"laid out: {memories:,} memories, {commits:,} commits",
            lambda: lay_out(base / "laid", memories, commits),
        )
        for way in ways or ("plain", "sealed"):
            sys.stdout.write(f"\n{way}\n")
            shutil.copytree(base / "laid", base / way / "one", symlinks=True)
            measure(base / way, clock, sealed=way == "sealed")


def measure(base: Path, clock: FixedClock, *, sealed: bool) -> None:
    """Measure what two devices do through one remote.

    Args:
        base: The folder that holds the first device's workspace, `one`.
        clock: The clock of both.
        sealed: Whether what they send is sealed.
    """
    one, other, remote = base / "one", base / "other", str(base / "remote.git")
    other.mkdir()

    def write(root: Path, times: int, name: str) -> None:
        with Workspace.open(root, role="person", clock=clock) as workspace:
            for number in range(times):
                clock.advance(minutes=20)
                workspace.remember(f"{name} planted {number} trees", entities=[f"person:{name}"])

    def sync(root: Path) -> None:
        with Workspace.open(root, role="person", clock=clock) as workspace:
            workspace.sync(remote, confirmed=True, sealed=sealed)

    def let_in() -> None:
        with Workspace.open(other, role="person", clock=clock) as workspace:
            key = workspace.sync_key().key
        with Workspace.open(one, role="person", clock=clock) as workspace:
            workspace.sync_allow(key)

    timed(
        "looking at what would leave",
        lambda: Workspace.open(one, role="person").sync_preview(remote, sealed=sealed),
    )
    timed("first sync: everything sent", lambda: sync(one))
    sys.stdout.write(f"{'the remote':44} {size_of(Path(remote)) / 1e6:7.1f} MB\n")
    if sealed:
        timed("another device let in: all sealed anew", let_in)
    timed("into an empty folder", lambda: sync(other))
    # The catalog of the other one is made with its first change.
    write(other, 1, "Nora")
    sync(other)
    sync(one)
    timed("nothing new", lambda: sync(one))
    write(one, 1, "Tom")
    timed("one change sent", lambda: sync(one))
    timed("one change received", lambda: sync(other))
    write(one, 1, "Tom")
    write(other, 1, "Nora")
    sync(one)
    timed("one change on both sides", lambda: sync(other))
    sync(one)
    write(one, 300, "Tom")
    write(other, 300, "Nora")
    sync(one)
    timed("two weeks apart: 300 changes on both sides", lambda: sync(other))
    timed("the same, received", lambda: sync(one))
    sys.stdout.write(f"{'the remote at the end':44} {size_of(Path(remote)) / 1e6:7.1f} MB\n")


if __name__ == "__main__":
    numbers, ways = sys.argv[1:3] or ("20000", "50000"), sys.argv[3:]
    main(int(numbers[0]), int(numbers[1]), *ways)

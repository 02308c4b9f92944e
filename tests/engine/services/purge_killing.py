"""Purges that die at a chosen step, and everything that could still say what they purged.

`python -m tests.engine.services.purge_killing FOLDER` walks through the steps of a purge in a new folder: at each it
kills a real process, opens the workspace again in one of several ways, and looks for the text.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pygit2
import pytest

from tests.engine.services.agent_home import AgentHome
from tests.isolation import isolate
from workbench.engine import layout
from workbench.engine.errors import NotFound
from workbench.engine.history import work_files
from workbench.engine.history.maintenance import repack_if_due
from workbench.engine.history.recovery import PURGE_MARKER

MARK = "xylophone"
SECRET = f"Robin keeps the {MARK} in the lighthouse"
MAIN = "agent:main:main"
_CHANGES = frozenset({"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.truncate"})
_CALLS = (*((os, name) for name in ("fsync", "fdatasync", "write", "ftruncate")), (work_files, "swap"))
_WRITING = os.O_WRONLY | os.O_RDWR


def told(home: AgentHome) -> str:
    """Say the secret wherever a memory is kept; return the id of the episode."""
    with home.open() as workspace:
        workspace.remember("The tram was late", store="episodic")
        workspace.session_append(MAIN, f"Remember that {SECRET}.")
        kept = workspace.remember(SECRET, store="episodic", entities=["person:Robin"])
        workspace.remember(f"{SECRET}, with ghp_Zq91Zq91Zq91Zq91Zq91Zq91Zq91Zq91Zq91")
        workspace.core_add("Critical Facts", SECRET)
        workspace.show(kept.id)
        workspace.search(MARK)
        assert kept.id
        return kept.id


def purge(home: AgentHome, memory_id: str) -> bool:
    """Purge as the command does; return whether it was applied."""
    with home.open() as workspace:
        return workspace.forget(ids=[memory_id], apply=True, hard=True, purge_history=True).applied


def holding(folder: Path) -> list[str]:
    """Return every file below a folder, and every object of histories in it, that says the secret."""
    found = []
    for place in sorted(folder.rglob("*")):
        # SQLite deletes its own files while they are looked at.
        with contextlib.suppress(FileNotFoundError):
            if place.is_file() and _says(place.read_bytes() + os.fsencode(place.name)):
                found.append(str(place.relative_to(folder)))
    for history in sorted(folder.rglob(layout.HISTORY)):
        objects = pygit2.Repository(str(history)).odb
        found += [f"{history.name}:{oid}" for oid in objects if _says(objects.read(oid)[1])]
    return found


def _says(content: bytes) -> bool:
    return MARK.encode() in content.lower()


def _die_at(number: int) -> None:
    """Let this process be killed before its step of that number: a change of a file or a folder, or a flush."""
    steps = itertools.count()

    def step() -> None:
        if next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        flags = arguments[2] if event == "open" else 0
        if event in _CHANGES or (isinstance(flags, int) and flags & _WRITING):
            step()

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def counting(*arguments: object, **options: object) -> object:
            step()
            return call(*arguments, **options)

        return counting

    for module, name in _CALLS:
        setattr(module, name, counted(getattr(module, name)))
    sys.addaudithook(heard)


def in_process(work: Callable[[], object]) -> int:
    """Do something in a process of its own; return how that ended: 0, or minus the signal that killed it."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Walk:
    """A home in which one purge after the other dies.

    Args:
        folder: An empty folder, which cache, state and settings lie in too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._kept = folder / "now", folder / "before"
        self.home = AgentHome(self._folder / "agent")
        self.home.furnish()
        self.home.init()
        self.purged = told(self.home)
        self.files = self.home.tracked()
        self.head = self.home.git("rev-parse", "main")
        shutil.copytree(self._folder, self._kept, symlinks=True)

    def die_at(self, number: int, *, repacking: bool = False) -> int:
        """Put all back as it was and let a purge die at a step; return how its process ended.

        Args:
            number: The step, counted from 0.
            repacking: Whether the history is being repacked in the background.
        """
        shutil.rmtree(self._folder)
        shutil.copytree(self._kept, self._folder, symlinks=True)

        def die() -> None:
            with self.home.open() as workspace:
                if repacking:
                    repack_if_due(workspace._context.history, many_objects=0)
                _die_at(number)
                workspace.forget(ids=[self.purged], apply=True, hard=True, purge_history=True)

        return in_process(die)

    def check(self, opening: str) -> str:
        """Open the workspace again in some way; return what the purge had come to, or raise what is wrong."""
        marked = (self.home.root / layout.HISTORY / PURGE_MARKER).exists()
        if not marked and self.home.git("rev-parse", "main") == self.head:
            assert self.home.tracked() == self.files, "something changed"
            with self.home.open() as workspace:
                assert MARK in workspace.show(self.purged).text
                assert workspace.search(MARK).results
            assert purge(self.home, self.purged)
            come_to = "nothing had happened"
        else:
            come_to = "was noted" if marked else "was done"
            self._open_again(opening, marked=marked)
        left = holding(self._folder)
        assert not left, left
        with self.home.open() as workspace:
            assert workspace.audit_verify().problems == ()
            assert workspace.audit_alerts().alerts == ()
        assert "The tram was late" in self.home.text("memory/episodes/2026-02-02.md")
        return come_to

    def _open_again(self, opening: str, *, marked: bool) -> None:
        self.home.clock.advance(minutes=5)
        if opening == "the same command":
            assert purge(self.home, self.purged)
        elif opening == "doctor":
            with self.home.open() as workspace:
                assert ("purge" in {check.name for check in workspace.doctor().checks}) == marked
                workspace.audit_log()
                assert "purge" not in {check.name for check in workspace.doctor().checks}
        elif opening == "an agent":
            with self.home.open("main") as workspace:
                workspace.adopt()
        else:
            with self.home.open() as workspace:
                assert workspace.remember("Robin likes rain", store="episodic").commit
        with self.home.open() as workspace:
            try:
                workspace.show(self.purged)
            except NotFound:
                return
            raise AssertionError("the memory is still found")


OPENINGS = ("remember", "the same command", "doctor", "an agent")


def walk(folder: Path, numbers: Iterator[int], *, repacking: bool = False) -> dict[str, int]:
    """Let a purge die at each of these steps, until there is no such step; return how often it had come to what."""
    counts: dict[str, int] = {}
    walked = Walk(folder)
    for number in numbers:
        ended = walked.die_at(number, repacking=repacking)
        assert ended in (0, -signal.SIGKILL), ended
        try:
            come_to = walked.check(OPENINGS[number % len(OPENINGS)])
        except Exception as error:
            raise AssertionError(f"step {number}") from error
        counts[come_to] = counts.get(come_to, 0) + 1
        if ended == 0:
            return counts
    return counts


def main() -> None:
    """Walk through some of the steps, and print how often a purge had come to what."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--first", type=int, default=0, help="the first step")
    parser.add_argument("--last", type=int, default=100_000, help="the step before which to stop")
    parser.add_argument("--every", type=int, default=1, help="steps from one kill to the next")
    parser.add_argument(
        "--repacking", action="store_true", help="while history is repacked in the background"
    )
    asked = parser.parse_args()
    with pytest.MonkeyPatch.context() as patch:
        (asked.folder / "now").mkdir(parents=True)
        isolate(asked.folder / "now", patch, timezone="Europe/Stockholm")
        steps = iter(range(asked.first, asked.last, asked.every))
        print(walk(asked.folder, steps, repacking=asked.repacking))


if __name__ == "__main__":
    main()

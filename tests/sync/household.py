"""Devices that share one memory through one remote: folders with workspaces, and what they hold."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from workbench.engine import Workspace, layout
from workbench.engine.clock import FixedClock
from workbench.engine.history.maintenance import run_git
from workbench.engine.results.memories import Remembered
from workbench.engine.results.sync import Synced

START = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)


class Household:
    """A remote, and devices by name, each a folder.

    Args:
        folder: An empty temporary folder.
        sealed: Whether what goes to the remote is sealed; the environment decides if left out.
    """

    def __init__(self, folder: Path, *, sealed: bool = "WORKBENCH_TEST_SEALED" in os.environ) -> None:
        self.folder = folder
        self.is_sealed = sealed
        self.joined: list[str] = []
        self.remote = folder / "remote.git"
        self.clock = FixedClock(START)

    def root(self, name: str) -> Path:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        return place

    @contextmanager
    def opened(self, name: str, role: str = "person") -> Iterator[Workspace]:
        self.clock.advance(minutes=1)
        with Workspace.open(self.root(name), role=role, clock=self.clock) as workspace:
            yield workspace

    def begin(self, *names: str) -> None:
        """Lay out a memory on the first device and bring it to the others."""
        Workspace.init(self.root(names[0]), clock=self.clock, timezone="UTC")
        for name in names:
            self.join(name)

    def join(self, name: str, remote: str | None = None) -> Synced:
        """Name the remote on a device; where it is sealed, one that is in lets it in."""
        if self.is_sealed and self.joined and name not in self.joined:
            self.allow(self.joined[0], self.key(name))
        with self.opened(name) as workspace:
            synced = workspace.sync(
                remote or str(self.remote), confirmed=True, device=name, sealed=self.is_sealed
            )
        self.joined.append(name)
        return synced

    def key(self, name: str) -> str:
        with self.opened(name) as workspace:
            return workspace.sync_key().key

    def allow(self, name: str, key: str) -> None:
        with self.opened(name) as workspace:
            workspace.sync_allow(key)

    def sync(self, *names: str) -> Synced:
        """Sync devices one after the other; return what the last one did."""
        for name in names:
            with self.opened(name) as workspace:
                synced = workspace.sync()
        return synced

    def remember(self, name: str, text: str, *entities: str) -> Remembered:
        with self.opened(name) as workspace:
            remembered = workspace.remember(text, entities=list(entities))
        assert isinstance(remembered, Remembered)
        return remembered

    def purge(self, name: str, query: str) -> None:
        with self.opened(name) as workspace:
            assert workspace.forget(query, apply=True, hard=True, purge_history=True).matches

    def files(self, name: str) -> dict[str, bytes]:
        root = self.root(name)
        return {path: (root / path).read_bytes() for path in layout.tracked_files(root)}

    def head(self, name: str) -> str:
        return run_git(self.root(name) / ".audit", "rev-parse", "main").out.strip()

    def is_clean(self, name: str) -> bool:
        with self.opened(name) as workspace:
            verified = workspace.audit_verify(deep=True)
        assert not verified.problems
        return verified.ok

    def says(self, place: Path, text: str) -> bool:
        """Return whether a folder holds a text: in a file, or in an object of a repository, reachable or not."""
        if any(text.encode() in each.read_bytes() for each in place.rglob("*") if each.is_file()):
            return True
        folder = place if place.suffix == ".git" else place / ".audit"
        command = ["git", f"--git-dir={folder}", "cat-file", "--batch", "--batch-all-objects", "--buffer"]
        return text.encode() in subprocess.run(command, capture_output=True, check=True).stdout


def public_key(file: Path) -> str:
    """Return the public part of a key for the drawer, as its file tells it."""
    return file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# public key: ")


def plant(remote: Path, path: str, content: bytes, *, mode: str = "100644", kind: str = "blob") -> str:
    """Commit an entry to a remote as somebody with a git of their own would; return the commit."""

    def git(*arguments: str, given: bytes | None = None) -> str:
        person = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        command = ["git", f"--git-dir={remote}", *person, *arguments]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout.decode().strip()

    *folders, name = path.split("/")
    oid = "1" * 40 if kind == "commit" else git("hash-object", "-w", "--stdin", given=content)
    row = f"{mode} {kind} {oid}\t{name}\n"
    for depth in range(len(folders), -1, -1):
        tree = f"main:{'/'.join(folders[:depth])}" if depth else "main^{tree}"
        known = subprocess.run(
            ["git", f"--git-dir={remote}", "ls-tree", tree], capture_output=True, check=False
        )
        name = row.strip().partition("\t")[2]
        others = [line for line in known.stdout.decode().splitlines() if line.partition("\t")[2] != name]
        written = git(
            "mktree", "--missing", given="".join(f"{line}\n" for line in [*others, row.strip()]).encode()
        )
        row = f"040000 tree {written}\t{folders[depth - 1] if depth else ''}\n"
    commit = git("commit-tree", "-p", "main", "-m", "looks harmless", written)
    git("update-ref", "refs/heads/main", commit)
    return commit

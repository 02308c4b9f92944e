"""A folder of agent memory on a real disk, with a clock of its own, and what can be seen of it from outside."""

from __future__ import annotations

import hashlib
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.engine import FixedClock, WorkbenchError, Workspace, layout
from workbench.engine.memory.graph import project_all
from workbench.engine.results.audit import CommitView

START = datetime(2026, 2, 2, 13, 30, tzinfo=UTC)

CORE = """# MEMORY.md — Core Memory

## Identity
- Name: Robin
- Lives in Uppsala

## Active Context
- Moving the agent to a new host this week

## Persona
- Be brief

## Critical Facts
- Robin is allergic to penicillin <!-- pinned -->
- The production database is called harbour
"""
FURNITURE = {
    "MEMORY.md": CORE,
    "SOUL.md": "# Soul\n\nYou are calm and exact.\n",
    "IDENTITY.md": "- **Name:** Otter\n",
    "USER.md": "<!-- observed: 2026-01-10 | status: active -->\n- Prefers metric units\n",
    "memory/2026-01-30.md": (
        "# 2026-01-30\n\n- Robin tried the tram to work\n\n## Evening\nPlanned the lighthouse trip.\n"
    ),
    "memory/2026-01-31-standup.md": "# Session: 2026-01-31 09:00\n\nThe standup moved to nine.\n",
    "memory/episodes/2026-02-01.md": (
        "# 2026-02-01 — Episode Log\n\n"
        "## 09:15 | decision | confidence:high | tags:[backup] | source:user-explicit\n"
        "Backups run at midnight.\n\n"
        "## 18:40 | event | confidence:medium | tags:[travel]\n"
        "Robin booked the ferry to Gotland.\n"
    ),
    "memory/graph/entities/person--robin.md": (
        "# person--robin\n\n<!-- Type: person | Label: Robin | Created: 2026-01-15 -->\n\n"
        "## Summary\nRuns the agent.\n\n"
        "## Facts\n"
        "- Drinks tea in the morning (since 2026-01-20, from episode:2026-02-01:09:15) ^tea1\n"
        "- Collects stamps from lighthouses\n\n"
        "## Relations\n- develops: [[project--harbour]] (confidence high, since 2026-01-15) ^dev1\n"
    ),
    "memory/graph/entities/project--harbour.md": (
        "# project--harbour\n\n<!-- Type: project | Label: Harbour | Created: 2026-01-15 -->\n\n"
        "## Facts\n- Harbour is written in Rust (since 2026-01-16) ^lang\n"
    ),
    "memory/procedures/how-to-release.md": (
        "# How to release\n\n<!-- Learned: 2026-01-18 -->\n\n## Trigger\nWhen a release is due.\n\n"
        "## Steps\n1. Run the tests\n2. Tag the commit\n"
    ),
    "memory/vault/promise.md": "# Promise\n\nNever share the house key code.\n",
    "memory/heartbeat-state.json": '{"lastChecks": {}}\n',
}
BROKEN = {
    "memory/episodes/2026-01-29.md": (
        b"## 25:99 | nonsense\n\xff\xfe\x00half a character \xe2\x82\n\n## 10:00 | event\nThe good part.\n"
    ),
    "memory/graph/entities/person--torn.md": b"<!-- Type: person | Label: Torn\n## Facts\n```\nnever closed\n",
    "memory/meta/decay-scores.json": b'{"version": 1, "entries": {"episode:2026-02-01:09:15": {"pinned": tr',
    "memory/meta/pending-reflection.md": b"- [ ] `r-1.1 no end\n",
    "memory/meta/pending-memories.md": b"## Proposal\x00\n",
    "memory/meta/audit.log": b"this is no line of a log\n2026-01-01T00:00:00Z | EDIT\n",
    "memory/graph/index.md": b"| broken |\n",
}


class AgentHome:
    """A workspace folder, and a clock that stands still until it is moved.

    Args:
        root: The folder; made here.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FixedClock(START)
        root.mkdir(parents=True)

    def furnish(self) -> None:
        """Put in one of every kind of memory."""
        for path, text in FURNITURE.items():
            self.write(path, text)

    def init(self, **options: Any) -> None:
        Workspace.init(self.root, clock=self.clock, **options)

    @contextmanager
    def open(self, role: str = "person", **options: Any) -> Iterator[Workspace]:
        with Workspace.open(self.root, role=role, clock=self.clock, **options) as workspace:
            yield workspace

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file as any other program would."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def tracked(self) -> dict[str, bytes]:
        """Return the content of every file that history keeps."""
        return {path: (self.root / path).read_bytes() for path in layout.tracked_files(self.root)}

    def commits(self) -> list[str]:
        """Return the hashes of all commits, newest first, as the git program sees them."""
        return self.git("log", "--format=%H").split() if (self.root / ".audit").is_dir() else []

    def git(self, *arguments: str) -> str:
        command = ["git", f"--git-dir={self.root / '.audit'}", f"--work-tree={self.root}", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit_of(self, commit: str | None) -> CommitView:
        assert commit is not None
        with self.open() as workspace:
            return workspace.audit_show(commit)


def names(folder: Path) -> list[str]:
    """Return what stands in a folder, sorted."""
    return sorted(place.name for place in folder.iterdir())


def failure(call: Callable[[], object]) -> WorkbenchError | None:
    """Return the engine's error of a call, which always comes with a remedy; None where it went well."""
    try:
        call()
    except WorkbenchError as error:
        if not (error.message and error.remedy):
            raise AssertionError(f"an error without a remedy: {error!r}") from error
        return error
    return None


def graph_index(workspace: Workspace) -> str | None:
    """Return the graph index as it stands, or None where there is none yet."""
    place = workspace.root / layout.GRAPH_INDEX
    return place.read_text(encoding="utf-8") if place.exists() else None


def whole_graph_index(workspace: Workspace) -> str:
    """Return the graph index as it is when made anew of all entity files."""
    context = workspace._context
    context.refresh()
    return project_all(context.files, context.scores())[layout.GRAPH_INDEX].decode()


def listing(folder: Path, *, locks: bool = True) -> dict[str, tuple[object, ...]]:
    """Return everything that can be seen of a folder: kinds, rights, times, sizes and contents, links unfollowed.

    Args:
        folder: Which.
        locks: Whether the writer's lock counts, whose time tells that somebody held it.
    """
    found: dict[str, tuple[object, ...]] = {}
    for place in [folder, *sorted(folder.rglob("*"))]:
        if not locks and place.name in ("workbench.lock", "workbench.queue"):
            continue
        status = place.lstat()
        content: object = None
        if stat.S_ISREG(status.st_mode):
            content = hashlib.sha256(place.read_bytes()).hexdigest()
        elif stat.S_ISLNK(status.st_mode):
            content = str(place.readlink())
        found[str(place.relative_to(folder))] = (
            status.st_mode,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_size if stat.S_ISREG(status.st_mode) else None,
            content,
        )
    return found

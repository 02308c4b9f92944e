"""Times one `remember` among many entities against `git add` and `git commit` of the same change.

    python tests/benchmarks/remember.py [ENTITIES …]

Both run in the same process on copies of one workspace. The git program gets the very files that `remember`
wrote, in a repository of its own that tracks everything; it writes no audit line and no graph index.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.large_workspace import generate
from workbench.engine import Workspace
from workbench.engine.results.memories import EntityRef, Remembered

SIZES = (200, 2_000, 20_000)
ROUNDS = 30
GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "benchmark"), ("EMAIL", "benchmark@workbench.invalid"))
    },
}


def git(root: Path, *arguments: str) -> None:
    """Run the git program under its own defaults."""
    subprocess.run(["git", *arguments], cwd=root, env=GIT_ENVIRONMENT, check=True, capture_output=True)


def remember_fact(workspace: Workspace, known: EntityRef, number: int) -> Remembered:
    """Remember a fact of an entity that is known."""
    text = f"{known.name} prefers answer number {number} in writing"
    return workspace.remember(text, store="semantic", entities=[known.id])


def remember_newcomer(workspace: Workspace, known: EntityRef, number: int) -> Remembered:
    """Remember a fact of an entity that is new, with its relation to one that is known."""
    entities = [f"person:{_stranger(number)}", known.id]
    return workspace.remember(f"Works with {known.name} since spring", store="semantic", entities=entities)


def remember_episode(workspace: Workspace, known: EntityRef, number: int) -> Remembered:
    """Remember what the rules have to find a place for."""
    return workspace.remember(f"Yesterday we moved the review of {known.name} to room {number}")


KINDS: dict[str, Callable[[Workspace, EntityRef, int], Remembered]] = {
    "fact of a known entity": remember_fact,
    "fact of a new entity": remember_newcomer,
    "episode by rules": remember_episode,
}


@dataclass
class Measured:
    """Seconds of each `remember` and of each `git add` with `git commit`, and files in all changes."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    files: int = 0


def measure(folder: Path, entities: int) -> tuple[float, dict[str, Measured]]:
    """Return the seconds of the first change, which lays out the graph index, and what was measured of each kind."""
    root, copy = folder / "workbench", folder / "git"
    generate(root, episodes=entities, entities=entities)
    shutil.copytree(root, copy)
    git(copy, "init", "--quiet")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "first")
    measured = {kind: Measured() for kind in KINDS}
    Workspace.init(root)
    with Workspace.open(root, role="person") as workspace:
        known = [EntityRef(one.id, one.type, one.label) for one in workspace.graph().nodes[: ROUNDS + 1]]
        start = time.perf_counter()
        commit_with_git(root, copy, remember_fact(workspace, known[-1], 0), "first")
        first = time.perf_counter() - start
        for number in range(ROUNDS):
            for kind, remember in KINDS.items():
                start = time.perf_counter()
                done = remember(workspace, known[number], number)
                measured[kind].ours.append(time.perf_counter() - start)
                measured[kind].theirs.append(commit_with_git(root, copy, done, f"{kind} {number}"))
                measured[kind].files += len(done.files)
    return first, measured


def _stranger(number: int) -> str:
    """Return a name that is like no other."""
    chance = random.Random(number)
    return " ".join("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)).title() for _ in range(2))


def commit_with_git(root: Path, copy: Path, done: Remembered, message: str) -> float:
    """Bring the same files over and time `git add` with `git commit` of them."""
    for path in done.files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, copy / path)
    start = time.perf_counter()
    git(copy, "add", *done.files)
    git(copy, "commit", "--quiet", "--message", message)
    return time.perf_counter() - start


def main() -> None:
    """Print medians and their ratio for each size."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    print(f"one remember, median of {ROUNDS}, milliseconds")
    print(
        f"{'entities':>9} {'':<24} {'files':>5} {'remember':>9} {'slowest':>8} {'git':>8} {'slowest':>8} {'ratio':>6}"
    )
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["WORKBENCH_PATHS_STATE"] = str(folder / "state")
            os.environ["WORKBENCH_PATHS_CACHE"] = str(folder / "cache")
            first, measured = measure(folder, size)
        for kind, row in measured.items():
            mine, other = statistics.median(row.ours) * 1000, statistics.median(row.theirs) * 1000
            slowest, slowest_git = max(row.ours) * 1000, max(row.theirs) * 1000
            print(
                f"{size:>9,} {kind:<24} {row.files / ROUNDS:>5.1f} {mine:>9.1f} {slowest:>8.1f}"
                f" {other:>8.1f} {slowest_git:>8.1f} {mine / other:>6.2f}",
                flush=True,
            )
        print(f"{size:>9,} {'first, with graph index':<24} {'':>5} {first * 1000:>9.1f}", flush=True)


if __name__ == "__main__":
    main()

"""Times one `remember` among many entities against `git add` and `git commit` of the same change.

    python tests/benchmarks/remember.py [ENTITIES …]

Both run in the same process on copies of one workspace. The git program gets the very files that `remember`
wrote, in a repository of its own that tracks everything; it writes no audit line and no graph index.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.large_workspace import generate

from workbench.engine import Workspace
from workbench.engine.results import Remembered

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


def measure(folder: Path, entities: int) -> tuple[list[float], list[float], int]:
    """Return seconds of each `remember`, of each `git add` with `git commit`, and files in a change."""
    root, copy = folder / "workbench", folder / "git"
    generate(root, episodes=entities, entities=entities)
    shutil.copytree(root, copy)
    git(copy, "init", "--quiet")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "first")
    ours, theirs, files = [], [], 0
    Workspace.init(root)
    with Workspace.open(root, role="person") as workspace:
        known = [one.label for one in workspace.graph().nodes[:ROUNDS]]
        workspace.remember("Warm up", store="episodic")
        for number in range(ROUNDS):
            text = f"{known[number % len(known)]} prefers answer number {number} in writing"
            about = workspace.graph(known[number % len(known)]).center or ""
            start = time.perf_counter()
            done = workspace.remember(text, store="semantic", entities=[about])
            ours.append(time.perf_counter() - start)
            files += len(done.files)
            theirs.append(commit_with_git(root, copy, done, number))
    return ours, theirs, files // ROUNDS


def commit_with_git(root: Path, copy: Path, done: Remembered, number: int) -> float:
    """Bring the same files over and time `git add` with `git commit` of them."""
    for path in done.files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, copy / path)
    start = time.perf_counter()
    git(copy, "add", *done.files)
    git(copy, "commit", "--quiet", "--message", f"remember {number}")
    return time.perf_counter() - start


def main() -> None:
    """Print medians and their ratio for each size."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    print(f"one remember, median of {ROUNDS}, milliseconds")
    print(f"{'entities':>9} {'files':>6} {'remember':>9} {'slowest':>8} {'git':>8} {'ratio':>6}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["WORKBENCH_PATHS_STATE"] = str(folder / "state")
            os.environ["WORKBENCH_PATHS_CACHE"] = str(folder / "cache")
            ours, theirs, files = measure(folder, size)
        mine, other = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
        slowest = max(ours) * 1000
        print(f"{size:>9,} {files:>6} {mine:>9.1f} {slowest:>8.1f} {other:>8.1f} {mine / other:>6.2f}", flush=True)


if __name__ == "__main__":
    main()

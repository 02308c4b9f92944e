"""Times one mutation against `git add` and `git commit`: `python tests/benchmarks/mutation.py [SIZE …]`."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from workbench.engine.clock import SystemClock
from workbench.engine.history.history import History
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan

SIZES = (200, 2_000, 20_000)
ROUNDS = 30
BOT = Attribution("bot:trigger-remember", "auto", "benchmark")
# The git program under its own defaults, whatever the machine's configuration says.
GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "benchmark",
    "GIT_AUTHOR_EMAIL": "benchmark@workbench.invalid",
    "GIT_COMMITTER_NAME": "benchmark",
    "GIT_COMMITTER_EMAIL": "benchmark@workbench.invalid",
}


def entity_text(number: int, version: int = 0) -> bytes:
    facts = "".join(
        f"- Fact {line} about person {number} (since 2026-01-{line + 1:02d}) ^f{line:03d}\n"
        for line in range(20)
    )
    return f"# Person {number}\n\n## Facts\n{facts}\nVersion {version}\n".encode()


def write_entities(root: Path, count: int) -> None:
    folder = root / "memory/graph/entities"
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"person--{number:05d}.md").write_bytes(entity_text(number))


def entity_path(version: int, count: int) -> tuple[int, str]:
    number = version * 7919 % count
    return number, f"memory/graph/entities/person--{number:05d}.md"


def edit(version: int, count: int) -> Callable[[FileView], Plan[None]]:
    number, path = entity_path(version, count)

    def plan(files: FileView) -> Plan[None]:
        files.read(path)
        change = FileChange(path, entity_text(number, version), Action.EDIT, "a fact was added")
        return Plan(Action.EDIT, path, "a fact was added", (change,))

    return plan


def time_workbench(folder: Path, count: int) -> list[float]:
    root = folder / "workbench"
    write_entities(root, count)
    history = History(root, clock=SystemClock(), state=folder / "state")
    history.init()
    history.mutate(edit(0, count), BOT)
    taken = []
    for version in range(1, ROUNDS + 1):
        planner = edit(version, count)
        start = time.perf_counter()
        history.mutate(planner, BOT)
        taken.append(time.perf_counter() - start)
    return taken


def time_git(folder: Path, count: int) -> list[float]:
    root = folder / "git"
    write_entities(root, count)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=root, env=GIT_ENVIRONMENT, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "begin")
    taken = []
    for version in range(1, ROUNDS + 1):
        number, path = entity_path(version, count)
        content = entity_text(number, version)
        start = time.perf_counter()
        (root / path).write_bytes(content)
        git("add", path)
        git("commit", "-q", "-m", "[EDIT] a fact was added")
        taken.append(time.perf_counter() - start)
    return taken


def main() -> None:
    print(f"{'entities':>9} {'workbench ms':>13} {'slowest ms':>11} {'git ms':>8} {'ratio':>6}")
    for count in [int(argument) for argument in sys.argv[1:]] or SIZES:
        folder = Path(tempfile.mkdtemp(prefix="workbench-benchmark-"))
        try:
            ours, theirs = time_workbench(folder, count), time_git(folder, count)
        finally:
            shutil.rmtree(folder)
        mine, git = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
        print(f"{count:>9} {mine:>13.1f} {max(ours) * 1000:>11.1f} {git:>8.1f} {mine / git:>6.2f}")


if __name__ == "__main__":
    main()

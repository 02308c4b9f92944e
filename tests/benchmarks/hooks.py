"""Measure what hooks add to a client: `python -m tests.benchmarks.hooks`.

A workspace of 20,000 memories, processes as a client starts them: the program alone, a session start when nothing has
changed and when something has, and a prompt with and without something relevant; then again while the daemon runs.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.large_workspace import generate
from workbench.engine.workspace import Workspace

RUNS = 7
START = '{"hook_event_name": "SessionStart"}'
PROMPT = '{{"hook_event_name": "UserPromptSubmit", "prompt": "{}"}}'


def main() -> None:
    """Print the median of each in milliseconds, and how long processors worked for it, which load changes less."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "memory"
        os.environ |= {"WORKBENCH_PATHS_STATE": f"{folder}/state", "WORKBENCH_PATHS_CACHE": f"{folder}/cache"}
        # Programs that are installed are compiled.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        generate(root, episodes=10_000, entities=2_500)
        Workspace.init(root)
        with Workspace.open(root) as workspace:
            workspace.index()
        core = root / "MEMORY.md"

        def change() -> None:
            core.touch()

        print(f"program alone            {_median(['--version'], '')}")
        _measure(root, change)
        print("with the daemon:")
        with subprocess.Popen(
            [sys.executable, "-m", "workbench", "daemon", "-w", str(root)], stderr=subprocess.PIPE, text=True
        ) as daemon:
            assert daemon.stderr is not None
            next(line for line in daemon.stderr if " ready " in line)
            # The first answer comes from a door that is just opened.
            _median(["hook", "prompt", *_ours(root)], PROMPT.format("harbour invoice of the winter review"))
            _measure(root, change)
            daemon.terminate()


def _measure(root: Path, change: Callable[[], None]) -> None:
    relevant = PROMPT.format("harbour invoice of the winter review")
    for said, moment, given, before in (
        ("start, nothing changed ", "session-start", START, _nothing),
        ("start, memory changed  ", "session-start", START, change),
        ("prompt, relevant       ", "prompt", relevant, _nothing),
        ("prompt, nothing        ", "prompt", PROMPT.format("please go on"), _nothing),
    ):
        print(f"{said}  {_median(['hook', moment, *_ours(root)], given, before)}", flush=True)


def _ours(root: Path) -> list[str]:
    return ["--client", "claude-code", "--workspace", str(root)]


def _nothing() -> None:
    """Leave memory as it is."""


def _median(words: list[str], given: str, before: Callable[[], None] = _nothing) -> str:
    times, works = [], []
    for _ in range(RUNS + 1):
        before()
        began, worked = time.perf_counter(), _worked()
        subprocess.run(
            [sys.executable, "-m", "workbench", *words], input=given.encode(), capture_output=True, check=True
        )
        times.append((time.perf_counter() - began) * 1000)
        works.append((_worked() - worked) * 1000)
    return f"{statistics.median(times[1:]):6.0f} ms, of work {statistics.median(works[1:]):6.0f} ms"


def _worked() -> float:
    """Return how many seconds processors worked for the processes that were started here and ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()

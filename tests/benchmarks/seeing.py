"""Times what the engine answers to the three ways to look at memory, at two sizes, so that growth shows.

`python -m tests.benchmarks.seeing [--sizes 5000 20000] [--keep FOLDER]`. A size N means N entities with three
relations each, N episodes, and 2.5 N commits. Each size is measured in a fresh process, of files that were read
before. Prints one table: the figure at each size, the ratio of the largest to the smallest, and what it should stay
below. What a person waits for in the bench is measured by `large_bench`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.benchmarks.large_history import make_history
from tests.benchmarks.large_workspace import generate
from workbench.engine import Workspace
from workbench.engine.layout import CORE

DEPTH = 2
# The day after the last thing that happens in a generated workspace.
NOW = "2026-02-03T12:00:00+00:00"
LOOKS = 40
MOMENTS = 20
FORECAST = range(0, 366, 7)
# Milliseconds that a figure should stay below at the largest size, by its name.
TARGETS = {
    "graph: table of all entities": 500, "graph: a step, 1 hop": 50, "graph: a step, 2 hops": 50,
    "decay: forecast over everything": 300, "past: line of commits": 300, "past: files and core at a commit": 300,
    "past: one entity at a commit": 300, "past: all scores at a commit": 300,
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """A workspace to look at: its folder, and how many entities it has."""

    root: Path
    entities: int

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment in which what is derived from it stays beside it, at a fixed time."""
        names = ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
        derived = {name: str(self.root.parent / name.lower()) for name in names}
        return os.environ | derived | {"WORKBENCH_NOW": NOW}


def main() -> None:
    """Make the workspaces, measure both, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000])
    parser.add_argument(
        "--keep", type=Path, help="folder to make the workspaces in, and to find them in again"
    )
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(engine_figures(options.inside)))
        return
    with tempfile.TemporaryDirectory() as folder:
        measured = [measure(options.keep or Path(folder), size) for size in options.sizes]
    print_table(options.sizes, measured)


def measure(folder: Path, entities: int) -> dict[str, float]:
    """Return every figure at one size, in milliseconds."""
    size = Size(folder / str(entities) / "workspace", entities)
    if not (size.root / ".audit").exists():
        print(
            f"making {entities:,} entities and as many episodes, {5 * entities // 2:,} commits …",
            file=sys.stderr,
        )
        generate(size.root, episodes=entities, entities=entities)
        make_history(size.root, commits=5 * entities // 2)
    # Everything derived is made before anything is measured.
    command = [sys.executable, "-m", "tests.benchmarks.seeing", "--inside", str(size.root)]
    run(command, size)
    figures: dict[str, float] = json.loads(run(command, size))
    return figures


def run(command: list[str], size: Size) -> str:
    """Run a program beside a workspace; returns what it printed."""
    return subprocess.run(command, env=size.environment, check=True, capture_output=True, text=True).stdout


def engine_figures(root: Path) -> dict[str, float]:
    """Return how long the engine takes for what the panes ask, in this process."""
    chance = random.Random(0)
    with Workspace.open(root, role="person", reads_refresh=False) as workspace:
        workspace.refresh()
        figures = {"past: line of commits": once(workspace.history_line)}
        figures["decay: forecast over everything"] = once(
            lambda: [
                max((entry.forecast or {}).values())
                for entry in workspace.decay(forecast=list(FORECAST)).entries
            ]
        )
        figures["graph: table of all entities"] = once(workspace.graph_entities)
        names = [row.id for row in chance.sample(workspace.graph_entities().entities, LOOKS)]
        for hops in (1, DEPTH):
            figure = f"graph: a step, {hops} hop{'s' if hops > 1 else ''}"
            figures[figure] = worst([partial(workspace.graph, name, depth=hops) for name in names])
        line = workspace.history_line().commits
        commits = [line[at * (len(line) - 1) // MOMENTS] for at in range(1, MOMENTS + 1)]

        def whole(commit: str) -> None:
            past = workspace.at(commit)
            _ = past.moment.files
            past.core()
            past.get(CORE)

        def entity(commit: str) -> None:
            past = workspace.at(commit)
            name, _ = chance.choice(past.entities())
            past.graph(name)
            past.show(name)

        figures["past: files and core at a commit"] = worst([partial(whole, commit) for commit in commits])
        figures["past: one entity at a commit"] = worst([partial(entity, commit) for commit in commits])
        # At another commit each, so that little of it was read before.
        figures["past: all scores at a commit"] = statistics.median(
            once(workspace.at(commit).scores) for commit in commits[::4]
        )
    return figures


def once(act: Callable[[], object]) -> float:
    """Return the milliseconds that something takes the first time in a process."""
    begun = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - begun)


def worst(acts: Sequence[Callable[[], object]]) -> float:
    """Return the milliseconds of the slowest but one in twenty."""
    taken = sorted(map(once, acts))
    return taken[int(len(taken) * 0.95) - 1]


def print_table(sizes: list[int], measured: list[dict[str, float]]) -> None:
    """Print the figures of all sizes beside one another."""
    heads = "".join(f"{size:>12,}" for size in sizes)
    print(f"{'milliseconds':<36}{heads}{'ratio':>9}{'below':>9}")
    for name in measured[-1]:
        row = "".join(f"{figures[name]:>12.1f}" for figures in measured)
        ratio = measured[-1][name] / measured[0][name]
        print(f"{name:<36}{row}{ratio:>8.1f}×{TARGETS.get(name, ''):>9}")


if __name__ == "__main__":
    main()

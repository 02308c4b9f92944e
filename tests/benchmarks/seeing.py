"""Times the three ways to look at memory, at two sizes, so that growth shows.

`python -m tests.benchmarks.seeing [--sizes 5000 20000] [--keep FOLDER]`. A size N means N entities with three
relations each, N episodes, and 2.5 N commits. Engine figures come from a fresh process each, of files that were read
before; bench figures from a real terminal of 120 by 40 cells: from a key to what it shows being painted. Prints one
table: the figure at each size, the ratio of the largest to the smallest, and what it should stay below.
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
from typing import TYPE_CHECKING

from tests.benchmarks.large_history import make_history
from tests.benchmarks.large_workspace import generate
from tests.benchmarks.terminal import Terminal
from workbench.engine import Workspace
from workbench.engine.layout import CORE

if TYPE_CHECKING:
    from workbench.engine.results.graph import EntityTable

DEPTH = 2
# The day after the last thing that happens in a generated workspace.
NOW = "2026-02-03T12:00:00+00:00"
LOOKS = 40
MOMENTS = 20
FORECAST = range(0, 366, 7)
STEPS = 12
# Milliseconds that a figure should stay below at the largest size, by its name.
TARGETS = {
    "graph: table of all entities": 500, "graph: a step, 1 hop": 50, "graph: a step, 2 hops": 50,
    "decay: forecast over everything": 300, "past: line of commits": 300, "past: files and core at a commit": 300,
    "past: one entity at a commit": 300, "past: all scores at a commit": 300,
    "bench: graph ready": 500, "bench: drawing ready": 500,
    "bench: a step in the graph": 50, "bench: decay ready": 500, "bench: a row of the heatmap": 50,
    "bench: past ready": 500, "bench: another commit, its line": 50, "bench: another commit, all of it": 300,
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
    return figures | bench_figures(size)


def run(command: list[str], size: Size) -> str:
    """Run a program beside a workspace; returns what it printed."""
    return subprocess.run(command, env=size.environment, check=True, capture_output=True, text=True).stdout


# --- the engine -------------------------------------------------------------------------------------------------


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


# --- the bench --------------------------------------------------------------------------------------------------


def bench_figures(size: Size) -> dict[str, float]:
    """Return how long a person waits, from the key to the paint."""
    os.environ.update(size.environment)
    with Workspace.open(size.root, role="person", reads_refresh=False) as workspace:
        table = workspace.graph_entities()
        commits = len(workspace.history_line().commits)
    figures: dict[str, float] = {}
    terminal = Terminal([sys.executable, "-m", "workbench", "--workspace", str(size.root)])
    figures["bench: first pane ready"] = 1000 * terminal.wait_for("Identity")
    terminal.settle()
    figures["bench: graph ready"] = 1000 * terminal.press_for(b"6", best_linked(table))
    terminal.settle()
    figures["bench: drawing ready"] = 1000 * terminal.press_for(b"\r", "Around")
    terminal.settle()
    figures["bench: a step in the graph"] = steps(terminal, [b"\x1b[C", b"\r"] * (STEPS // 2))
    figures["bench: decay ready"] = 1000 * terminal.press_for(b"7", "dormant 0.05")
    terminal.settle()
    figures["bench: a row of the heatmap"] = steps(terminal, [b"\x1b[B"] * STEPS)
    figures["bench: past ready"] = 1000 * terminal.press_for(b"8", f"{commits:,} of {commits:,}")
    terminal.settle()
    figures["bench: another commit, its line"] = steps(terminal, [b"\x1b[D"] * STEPS)
    figures["bench: another commit, all of it"] = steps(terminal, [b"\x1b[D"] * STEPS, whole=True)
    terminal.close()
    return figures


def best_linked(table: EntityTable) -> str:
    """Return the beginning of the name that stands first in the table."""
    first = min(table.entities, key=lambda row: (-row.degree, row.label.casefold(), row.id))
    return first.label[:8]


def steps(terminal: Terminal, keys: list[bytes], *, whole: bool = False) -> float:
    """Return the median milliseconds from a key to what answers it.

    Args:
        terminal: Where they are pressed.
        keys: One after the other, each once nothing moves any more.
        whole: Count to the last paint rather than to the first.
    """
    return 1000 * statistics.median(terminal.press(key, 0.4)[whole] for key in keys)


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

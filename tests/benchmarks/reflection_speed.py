"""Times a cycle without a model: `python -m tests.benchmarks.reflection_speed [EPISODES …]`.

For each size: the first reflection, which reads everything, and the next one after twenty more episodes, each as a
process of its own as cron would run it, with its peak memory. The last column is the next one against that of the
smallest size in the same run: what old memories cost a new one.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

SIZES = (1_000, 20_000)
A_DAY = 50
LAST_DAY = date(2026, 2, 2)
NEW = 20

_PEOPLE = ("Ines", "Jon", "Mira", "Tarek", "Wen", "Olga", "Pablo", "Ada")
_THINGS = (
    "billing API",
    "search index",
    "mobile app",
    "tide model",
    "landing page",
    "data import",
    "sync job",
)
_TOOLS = ("Postgres", "Redis", "Hetzner", "Grafana", "FastAPI", "SQLite", "Docker", "Terraform")
_SAYINGS = (
    ("decision", "We decided to use {tool} for the {thing}."),
    ("decision", "We switched the {thing} from {tool} to {other}."),
    ("preference", "{person} prefers {tool} over {other} for the {thing}."),
    ("fact", "The {thing} now answers in {number} ms on average."),
    ("fact", "The {thing} has a daily quota of {number} calls."),
    ("fact", "{person} works on the {thing} with {friend}."),
    ("task", "{person} will review the {thing} on 2026-03-{day:02}."),
    ("event", "The {thing} failed at {number} requests a second, and {person} restarted it."),
    ("correction", "Correction: the {thing} keeps its logs for {number} days."),
    ("fact", "I have never tested the {thing} with {tool}."),
    ("event", "I tested the {thing} with {tool} and fixed {number} bugs."),
    ("event", "Ran the test suite, built the {thing}, tagged a release and told {person}."),
    ("emotion", "{person} was glad that the {thing} held through the night."),
    ("preference", "I like reports on the {thing} to begin with the numbers."),
)


def main(sizes: list[int]) -> None:
    """Print one line per size."""
    print(
        f"{'episodes':>9} {'first s':>9} {'MB':>6} {'items':>6} {'next s':>9} {'MB':>6} {'against smallest':>17}"
    )
    smallest = None
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "workspace"
            environment = dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache", XDG_STATE_HOME=f"{folder}/state")
            generate(root, size)
            _run(environment, root, "init", str(root))
            first, memory, answer = _run(environment, root, "reflect", "--json")
            _append(root, random.Random(1))
            later, later_memory, _ = _run(environment, root, "reflect", "--renew", "--json")
        smallest = smallest or later
        items = len(json.loads(answer)["review"]["items"])
        print(
            f"{size:>9,} {first:>9.2f} {memory:>6.0f} {items:>6} {later:>9.2f} {later_memory:>6.0f}"
            f" {later / smallest:>16.2f}×"
        )


def generate(root: Path, episodes: int) -> None:
    """Write day files of fifty episodes each, the same for the same number."""
    chance = random.Random(0)
    folder = root / "memory/episodes"
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, episodes, A_DAY)):
        day = LAST_DAY - timedelta(days=number)
        entries = [f"# {day} — Episode Log\n"]
        entries += [_entry(chance, place) for place in range(min(A_DAY, episodes - first))]
        (folder / f"{day}.md").write_text("\n".join(entries), encoding="utf-8")


def _append(root: Path, chance: random.Random) -> None:
    day = LAST_DAY + timedelta(days=1)
    entries = [f"# {day} — Episode Log\n", *(_entry(chance, place) for place in range(NEW))]
    (root / f"memory/episodes/{day}.md").write_text("\n".join(entries), encoding="utf-8")


def _entry(chance: random.Random, place: int) -> str:
    lines = []
    for _ in range(chance.choice((1, 2, 2, 3))):
        kind, saying = chance.choice(_SAYINGS)
        person, friend = chance.sample(_PEOPLE, 2)
        tool, other = chance.sample(_TOOLS, 2)
        lines.append(
            saying.format(
                person=person,
                friend=friend,
                tool=tool,
                other=other,
                thing=chance.choice(_THINGS),
                number=chance.randrange(5, 2000),
                day=chance.randrange(1, 29),
            )
        )
    clock = f"{8 + place // 5:02}:{place % 5 * 11:02}"
    return f"## {clock} | {kind} | confidence:high | tags:[work]\n{' '.join(lines)}\n"


def _run(environment: dict[str, str], root: Path, *words: str) -> tuple[float, float, str]:
    """Run a command; return seconds, megabytes at the peak, and what it printed."""
    timed = [sys.executable, "-c", _MEASURED, *words, "--workspace", str(root)]
    started = time.perf_counter()
    done = subprocess.run(timed, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr or done.stdout}")
    peak = float(done.stderr.rsplit("peak-kilobytes ", 1)[1])
    return seconds, peak / 1024, done.stdout


_MEASURED = """
import resource, sys
from workbench.cli import run
try:
    code = run(sys.argv[1:])
except SystemExit as end:
    code = end.code
sys.stderr.write(f"peak-kilobytes {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}")
sys.exit(code)
"""

if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(SIZES))

"""Measure the bench as a person meets it, in a real terminal: first data painted, and each key to its repaint.

Run `python -m tests.benchmarks.bench_startup --workspace PATH --expect TEXT`, where TEXT is something that the first
pane shows; without a workspace it measures the sample of the tests, in memory. Prints milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from tests.benchmarks.terminal import Terminal

ROOT = Path(__file__).parents[2]
SAMPLE = (
    "import sys\n"
    "sys.path.insert(0, {root!r})\n"
    "from tests.tui.fake_bench import FakeBench, many_episodes\n"
    "from workbench.tui.app import BenchApp\n"
    "bench = FakeBench.filled()\n"
    "bench.happened += many_episodes({count})\n"
    "BenchApp(bench).run()\n"
)


def measure_keys(terminal: Terminal, name: str, keys: list[bytes], *, resting: bool = False) -> None:
    """Print how long the answers to keys took.

    Args:
        terminal: Where they are pressed.
        name: What they do.
        keys: One after the other.
        resting: Wait after each until nothing moves, so that what it set off is not taken for the next one's answer.
    """
    answers: list[tuple[float, float, int]] = []
    for key in keys:
        answers.append(terminal.press(key))
        if resting:
            terminal.settle()
    firsts = sorted(1000 * first for first, _, _ in answers)
    counts = [count for _, _, count in answers]
    print(
        f"{name:<28} {statistics.median(firsts):6.1f} ms median  {firsts[int(len(firsts) * 0.95) - 1]:6.1f} ms p95"
        f"  {statistics.median(counts):7.0f} bytes"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", help="folder to open; the sample of the tests without it")
    parser.add_argument("--expect", default="Identity", help="text of the data that the first pane shows")
    parser.add_argument("--episodes", type=int, default=0, help="episodes to add to the sample")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    command = [sys.executable, "-c", SAMPLE.format(count=options.episodes, root=str(ROOT))]
    if options.workspace:
        command = [sys.executable, "-m", "workbench", "--workspace", options.workspace]
    ready: list[float] = []
    for run in range(options.runs):
        terminal = Terminal(command)
        ready.append(1000 * terminal.wait_for(options.expect))
        terminal.settle()
        if run == options.runs - 1:
            measure_keys(terminal, "core: cursor down and up", [b"j", b"k"] * 15)
            terminal.press(b"2")
            terminal.settle()
            measure_keys(terminal, "timeline: cursor down", [b"j"] * 20)
            measure_keys(terminal, "timeline: page down and up", [b"\x1b[6~", b"\x1b[5~"] * 8)
            terminal.press(b"3")
            terminal.settle()
            measure_keys(terminal, "audit: cursor down and up", [b"j", b"k"] * 10)
            terminal.press(b"4")
            terminal.settle()
            question = [letter.encode() for letter in "what did we decide"]
            measure_keys(terminal, "search: a letter typed", question, resting=True)
            measure_keys(terminal, "search: typed at speed", [b"\x7f"] * len(question))
            terminal.press(b"report\r")
            terminal.settle()
            measure_keys(terminal, "search: cursor down and up", [b"j", b"k"] * 10)
        terminal.close()
    median, worst = statistics.median(ready), max(ready)
    print(f"{'first data painted':<28} {median:6.0f} ms median  {worst:6.0f} ms worst of {len(ready)}")


if __name__ == "__main__":
    main()

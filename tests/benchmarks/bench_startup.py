"""Measure the bench as a person meets it, in a real terminal: first data painted, and each key to its repaint.

Run `python tests/benchmarks/bench_startup.py --workspace PATH --expect TEXT`, where TEXT is something that the first
pane shows; without a workspace it measures the sample of the tests, in memory. Prints milliseconds.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import termios
import time
from pathlib import Path

ROWS, COLUMNS = 40, 120
ROOT = Path(__file__).parents[2]
QUIET = 0.08
PATIENCE = 30.0
STYLES = re.compile(
    rb"\x1b\[[0-9;:?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_].*?\x1b\\|\x1b.", re.DOTALL
)
SAMPLE = (
    "import sys\n"
    "sys.path.insert(0, {root!r})\n"
    "from tests.tui.fake_bench import FakeBench, many_episodes\n"
    "from workbench.tui.app import BenchApp\n"
    "bench = FakeBench.filled()\n"
    "bench.happened += many_episodes({count})\n"
    "BenchApp(bench).run()\n"
)


class Terminal:
    """A program in a terminal of its own, of 120 by 40 cells."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self.handle = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.execvp(command[0], command)
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.raw = bytearray()

    def read(self, wait: float) -> bytes:
        """Return what is printed within so many seconds, at once when there is something."""
        ready, _, _ = select.select([self.handle], [], [], wait)
        if not ready:
            return b""
        try:
            chunk = os.read(self.handle, 1 << 16)
        except OSError:
            chunk = b""
        self.raw += chunk
        return chunk

    def wait_for(self, text: str) -> float:
        """Return the seconds from the start until a text has been painted."""
        wanted = text.encode()
        while time.perf_counter() - self.started < PATIENCE:
            self.read(0.05)
            if wanted in STYLES.sub(b"", bytes(self.raw)):
                return time.perf_counter() - self.started
        shown = STYLES.sub(b"", bytes(self.raw))[-2000:].decode(errors="replace")
        raise SystemExit(f"“{text}” was never painted. The last of what was:\n{shown}")

    def settle(self) -> None:
        """Read until nothing has been printed for a while."""
        while self.read(0.4):
            pass

    def press(self, key: bytes) -> tuple[float, float, int]:
        """Press a key; returns seconds to the first and to the last byte of the answer, and how many bytes it had."""
        pressed = time.perf_counter()
        os.write(self.handle, key)
        first = last = 0.0
        count = 0
        while chunk := self.read(QUIET if count else 2.0):
            last = time.perf_counter() - pressed
            first = first or last
            count += len(chunk)
        return first, last, count

    def close(self) -> None:
        """End the program and wait for it."""
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.handle)


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

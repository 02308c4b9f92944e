"""Times the bench as a person meets it, in a real terminal: on a workspace as large as one is after years.

`python -m tests.benchmarks.large_bench FOLDER [--idle 60] [--wait 60]`. Where FOLDER is not there it is made, with
20,000 entities, 20,000 episodes and 50,000 commits, and kept; what is derived from it lies beside it. Prints each
figure, how much processor time the bench took for it, and what is wanted; figures above that are marked. Wall times
mean something on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.large_history import make_history
from tests.benchmarks.large_workspace import generate
from tests.benchmarks.terminal import Terminal

SIZE = 20_000
COMMITS = 50_000
# The day after the last thing that happens in a generated workspace.
NOW = "2026-02-03T12:00:00+00:00"
# Each place: its name, its key, and words of its heading that stand nowhere else.
PLACES = (
    ("today", b"1", "this week"), ("inbox", b"2", "Nothing waits"), ("core", b"3", "tokens"),
    ("timeline", b"4", "newest first"), ("graph", b"5", "entities"), ("decay", b"6", "half-life"),
    ("history", b"7", "actions since"), ("sessions", b"8", "sessions"), ("settings", b",", "settings"),
)  # fmt: skip
LISTS = (("today", b"1"), ("timeline", b"4"), ("graph", b"5"), ("decay", b"6"), ("history", b"7"))
STEPS = 12
VISITS = 3
QUESTION = "what did we"
FILTER = "garden"
FIRST_DAY = b"first\r"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """What was measured, printed as it comes.

    Args:
        pid: Process whose processor time is told.
    """

    pid: int
    missed: list[str] = field(default_factory=list)

    def processor(self) -> float:
        """Return the seconds of processor time taken so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def tell(
        self, name: str, measured: float, unit: str, wanted: float, processor: float | None = None
    ) -> None:
        """Print one figure."""
        is_missed = measured > wanted
        if is_missed:
            self.missed.append(name)
        took = "" if processor is None else f"{1000 * processor:8.0f} ms"
        mark = "  ▲" if is_missed else ""
        print(f"{name:<44}{measured:>10.1f} {unit:<6}{took:>12}{wanted:>10g} {unit}{mark}", flush=True)

    def milliseconds(self, name: str, wanted: float, taken: list[float], processor: float) -> None:
        """Print the median of some seconds, and the worst where there are several."""
        self.tell(name, 1000 * statistics.median(taken), "ms", wanted, processor / len(taken))
        if len(taken) > 4:
            self.tell(f"{name}, worst", 1000 * max(taken), "ms", wanted)


def main() -> None:
    """Make the workspace where it is missing, measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--idle", type=int, default=60, help="seconds of doing nothing that are measured")
    parser.add_argument("--wait", type=int, default=60, help="most seconds that the index is waited for")
    options = parser.parse_args()
    root: Path = options.folder.resolve()
    if not (root / ".audit").exists():
        print(f"making {root} …", file=sys.stderr)
        generate(root, episodes=SIZE, entities=SIZE)
        make_history(root, commits=COMMITS)
    beside = root.parent / f"{root.name}-derived"
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = str(beside / name.lower())
    os.environ["WORKBENCH_NOW"] = NOW
    command = [sys.executable, "-m", "workbench", "--workspace", str(root)]
    # Catalog and index are made once, before anything is measured; where one was is forgotten.
    if not beside.exists():
        os.system(" ".join([sys.executable, "-m", "workbench", "--workspace", str(root), "index", ">&2"]))
    for kept in beside.rglob("frame.json"):
        kept.unlink()
    measure(command, options)


def measure(command: list[str], options: argparse.Namespace) -> None:
    """Open the bench again and again, then go round in it."""
    print(f"{'':<44}{'measured':>17}{'processor':>12}{'wanted':>13}")
    openings = []
    for _ in range(3):
        terminal = Terminal(command)
        openings.append(terminal.wait_for(PLACES[0][2]))
        figures = Figures(terminal.pid)
        took = figures.processor()
        terminal.close()
    terminal = Terminal(command)
    openings.append(terminal.wait_for(PLACES[0][2]))
    figures = Figures(terminal.pid)
    figures.milliseconds("first full paint", 1_000, openings, took * len(openings))
    print(f"{'(processor time until it rested)':<44}{settle(terminal, figures, options.wait):>10.1f} s")
    go_round(terminal, figures)
    move(terminal, figures)
    type_letters(terminal, figures)
    compare(terminal, figures, options.wait)
    rest(terminal, figures, options.idle)
    terminal.close()
    print(f"{len(figures.missed)} above what is wanted")


def settle(terminal: Terminal, figures: Figures, most: int) -> float:
    """Wait until the bench does nothing any more; returns the processor time it had taken by then, in seconds."""
    begun, had = time.perf_counter(), figures.processor()
    while time.perf_counter() - begun < most:
        terminal.settle()
        end = time.perf_counter() + 1
        while time.perf_counter() < end:
            terminal.read(0.2)
        now = figures.processor()
        if now - had < 0.05:
            break
        had = now
    return had


def go_round(terminal: Terminal, figures: Figures) -> None:
    """Go to every place, then again."""
    for visit in range(VISITS):
        for name, key, words in PLACES[1:] + PLACES[:1]:
            had = figures.processor()
            taken = terminal.press_for(key, words)
            terminal.settle()
            if visit < VISITS - 1:
                which = "first" if visit == 0 else "later"
                figures.milliseconds(f"{name}, {which} visit", 100, [taken], figures.processor() - had)


def move(terminal: Terminal, figures: Figures) -> None:
    """Move the cursor of lists; the last step is left to settle, so that no card is counted with a step."""
    for name, key in LISTS:
        terminal.press(key)
        terminal.settle()
        answers, had = [], figures.processor()
        for step in (b"j",) * STEPS:
            answers.append(terminal.press(step, 0.02))
            terminal.settle()
        took = figures.processor() - had
        figures.milliseconds(f"{name}, cursor to first byte", 10, [first for first, _, _ in answers], took)
        figures.tell(f"{name}, cursor", statistics.median(count for _, _, count in answers), "bytes", 2_048)


def type_letters(terminal: Terminal, figures: Figures) -> None:
    """Type into the ask line and into filters, letter by letter."""
    typed(terminal, figures, "ask line", b"/", QUESTION)
    for name, key in LISTS[1:]:
        terminal.press(key)
        terminal.settle()
        typed(terminal, figures, f"filter of {name}", b"l", FILTER)
        terminal.press(b"\x1b")
        terminal.settle()


def typed(terminal: Terminal, figures: Figures, name: str, opened_by: bytes, letters: str) -> None:
    """Type some letters, the first at once after the line was opened."""
    terminal.press(opened_by)
    taken, had = [], figures.processor()
    for letter in letters:
        taken.append(terminal.press(letter.encode(), 0.02)[0])
        terminal.settle()
    took = figures.processor() - had
    figures.milliseconds(f"{name}, first letter", 50, taken[:1], took / len(taken))
    figures.milliseconds(f"{name}, a letter", 50, taken[1:], took * (len(taken) - 1) / len(taken))
    terminal.press(b"\x1b")
    terminal.settle()


def compare(terminal: Terminal, figures: Figures, most: int) -> None:
    """Compare memory as it was at first with memory as it is now."""
    for typed in (b"7", b"g", b"d", FIRST_DAY):
        terminal.press(typed)
        terminal.settle()
    settle(terminal, figures, most)
    had = figures.processor()
    taken = terminal.press_for(b"c", "All that differs")
    figures.milliseconds("far moments compared", 1_000, [taken], figures.processor() - had)
    terminal.settle()
    terminal.press(b"\x1b")
    terminal.settle()


def rest(terminal: Terminal, figures: Figures, seconds: int) -> None:
    """Do nothing; tell the memory held and the processor time taken meanwhile."""
    status = Path(f"/proc/{terminal.pid}/status").read_text(encoding="utf-8")
    held = {
        name: int(value.split()[0]) / 1024
        for name, _, value in (line.partition(":") for line in status.splitlines())
        if name.startswith(("VmRSS", "RssAnon", "VmHWM"))
    }
    figures.tell("memory (VmRSS)", held["VmRSS"], "MB", 250)
    print(f"{'(of which its own)':<44}{held['RssAnon']:>10.1f} MB{'':>12}most {held['VmHWM']:.0f} MB")
    terminal.press(b"1")
    terminal.settle()
    had, end = figures.processor(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        terminal.read(1.0)
    if seconds:
        figures.tell(f"idle for {seconds} s", 100 * (figures.processor() - had) / seconds, "%", 0.5)


if __name__ == "__main__":
    main()

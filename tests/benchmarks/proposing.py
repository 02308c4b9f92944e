"""Sixteen processes propose a hundred memories each while the main agent decides: how long it takes, what is left.

    python -m tests.benchmarks.proposing [AGENTS] [EACH]

Every proposal must get one verdict and one commit, whatever comes between, and the last must not cost much more than
the first. Prints what it measured; fails where a number is doubled, a proposal lost or the history unsound.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from workbench.engine import Workspace

AGENTS, EACH = 16, 100
WORDS = (
    "harbour", "lighthouse", "ferry", "backup", "release", "ledger", "compiler", "garden", "kettle",
    "violin", "orbit", "glacier", "ribbon", "lantern", "mosaic", "saddle", "walnut", "thunder", "marble",
    "pepper", "anchor", "velvet", "bramble", "copper", "drizzle", "ember", "falcon", "granite", "hazel",
    "indigo",
)  # fmt: skip
AGENT = """
import sys, time
from workbench.engine import Workspace
from tests.benchmarks.proposing import sentence
root, name, each = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Workspace.open(root, role=f"agent:{name}") as workspace:
    for at in range(each):
        began = time.perf_counter()
        done = workspace.propose(sentence(name, at), store="episodic", trigger=f"step {at}")
        print(done.number, f"{time.perf_counter() - began:.4f}", flush=True)
"""


def sentence(name: str, at: int) -> str:
    """Return what one agent proposes at a step: like other sentences, but none like another."""
    seed = int(name.removeprefix("a")) * 7919 + at * 104_729
    picked = [WORDS[(seed // 31**place) % len(WORDS)] for place in range(5)]
    return f"The {picked[0]} of the {picked[1]} goes with {' and '.join(picked[2:])} in {name}x{at}"


def run(root: Path, agents: int, each: int, *, decides: bool = True) -> dict[str, object]:
    """Let agents propose while the main agent decides, and check what stands afterwards.

    Args:
        root: An empty folder.
        agents: How many processes.
        each: Proposals of each.
        decides: Whether the main agent decides meanwhile; else everything is left waiting.
    """
    Workspace.init(root)
    began = time.perf_counter()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", AGENT, str(root), f"a{number}", str(each)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(agents)
    ]
    decided: Counter[int] = Counter()
    verdicts: list[float] = []
    with Workspace.open(root, role="main") as main:
        while decides:
            over = all(process.poll() is not None for process in running)
            waiting = [proposal.number for proposal in main.proposals().proposals]
            if waiting:
                started = time.perf_counter()
                _decide(main, waiting[:40], decided)
                verdicts.append(time.perf_counter() - started)
            elif over:
                break
            else:
                time.sleep(0.05)
    told = [process.communicate()[0].split() for process in running]
    if any(process.returncode for process in running):
        raise SystemExit("An agent failed.")
    numbers = [int(word) for words in told for word in words[::2]]
    by_number = sorted(
        (int(number), float(took))
        for words in told
        for number, took in zip(words[::2], words[1::2], strict=True)
    )
    _check(root, numbers, decided if decides else None)
    took = [each_took for _, each_took in by_number]
    tenth = max(1, len(took) // 10)
    return {
        "proposals": len(numbers),
        "seconds": round(time.perf_counter() - began, 1),
        "median ms": round(1000 * statistics.median(took), 1),
        "first tenth ms": round(1000 * statistics.median(took[:tenth]), 1),
        "last tenth ms": round(1000 * statistics.median(took[-tenth:]), 1),
        "slowest ms": round(1000 * max(took), 1),
        "verdict calls": len(verdicts),
        "file bytes": (root / "memory/meta/pending-memories.md").stat().st_size,
    }


def _decide(main: Workspace, numbers: list[int], decided: Counter[int]) -> None:
    """Store every third, refuse the rest."""
    kept = [number for number in numbers if number % 3 == 0]
    others = [number for number in numbers if number % 3]
    if kept and others:
        main.proposal_settle(kept, others, reason="not now")
    elif kept:
        main.proposal_commit(kept)
    else:
        main.proposal_reject(others)
    decided.update(numbers)


def _check(root: Path, numbers: list[int], decided: Counter[int] | None) -> None:
    """Fail where a proposal was lost, decided twice or numbered like another."""
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        raise SystemExit("The numbers of proposals are not those from 1 on.")
    with Workspace.open(root, role="reader") as reader:
        left = [proposal.number for proposal in reader.proposals().proposals]
        problems = reader.proposals().problems
        proposed = sum(1 for entry in reader.audit_log().entries if entry.action == "PROPOSE")
        sound = reader.audit_verify()
    if decided is not None and (left or set(decided.values()) != {1} or sorted(decided) != sorted(numbers)):
        raise SystemExit("Not every proposal has one verdict.")
    if decided is None and left != sorted(numbers):
        raise SystemExit("Not every proposal waits.")
    if problems or proposed != len(numbers) or not sound.ok:
        raise SystemExit(
            f"The file or the history is unsound: {problems[:3]} {proposed} {sound.problems[:3]}"
        )


def main() -> None:
    agents, each = (int(word) for word in (*sys.argv[1:], *map(str, (AGENTS, EACH)))[:2])
    for decides in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder) / "home", agents, each, decides=decides)
        print("with verdicts" if decides else "nobody decides")
        for name, value in found.items():
            print(f"  {name:16} {value}")


if __name__ == "__main__":
    main()

"""Asks 100 questions of three weeks of notes in Chinese and mixed text: `python -m tests.benchmarks.bilingual_recall`.

The notes are one agent's, in `bilingual/memory`; each question names the file and words of its evidence. Printed for
every other question (half A) and for the rest (B): the mean reciprocal rank of the first hit that holds the evidence,
and the share of questions whose evidence is handed over within 500, 1,000 and 2,000 tokens.
`--misses` lists the questions whose evidence does not come first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path

from tests.benchmarks.recall import check, choose
from workbench.engine.workspace import Workspace

NOTES = Path(__file__).with_name("bilingual")
ASKED_AT = "2026-03-23T09:00:00+08:00"
BUDGETS = (500, 1000, 2000)


def main() -> None:
    """Ask the questions and print both halves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--embedder", default="builtin", help="builtin, none, or local:PATH of a GGUF file")
    parser.add_argument("--misses", action="store_true", help="list questions whose evidence is not first")
    given = parser.parse_args()
    questions: list[dict[str, str]] = json.loads((NOTES / "questions.json").read_text(encoding="utf-8"))
    os.environ["WORKBENCH_NOW"] = ASKED_AT
    os.environ["TZ"] = "Asia/Shanghai"
    with tempfile.TemporaryDirectory() as folder:
        choose(given.embedder, Path(folder))
        root = Path(folder) / "notes"
        shutil.copytree(NOTES / "memory", root / "memory")
        with Workspace.open(root, role="reader") as workspace:
            check(workspace)
            measured = [ranks(workspace, root, question) for question in questions]
    for name, half in (("A", measured[::2]), ("B", measured[1::2]), ("all", measured)):
        shares = " / ".join(
            f"{100 * statistics.fmean(bool(row[size]) for row in half):.0f}" for size in BUDGETS
        )
        reciprocal = statistics.fmean(1 / row[BUDGETS[-1]] if row[BUDGETS[-1]] else 0.0 for row in half)
        print(f"{name}: {len(half)} questions, MRR {100 * reciprocal:.1f}, within {BUDGETS} tokens {shares}")
    if given.misses:
        for number, (question, row) in enumerate(zip(questions, measured, strict=True)):
            if row[BUDGETS[-1]] != 1:
                print("AB"[number % 2], row, question["question"], question["file"], question["evidence"])


def ranks(workspace: Workspace, root: Path, question: dict[str, str]) -> dict[int, int]:
    """Return, for each budget in tokens, the rank of the first hit whose lines hold the evidence, or 0."""
    lines = (root / question["file"]).read_text(encoding="utf-8").splitlines()
    wanted = next(number for number, line in enumerate(lines, 1) if question["evidence"] in line)
    found: dict[int, int] = {}
    for size in BUDGETS:
        hits = workspace.search(question["question"], budget=size).results
        found[size] = next(
            (
                rank
                for rank, hit in enumerate(hits, 1)
                if hit.path == question["file"] and hit.start_line <= wanted <= hit.end_line
            ),
            0,
        )
    return found


if __name__ == "__main__":
    main()

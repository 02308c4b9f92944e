"""Runs the questions of a data set through the engine: `python -m tests.benchmarks.recall DATA [RESULTS]`.

DATA holds `queries.json` and one workspace folder per conversation. Printed, for either half of the conversations,
every other one by name: the share of the lines of evidence within the first 500, 1,000 and 2,000 tokens handed over,
each piece of evidence weighing the same, and the mean reciprocal rank of the first. Questions without evidence and
LoCoMo's adversarial ones (category 5) are left out. `--kinds` prints the same by kind of question, `--kept` keeps the
workspaces and their indexes for another run.

RESULTS gets, for each question, the lines handed over, in rank order. With `--sessions`, all conversations are put
into one workspace instead, and recall and rank of whole files, as a session is one here, are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.engine.tokens import count_tokens
from workbench.engine.workspace import Workspace

BUDGET = 2000
BUDGETS = (500, 1000, 2000)
ADVERSARIAL = 5
SESSIONS_WANTED = 5
SESSION_RESULTS = 40

Query = dict[str, Any]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--embedder", default="builtin", help="builtin, none, or local:PATH of a GGUF file")
    parser.add_argument("--sessions", action="store_true", help="pool all conversations, a file as the unit")
    parser.add_argument(
        "--kinds", action="store_true", help="print the shares of each kind of question as well"
    )
    parser.add_argument("--kept", type=Path, help="folder of the workspaces, made on demand")
    given = parser.parse_args()
    queries: list[Query] = json.loads((given.data / "queries.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = (given.kept or Path(temporary)).resolve()
        choose(given.embedder, folder)
        if given.sessions:
            print_sessions(given.data, queries, folder / "pooled")
            return
        took: list[float] = []
        answers = list(answered(given.data, queries, folder, took))
        if given.results is not None:
            given.results.write_text(json.dumps(answers), encoding="utf-8")
    print_shares(queries, answers, by_kind=given.kinds)
    took.sort()
    print(
        f"{len(answers)} questions, search p50 {took[len(took) // 2]:.1f} ms, p95 {took[len(took) * 95 // 100]:.1f} ms",
        file=sys.stderr,
    )


def choose(embedder: str, folder: Path) -> None:
    """Set the embedder, and keep everything derived in a folder of this run."""
    provider, _, path = embedder.partition(":")
    os.environ["WORKBENCH_EMBEDDING_PROVIDER"] = provider
    if path:
        os.environ["WORKBENCH_EMBEDDING_MODEL_PATH"] = str(Path(path).resolve())
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")


def answered(data: Path, queries: list[Query], folder: Path, took: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the lines handed over for each question, one search each; note the milliseconds."""
    for conversation in sorted({query["conv"] for query in queries}):
        root = folder / data.name / conversation
        if not root.is_dir():
            shutil.copytree(data / conversation, root)
        with Workspace.open(root, role="reader") as workspace:
            check(workspace)
            for query in queries:
                if query["conv"] != conversation:
                    continue
                started = time.perf_counter()
                found = workspace.search(query["question"], budget=BUDGET)
                took.append((time.perf_counter() - started) * 1000)
                lines = [
                    {
                        "path": hit.path,
                        "startLine": hit.start_line,
                        "endLine": hit.end_line,
                        "score": hit.score,
                        "tokens": count_tokens(hit.snippet),
                    }
                    for hit in found.results
                ]
                yield {
                    "query_id": query["query_id"],
                    "results": lines,
                    "likelyAbsent": found.likely_absent,
                    "strategy": found.strategy,
                }


def print_shares(queries: list[Query], answers: list[dict[str, Any]], *, by_kind: bool) -> None:
    """Print the shares of evidence within each budget, for either half of the conversations."""
    asked = {
        query["query_id"]: query
        for query in queries
        if query["evidence"] and query.get("category") != ADVERSARIAL
    }
    names = sorted({query["conv"] for query in asked.values()})
    rows: dict[str, list[tuple[float, ...]]] = {}
    for answer in answers:
        query = asked.get(answer["query_id"])
        if query is None:
            continue
        half = "AB"[names.index(query["conv"]) % 2]
        kinds = ["all", str(query.get("type", query.get("category")))] if by_kind else ["all"]
        for kind in kinds:
            rows.setdefault(f"{kind} {half}", []).append(held(query, answer["results"]))
    for name, found in sorted(rows.items()):
        shares = "  ".join(f"{100 * statistics.fmean(column):5.1f}" for column in zip(*found, strict=True))
        print(f"{name:28} {len(found):4} questions  {shares}")


def held(query: Query, results: list[dict[str, Any]]) -> tuple[float, ...]:
    """Return the share of a question's evidence within each budget, and the reciprocal rank of the first of it."""
    pieces = {
        frozenset((path, line) for line in range(first, (last[-1] if last else first) + 1))
        for path, first, *last in query["evidence"]
    }
    within: dict[int, set[tuple[str, int]]] = {budget: set() for budget in BUDGETS}
    tokens, reciprocal = 0, 0.0
    for rank, each in enumerate(results, 1):
        lines = {(each["path"], line) for line in range(each["startLine"], each["endLine"] + 1)}
        tokens += each["tokens"]
        for budget, known in within.items():
            if tokens <= budget:
                known |= lines
        if not reciprocal and any(piece & lines for piece in pieces):
            reciprocal = 1 / rank
    shares = (
        statistics.fmean(len(piece & known) / len(piece) for piece in pieces) for known in within.values()
    )
    return (*shares, reciprocal)


def check(workspace: Workspace) -> None:
    """Bring the index up to date, and stop where another embedder works than was asked for."""
    status = workspace.index()
    if status.fallback or status.pending:
        raise SystemExit(f"The index is not as asked for: {status}")


def print_sessions(data: Path, queries: list[Query], root: Path) -> None:
    """Print recall@5 and mean reciprocal rank of the files that hold the evidence, all conversations pooled."""
    names = pooled(data, {query["conv"] for query in queries}, root)
    recalls, ranks, took = [], [], []
    with Workspace.open(root, role="reader") as workspace:
        check(workspace)
        for query in queries:
            wanted = {names[query["conv"], path] for path, *_ in query["evidence"]}
            if not wanted:
                continue
            started = time.perf_counter()
            found = workspace.search(query["question"], max_results=SESSION_RESULTS, min_score=0)
            took.append((time.perf_counter() - started) * 1000)
            files = list(dict.fromkeys(hit.path for hit in found.results))
            recalls.append(len(wanted & set(files[:SESSIONS_WANTED])) / len(wanted))
            ranks.append(next((1 / place for place, path in enumerate(files, 1) if path in wanted), 0.0))
    print(
        f"{len(names)} sessions, {len(recalls)} questions: R@5 {statistics.fmean(recalls):.3f}, "
        f"MRR {statistics.fmean(ranks):.3f}, search p50 {statistics.median(took):.1f} ms"
    )


def pooled(data: Path, conversations: set[str], root: Path) -> dict[tuple[str, str], str]:
    """Copy all conversations into one workspace, and return the new path of each file."""
    names: dict[tuple[str, str], str] = {}
    (root / "memory").mkdir(parents=True)
    for conversation in sorted(conversations):
        for file in sorted((data / conversation).rglob("*.md")):
            path = file.relative_to(data / conversation).as_posix()
            # A day may be in several conversations; a note keeps its day in its first line.
            name = f"memory/{re.sub(r'[^a-z0-9]+', '-', conversation.casefold())}-{file.name}"
            shutil.copyfile(file, root / name)
            names[conversation, path] = name
    return names


if __name__ == "__main__":
    main()

"""How often search hands over an outdated statement above the one that replaced it.

    python -m tests.benchmarks.superseded DATA [--state before|approved|right ...] [--only NAME ...] [--kept FOLDER]

DATA holds `queries.json` and one workspace folder per conversation. A question of type `knowledge_update` names the
lines of the older and of the newer statement in its `groups`; it counts as outdated if the older one is handed over
within 2,000 tokens and stands above the newer, or the newer is missing, among the questions where either is found.
Beside it the mean reciprocal rank of the first line of evidence, over all questions.

States: `before` any reflection; `approved`, after everything that reflection without a model proposes was approved;
`right`, after each update was approved as the labels have it, one fact in place of another, each citing its lines.
Figures are given for either half of the conversations, every other one by name, so that what is chosen on one half is
reported on the other. Intervals are Wilson's, at 95 %. `--kept` keeps the workspaces and their indexes for another run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.benchmarks.recall import BUDGET, check
from workbench.engine.clock import FixedClock
from workbench.engine.workspace import Workspace

if TYPE_CHECKING:
    from workbench.engine.results.recall import Hit

STATES: Final = ("before", "approved", "right")
_LONGEST_FACT: Final = 300

Query = dict[str, Any]
Span = tuple[str, int, int]


@dataclass(frozen=True)
class Asked:
    """One question, answered.

    Args:
        id: Of the question.
        reciprocal: 1 / rank of the first line of evidence, or 0.
        outdated: Whether the older statement stands above the newer one; None where the question has no pair, or
            neither is found.
    """

    id: str
    reciprocal: float
    outdated: bool | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask the questions of every conversation in every state, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--state", nargs="*", choices=STATES, default=STATES)
    parser.add_argument("--only", nargs="*", default=[], help="names of conversations")
    parser.add_argument("--kept", type=Path, help="folder of the workspaces, made on demand")
    parser.add_argument("--show", action="store_true", help="print the questions with an outdated answer")
    options = parser.parse_args(arguments)
    queries: list[Query] = json.loads((options.data / "queries.json").read_text(encoding="utf-8"))
    queries = [query for query in queries if query["evidence"]]
    names = sorted({query["conv"] for query in queries})
    halves = {name: "AB"[place % 2] for place, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as folder:
        kept: Path = (options.kept or Path(folder)).resolve()
        for kind in ("CACHE", "STATE", "CONFIG"):
            os.environ[f"XDG_{kind}_HOME"] = str(kept / kind.casefold())
        for state in options.state:
            answers: dict[str, list[Asked]] = {"A": [], "B": []}
            for name in names:
                if options.only and name not in options.only:
                    continue
                own = [query for query in queries if query["conv"] == name]
                root = prepared(options.data / name, kept / state / name, state, own)
                answers[halves[name]] += asked(root, own)
            for half, found in (*answers.items(), ("all", [*answers["A"], *answers["B"]])):
                if found:
                    print(f"{state:9}{half:4} {figures(found)}", flush=True)
            if options.show:
                shown = [each.id for found in answers.values() for each in found if each.outdated]
                print("\n".join(f"  {id_}" for id_ in shown))
    return 0


def prepared(source: Path, root: Path, state: str, queries: Sequence[Query]) -> Path:
    """Return the workspace of a conversation in a state; what is there already is used again."""
    if root.is_dir():
        return root
    making = root.with_name(root.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    shutil.copytree(source, making)
    if state == "right":
        approve_pairs(making, [query for query in queries if query["type"] == "knowledge_update"])
    if state == "approved":
        approve_everything(making)
    making.rename(root)
    return root


def approve_everything(root: Path) -> None:
    """Reflect until nothing new is proposed or something cannot be applied, and approve all of it each time."""
    with Workspace.open(root, role="person", actor="manual", clock=clock_of(root)) as workspace:
        while not workspace.review().items:
            workspace.reflect()
            items = workspace.review().items
            if not items:
                break
            workspace.review_decide({item.id: "approved" for item in items})
            workspace.review_apply()


def clock_of(root: Path) -> FixedClock:
    """Return the time of reflection and questions: two days after the last entry."""
    last = max(path.stem for path in (root / "memory").glob("????-??-??.md"))
    return FixedClock(datetime.fromisoformat(last).replace(tzinfo=UTC) + timedelta(days=2))


def approve_pairs(root: Path, queries: Sequence[Query]) -> None:
    """Write the facts that a person would have after approving each update of the labels."""
    current, past = [], []
    for number, query in enumerate(queries):
        pair = pair_of(query)
        if pair is None or pair[0] == pair[1]:
            continue
        old, new = (side[0] for side in pair)
        days = [Path(path).stem for path, *_ in (old, new)]
        current.append(
            f"- {said(root, new)} (since {days[1]}, from {cited(pair[1])}) ^fnew{number}",
        )
        past.append(
            f"- {said(root, old)} ({days[0]} to {days[1]}, from {cited(pair[0])}, superseded by ^fnew{number})"
            f" ^fold{number}"
        )
    folder = root / "memory" / "graph" / "entities"
    folder.mkdir(parents=True)
    head = ("# person--user", "", "<!-- Type: person | Label: User -->", "", "## Facts")
    text = "\n".join((*head, *current, "", "## Superseded", *past, ""))
    (folder / "person--user.md").write_text(text, encoding="utf-8")


def said(root: Path, span: Span) -> str:
    """Return the words of some lines as a fact, without what a fact’s line could not hold."""
    path, first, last = span
    lines = (root / path).read_text(encoding="utf-8").split("\n")[first - 1 : last]
    words = " ".join(line for line in lines if line.strip() and not line.startswith("#"))
    for mark in "()^[]":
        words = words.replace(mark, " ")
    return " ".join(words.split())[:_LONGEST_FACT]


def cited(spans: Sequence[Span]) -> str:
    """Return lines as a fact cites them."""
    return " and ".join(f"file:{path}#L{first}-L{last}" for path, first, last in spans)


def pair_of(query: Query) -> tuple[list[Span], list[Span]] | None:
    """Return the lines of the older and of the newer statement, or None."""
    groups = query.get("groups", {})
    old, new = (spans(groups.get(name, ())) for name in ("original_info", "updated_info"))
    return (old, new) if old and new else None


def spans(evidence: Sequence[Sequence[Any]]) -> list[Span]:
    """Return evidence as path, first and last line."""
    return [(str(each[0]), int(each[1]), int(each[-1])) for each in evidence]


def asked(root: Path, queries: Sequence[Query]) -> Iterator[Asked]:
    """Ask the questions of one conversation."""
    with Workspace.open(root, role="reader", clock=clock_of(root)) as workspace:
        check(workspace)
        for query in queries:
            hits = workspace.search(query["question"], budget=BUDGET).results
            yield judged(query, hits)


def judged(query: Query, hits: Sequence[Hit]) -> Asked:
    """Hold the lines handed over against the labels."""
    first = rank(hits, spans(query["evidence"]))
    outdated = None
    pair = pair_of(query)
    if pair is not None:
        old, new = (rank(hits, side) for side in pair)
        if old or new:
            outdated = bool(old) and (not new or old < new)
    return Asked(query["query_id"], 1 / first if first else 0.0, outdated)


def rank(hits: Sequence[Hit], wanted: Sequence[Span]) -> int:
    """Return the rank of the first result that holds any of these lines, or 0."""
    for place, hit in enumerate(hits, 1):
        if any(
            hit.path == path and hit.start_line <= last and hit.end_line >= first
            for path, first, last in wanted
        ):
            return place
    return 0


def figures(found: Sequence[Asked]) -> str:
    """Return the figures of some questions as a line."""
    mean = statistics.fmean(each.reciprocal for each in found)
    pairs = [each.outdated for each in found if each.outdated is not None]
    told = f"{len(found):4} questions, MRR {mean * 100:.1f}"
    if not pairs:
        return told
    low, high = interval(sum(pairs), len(pairs))
    share = sum(pairs) / len(pairs)
    return f"{told}, outdated above {sum(pairs)}/{len(pairs)} = {share:.0%} ({low:.0%} to {high:.0%})"


def interval(hits: int, count: int) -> tuple[float, float]:
    """Return Wilson’s interval of a share at 95 %."""
    z = 1.96
    share = hits / count
    middle = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


if __name__ == "__main__":
    sys.exit(main())

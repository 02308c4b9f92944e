"""Fits how much each feature of two clauses speaks for their not going together.

usage: python tools/fit_likely.py [DATA ...] [--real 0.8] [--write]

Fitted on the tuned half of `tests/benchmarks/conversations`, where a labelled pair names lines, which hold several
clauses: of the pairs of clauses between them, the one that the weights of the round before find likeliest counts as
real, the others for nothing. DATA are folders of long chats with labelled pairs (see `tests/benchmarks/reflection.py`);
what is not labelled there is often real all the same, so that it counts for little as unreal, unless a reader judged
it: `tests/benchmarks/likely_labels.json` holds verdicts by digests. The pairs of sentences of the tests come besides.
Prints how well the weights tell apart the conversations of our own that were left out of fitting, one after the other;
the threshold is the one at which that share of what is raised there is labelled. With `--write` all goes into
`likely.toml`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks import reflection, reflection_pairs
from tests.engine.reflection.claims import test_finder, test_more_ways
from tests.engine.reflection.snapshots import chat, snapshot
from workbench.engine.reflection.claims.likely import DENIALS, FEATURES, VALUES, WORDS, Likely, compare
from workbench.engine.reflection.claims.reading import read_claims
from workbench.engine.reflection.model import Work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.model import Passage

    Labelled = reflection.Pair | reflection_pairs.Pair

LIKELY: Final = Path("workbench/engine/reflection/claims/likely.toml")
LABELS: Final = Path("tests/benchmarks/likely_labels.json")
_SHRINK: Final = 3.0
_REAL: Final = 2.0
_REAL_ELSEWHERE: Final = 0.3
_UNLABELLED: Final = 0.02
"""What counts as real, and what is not labelled in a chat of which not every pair is."""
_FEW: Final = 20
_SHORT: Final = 2.0
_ROUNDS: Final = 4
_STEPS: Final = 30
_FEWEST: Final = 10
_LEAST_WEIGHT: Final = 0.04

FAMILIES: Final = (VALUES, DENIALS, WORDS)

Weighed = dict[str, tuple[float, NDArray[np.float64]]]


@dataclass
class Chat:
    """A conversation's pairs of clauses.

    Args:
        own: Whether it is one of ours, whose labels tell of every pair.
        pairs: Of clauses.
        bags: For each labelled pair, which pairs of clauses stand in its lines.
        judged: What a reader found of others: 1 real, 0 wrong, 2 doubtful.
    """

    own: bool
    pairs: list[Likely]
    bags: list[list[int]]
    judged: dict[int, int] = field(default_factory=dict)

    @cached_property
    def rows(self) -> NDArray[np.float64]:
        """Return the features of all pairs, a column for each of `FEATURES`."""
        return np.array([[float(pair.features.get(name, 0.0)) for name in FEATURES] for pair in self.pairs])

    def of(self, family: str) -> NDArray[np.bool_]:
        """Return which pairs are of a family."""
        return np.array([pair.family == family for pair in self.pairs], bool)

    def odds(self, weighed: Weighed) -> NDArray[np.float64]:
        """Return the log-odds of all pairs by other weights than those on file."""
        if not weighed:
            return self.rows[:, FEATURES.index("meaning")] + self.rows[:, FEATURES.index("words")]
        found = np.zeros(len(self.pairs))
        for family, (base, weights) in weighed.items():
            of_family = self.of(family)
            found[of_family] = base + self.rows[of_family] @ weights
        return found


def digest(name: str, pair: Likely) -> str:
    """Return what a verdict is kept under: no words of the conversations, which are not ours to give away."""
    said = (
        " ".join(o.passage.text[s.start : s.end].split())
        for o, s in ((pair.earlier.origin, pair.earlier.span), (pair.later.origin, pair.later.span))
    )
    return hashlib.sha256("\n".join((name, *said)).encode()).hexdigest()[:12]


def short_chats() -> Iterator[Chat]:
    """Give the pairs of sentences that the tests expect to be raised, or not, each as a conversation of two days."""
    for module in (test_finder, test_more_ways):
        for listed in ("UPDATES", "CONTRADICTIONS", "NEITHER"):
            for case in getattr(module, listed):
                said = [
                    passage
                    for day, text in enumerate(case.values, 1)
                    for passage in chat(f"2026-01-{day:02}", ("user", text))
                ]
                sides = tuple(((each.path, each.start_line, each.end_line),) for each in said)
                pair = reflection.Pair(case.id, listed, sides)
                yield read_chat("", said, () if listed == "NEITHER" else (pair,), {}, own=True)


def read_chat(
    name: str,
    passages: Sequence[Passage],
    labelled: Sequence[Labelled],
    verdicts: dict[str, int],
    *,
    own: bool,
) -> Chat:
    """Return what the model is to judge of a conversation."""
    with tempfile.TemporaryDirectory() as empty:
        claims = read_claims(snapshot(Path(empty), passages), Work())
        pairs = list(compare(claims.said, claims.weights))
    lines = [
        [
            (o.passage.path, o.passage.start_line, o.passage.end_line)
            for o in (p.earlier.origin, p.later.origin)
        ]
        for p in pairs
    ]
    bags = [
        [
            number
            for number, cited in enumerate(lines)
            if all(any(_overlaps(one, each) for one in side for each in cited) for side in label.sides)
        ]
        for label in labelled
    ]
    judged = {n: verdicts[key] for n, pair in enumerate(pairs) if (key := digest(name, pair)) in verdicts}
    return Chat(own, pairs, bags, judged)


def _overlaps(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


def fit(chats: Sequence[Chat], shrink: float = _SHRINK) -> Weighed:
    """Return base and weights of each family that make the labels likeliest, drawn towards 0."""
    weighed: Weighed = {}
    for _ in range(_ROUNDS):
        marks: list[NDArray[np.float64]] = []
        for talk in chats:
            sure = talk.odds(weighed)
            unreal = _SHORT if len(talk.pairs) < _FEW else 1.0 if talk.own else _UNLABELLED
            mark = np.full(len(talk.pairs), -unreal)
            for number, verdict in talk.judged.items():
                mark[number] = (-1.0, _REAL_ELSEWHERE, 0.0)[verdict]
            for bag in talk.bags:
                mark[bag] = 0.0
            for bag in filter(None, talk.bags):
                mark[max(bag, key=sure.__getitem__)] = _REAL if talk.own else _REAL_ELSEWHERE
            marks.append(mark)
        rows, counts = np.vstack([talk.rows for talk in chats]), np.concatenate(marks)
        weighed = {}
        for family in FAMILIES:
            chosen = np.concatenate([talk.of(family) for talk in chats]) & (counts != 0)
            weighed[family] = _fit(rows[chosen], counts[chosen], shrink)
    return weighed


def _fit(
    rows: NDArray[np.float64], counts: NDArray[np.float64], shrink: float
) -> tuple[float, NDArray[np.float64]]:
    """Fit by Newton's method; what counts below 0 is unreal."""
    spread = rows.std(0) + 1e-6
    table = np.hstack([np.ones((len(rows), 1)), rows / spread])
    penalty = np.diag([1e-6, *([shrink] * len(FEATURES))])
    weights: NDArray[np.float64] = np.zeros(len(FEATURES) + 1)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (np.abs(counts) * ((counts > 0) - chance)) - penalty @ weights
        bend = (table.T * (np.abs(counts) * chance * (1 - chance))) @ table + penalty
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-5:
            break
    kept: NDArray[np.float64] = np.where(np.abs(weights[1:]) >= _LEAST_WEIGHT, weights[1:] / spread, 0.0)
    return round(float(weights[0]), 2), kept.round(2)


def raised(chats: Sequence[Chat], weighed: Weighed) -> list[tuple[float, bool]]:
    """Return the odds of what would be raised, the likeliest first, each clause once, and whether it is labelled."""
    found: list[tuple[float, bool]] = []
    for talk in chats:
        taken: set[int] = set()
        credited: set[int] = set()
        sure = talk.odds(weighed)
        for number in np.argsort(-sure):
            pair = talk.pairs[number]
            if {id(pair.earlier), id(pair.later)} & taken:
                continue
            taken |= {id(pair.earlier), id(pair.later)}
            label = next((n for n, bag in enumerate(talk.bags) if number in bag and n not in credited), None)
            if label is not None:
                credited.add(label)
            found.append((float(sure[number]), label is not None))
    return sorted(found, reverse=True)


def threshold(tried: Sequence[tuple[float, bool]], real: float) -> tuple[float, int, int]:
    """Return the odds from which that share is real, how many that raises and how many of these are labelled."""
    best, hits = (99.0, 0, 0), 0
    for number, (value, is_real) in enumerate(tried, 1):
        hits += is_real
        if number >= _FEWEST and hits / number >= real:
            best = value, number, hits
    return best


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, say how well it does, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, nargs="*")
    parser.add_argument("--real", type=float, default=0.8)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    data = reflection_pairs.DATA
    verdicts: dict[str, int] = json.loads(LABELS.read_text(encoding="utf-8"))
    own = [
        read_chat(name, list(reflection.read_passages(data / name)), pairs, {}, own=True)
        for name, pairs in reflection_pairs.read_pairs(data / "pairs.json").items()
        if name not in reflection_pairs.HELD_OUT
    ]
    others = [
        read_chat(
            f"{folder.name}/{name}",
            passages,
            reflection._pairs(folder / "queries.json").get(name, ()),
            verdicts,
            own=False,
        )
        for folder in options.data
        for name, passages in reflection._conversations(folder, [], together=False)
    ]
    others += (talk for talk in short_chats() if talk.pairs)
    tried = sorted(
        (
            each
            for talk in own
            for each in raised([talk], fit([*(other for other in own if other is not talk), *others]))
        ),
        reverse=True,
    )
    labelled = sum(len(talk.bags) for talk in own)
    for share in (0.9, 0.8, 0.7, 0.6):
        value, number, hits = threshold(tried, share)
        print(
            f"{share:.0%} real from {value:.2f}: {hits} of {labelled} pairs, {number} raised, left out of fitting"
        )
    made = fit([*own, *others])
    if options.write:
        text = LIKELY.read_text(encoding="utf-8")
        LIKELY.write_text(with_model(text, made, threshold(tried, options.real)[0]), encoding="utf-8")
    return 0


def with_model(text: str, made: Weighed, raised_from: float) -> str:
    """Return the file with other weights, what speaks most against it first."""
    head = text.partition("[model.")[0].rstrip()
    head = "\n".join(
        f"raised = {raised_from:.2f}" if line.startswith("raised = ") else line for line in head.split("\n")
    )
    lines = [head]
    for family, (base, weights) in made.items():
        lines += ["", f"[model.{family}]", f"base = {base}", "", f"[model.{family}.weights]"]
        named = zip(FEATURES, weights, strict=True)
        lines += [f'"{name}" = {value}' for name, value in sorted(named, key=lambda each: each[1]) if value]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())

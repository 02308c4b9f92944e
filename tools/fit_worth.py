"""Fits how much each feature of a statement speaks for its being worth a person's minute.

usage: python tools/fit_worth.py LABELS DATA... [--write]

LABELS says what a reader found of statements that reflection by rules would propose (worthwhile, passing, wrong), by
digests of their words; DATA are folders of conversations, each with `memory/*.md`. Prints how well the weights tell
apart what was left out of fitting, one conversation after the other, and with `--write` puts those of all into
`worth.toml`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tests.benchmarks.reflection import read_passages
from tests.engine.reflection.snapshots import snapshot
from workbench.engine.reflection.extraction.reading import Reader
from workbench.engine.reflection.extraction.worth import is_kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

WORTH: Final = Path("workbench/engine/reflection/extraction/worth.toml")
WORTHWHILE: Final = "worthwhile"
_QUOTED: Final = 60
_SHRINK: Final = 3.0
_STEPS: Final = 60
_LEAST_WEIGHT: Final = 0.05


@dataclass(frozen=True)
class Judged:
    """A statement with its reader's verdict.

    Args:
        conversation: Where it was made.
        features: By name.
        kind: What it says something about, by its verb.
        value: Its worth before any of them spoke.
        good: Whether it was found worthwhile.
    """

    conversation: str
    features: tuple[str, ...]
    kind: str
    value: float
    good: bool


@dataclass(frozen=True)
class Fit:
    """Log-odds: of a statement without any feature, and what each feature adds."""

    base: float
    weights: dict[str, float]

    def odds(self, features: Sequence[str]) -> float:
        """Return the log-odds that a statement is worthwhile."""
        return self.base + sum(self.weights.get(name, 0.0) for name in features)


def digest(conversation: str, quote: str) -> str:
    """Return what a verdict is kept under: no words of the conversations, which are not ours to give away."""
    words = " ".join(quote.split())[:_QUOTED]
    return hashlib.sha256(f"{conversation}\n{words}".encode()).hexdigest()[:16]


def fit(judged: Sequence[Judged], shrink: float = _SHRINK) -> Fit:
    """Return the weights that make the verdicts likeliest, drawn towards 0 (ridge), by Newton's method."""
    names = sorted({name for each in judged for name in each.features})
    table = np.array([[1.0, *(float(name in each.features) for name in names)] for each in judged])
    good = np.array([float(each.good) for each in judged])
    penalty = np.diag([1e-6, *([shrink] * len(names))])
    weights: NDArray[np.float64] = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (good - chance) - penalty @ weights
        bend = (table.T * (chance * (1 - chance))) @ table + penalty
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-6:
            break
    found = {name: round(float(value), 2) for name, value in zip(names, weights[1:], strict=True)}
    return Fit(
        round(float(weights[0]), 2), {n: value for n, value in found.items() if abs(value) >= _LEAST_WEIGHT}
    )


def left_out(judged: Sequence[Judged]) -> list[tuple[Judged, float]]:
    """Return each statement with its odds by weights fitted without its conversation."""
    found: list[tuple[Judged, float]] = []
    for name in sorted({each.conversation for each in judged}):
        others = fit([each for each in judged if each.conversation != name])
        found += [(each, others.odds(each.features)) for each in judged if each.conversation == name]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, say how well it does, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("labels", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    labels: dict[str, str] = json.loads(options.labels.read_text(encoding="utf-8"))
    judged = [each for folder in options.data for each in _judged(folder, labels)]
    print(f"{len(judged)} statements with a verdict, {sum(each.good for each in judged)} worthwhile")
    tried = left_out(judged)
    kept = [each.good for each, odds in tried if is_kept(each.value, odds, each.kind)]
    every = sum(each.good for each, _ in tried)
    print(f"by weights fitted without their conversation: {len(kept)} kept, {sum(kept)} of them worthwhile")
    print(
        f"  {sum(kept) / max(1, len(kept)):.0%} of what is kept, {sum(kept) / max(1, every):.0%} of what is worthwhile"
    )
    made = fit(judged)
    for name, value in sorted(made.weights.items(), key=lambda each: each[1]):
        print(f"  {value:+.2f} {name}")
    if options.write:
        WORTH.write_text(with_model(WORTH.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 0


def _judged(data: Path, labels: dict[str, str]) -> Iterator[Judged]:
    for folder in sorted(path.parent for path in data.glob("*/memory")):
        passages = list(read_passages(folder))
        with tempfile.TemporaryDirectory() as empty:
            made = snapshot(Path(empty), passages)
            reader = Reader(made)
            for at, passage in enumerate(passages):
                reader.read(at, passage)
        seen: set[str] = set()
        for one in reader.found.statements:
            key = digest(folder.name, one.quote)
            if one.features and key in labels and key not in seen:
                seen.add(key)
                good = labels[key] == WORTHWHILE
                yield Judged(f"{data.name}/{folder.name}", one.features, one.kind, one.value, good)


def with_model(text: str, made: Fit) -> str:
    """Return the file with other weights, strongest last."""
    start = text.index("[model]\n")
    lines = [f"base = {made.base}", "[model.weights]"]
    for name, value in sorted(made.weights.items(), key=lambda each: (each[1], each[0])):
        key = name if re.fullmatch(r"\w+", name) else f'"{name}"'
        lines.append(f"{key} = {value}")
    return text[:start] + "[model]\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())

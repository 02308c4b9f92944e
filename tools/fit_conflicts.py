"""Fits what judges whether two statements exclude each other, and writes it as `conflicts.toml`.

usage: python -m tools.fit_conflicts DATA [--half 0|1] [--raised 0.5] [--out FILE]

DATA is a folder of long chats, each with `memory/*.md`, and a `queries.json` beside them that names pairs of updates
and contradictions. The invented conversations of `tests/benchmarks/conversations` and the short ones of the tests come
besides. Needs scikit-learn, which the package does not.

A labelled pair names lines, which hold several statements: of the pairs of statements between them the one that the
model of the round before is surest of counts as real (at first, the one that is most alike), as do others it finds
likely; the rest of them counts for nothing. All other pairs count as unreal, but for those that a reader judged:
`conflict_labels.json` holds 1 for real, 0 for wrong and 2 for doubtful by digests, so that no words of a data set
stand here. Conversations weigh alike. What is printed is cross-validated by conversation: fitted on one half, counted
on the other, and the other way round. With `--half`, only that half is fitted and written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from tests.benchmarks import reflection, reflection_pairs
from tests.engine.reflection.claims import test_finder, test_more_ways
from tests.engine.reflection.snapshots import chat, snapshot
from workbench.engine.reflection.claims.comparing import Pair, pairs_of
from workbench.engine.reflection.claims.reading import read_claims
from workbench.engine.reflection.model import Passage
from workbench.engine.reflection.work import Work

FAMILIES = ("values", "denials", "words")
LABELS = Path(__file__).with_name("conflict_labels.json")
OUT = Path(__file__).parents[1] / "workbench/engine/reflection/claims/conflicts.toml"
ROUNDS, STRENGTH, UNREAL, SHORT = 4, 3.0, 6.0, 3.0
LIKELY, DOUBTFUL = 0.5, 2

Lines = tuple[str, int, int]
Models = dict[str, LogisticRegression]


@dataclass
class Chat:
    """A conversation's pairs of statements, and those that each labelled pair may mean.

    Args:
        name: Of the conversation.
        pairs: By family.
        rows: Their features, by family.
        bags: For each labelled pair, which pairs of statements stand in its lines.
    """

    name: str
    pairs: dict[str, list[Pair]]
    rows: dict[str, Any]
    bags: list[list[tuple[str, int]]]

    def label(self, family: str, number: int, labels: dict[str, int]) -> int | None:
        """Return what a reader judged of a pair."""
        pair = self.pairs[family][number]
        said = "\n".join((self.name, *(_words(claim) for claim in (pair.earlier, pair.later))))
        return labels.get(hashlib.sha256(said.encode()).hexdigest()[:12])


def main() -> None:
    """Fit, print the figures of both halves, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--raised", type=float, default=0.5)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    labels: dict[str, int] = json.loads(LABELS.read_text(encoding="utf-8"))
    chats = [_chat(*each) for each in _conversations(options.data)]
    vectors = {
        family: DictVectorizer().fit([pair.features for each in chats for pair in each.pairs[family]])
        for family in FAMILIES
    }
    for each in chats:
        each.rows = {
            f: vectors[f].transform([p.features for p in each.pairs[f]]) for f in FAMILIES if each.pairs[f]
        }
    halves = [chats[0::2], chats[1::2]]
    for half in (0, 1):
        models = fit(halves[1 - half], labels)
        for raised in (0.4, 0.5, 0.6, 0.7, 0.8):
            print(f"half {half}, raised from {raised}: {dict(measure(halves[half], models, labels, raised))}")
    models = fit(chats if options.half is None else halves[options.half], labels)
    options.out.write_text(_written(models, vectors, options.raised), encoding="utf-8")


def fit(chats: list[Chat], labels: dict[str, int]) -> Models:
    """Fit a model for each family."""
    models: Models = {}
    for _ in range(ROUNDS):
        rows: dict[str, list[Any]] = {family: [] for family in FAMILIES}
        real: dict[str, list[int]] = {family: [] for family in FAMILIES}
        weights: dict[str, list[float]] = {family: [] for family in FAMILIES}
        for each in chats:
            sure = _sureness(each, models)
            meant = {max(bag, key=lambda at: sure[at[0]][at[1]]) for bag in each.bags if bag}
            bagged = {at for bag in each.bags for at in bag}
            if models:
                meant |= {at for at in bagged if sure[at[0]][at[1]] >= LIKELY}
            for family in each.rows:
                picked, judged = [], []
                for number in range(len(each.pairs[family])):
                    label = each.label(family, number, labels)
                    if (family, number) in meant or label == 1:
                        picked.append(number), judged.append(1)
                    elif label == 0 or (label is None and (family, number) not in bagged):
                        picked.append(number), judged.append(0)
                short = each.name.startswith("short/")
                unreal = max(1, len(judged) - sum(judged)) ** -0.5
                rows[family].append(each.rows[family][picked])
                real[family] += judged
                weights[family] += [SHORT if short else 1.0 if yes else unreal for yes in judged]
        models = {}
        for family in FAMILIES:
            yes, weight = np.array(real[family]), np.array(weights[family])
            weight[yes == 0] *= UNREAL * weight[yes == 1].sum() / weight[yes == 0].sum()
            models[family] = LogisticRegression(C=STRENGTH, max_iter=400)
            models[family].fit(vstack(rows[family]), yes, sample_weight=weight)
    return models


def measure(chats: list[Chat], models: Models, labels: dict[str, int], raised: float) -> Counter[str]:
    """Count by kind of conversation the labelled pairs found, and what was judged of all that is raised."""
    found: Counter[str] = Counter()
    for each in chats:
        kind = each.name.partition("/")[0]
        sure = _sureness(each, models)
        ranked = sorted(
            (
                (sure[f][n], f, n)
                for f in each.rows
                for n in range(len(each.pairs[f]))
                if sure[f][n] >= raised
            ),
            key=lambda at: -at[0],
        )
        taken: set[object] = set()
        kept = []
        for _, family, number in ranked:
            pair = each.pairs[family][number]
            places = {(_lines(pair.earlier), _lines(pair.later)), _words(pair.earlier), _words(pair.later)}
            if not places & taken:
                taken |= places
                kept.append((family, number))
        places_of = {
            at: (_lines(pair.earlier), _lines(pair.later))
            for at in kept
            for pair in [each.pairs[at[0]][at[1]]]
        }
        bags = [
            {(_lines(p.earlier), _lines(p.later)) for f, n in bag for p in [each.pairs[f][n]]}
            for bag in each.bags
        ]
        found[f"{kind} pairs"] += len(bags)
        found[f"{kind} found"] += sum(bool(bag & set(places_of.values())) for bag in bags)
        for at, where in places_of.items():
            label = each.label(*at, labels)
            if label is None and any(where in bag for bag in bags):
                label = 1
            found[
                f"{kind} {('wrong', 'real', 'doubtful')[label] if label is not None else 'not judged'}"
            ] += 1
    return found


def _sureness(each: Chat, models: Models) -> dict[str, Any]:
    if models:
        return {family: models[family].predict_proba(rows)[:, 1] for family, rows in each.rows.items()}
    return {family: [_at_first(family, pair) for pair in each.pairs[family]] for family in each.rows}


def _at_first(family: str, pair: Pair) -> float:
    get = pair.features.get
    if family == "values":
        return (
            get("subject", 0)
            + 0.5 * get("says new", 0)
            + get("was that", 0)
            + 0.3 * get("same head", 0)
            - 0.3 * get("far apart", 0)
        )
    if family == "denials":
        return get("spoken of", 0) * (0.3 + get("never", 0)) + 0.3 * get("same verb", 0)
    return (
        0.8 * get("sets that aside", 0)
        + get("subject", 0)
        + 0.5 * get("new and alike", 0)
        + 0.2 * get("other name", 0)
        - 0.3
    )


def _conversations(data: Path) -> list[tuple[str, list[Passage], list[tuple[tuple[Lines, ...], ...]]]]:
    found = [
        (
            f"own/{name}",
            list(reflection.read_passages(reflection_pairs.DATA / name)),
            [pair.sides for pair in pairs],
        )
        for name, pairs in reflection_pairs.read_pairs(reflection_pairs.DATA / "pairs.json").items()
    ]
    for name, pairs in sorted(reflection._pairs(data / "queries.json").items()):
        found.append(
            (
                f"{data.name}/{name}",
                list(reflection.read_passages(data / name)),
                [pair.sides for pair in pairs],
            )
        )
    short: dict[str, tuple[list[Passage], list[tuple[tuple[Lines, ...], ...]]]] = {}
    for module in (test_finder, test_more_ways):
        for listed in ("UPDATES", "CONTRADICTIONS", "NEITHER"):
            for case in getattr(module, listed):
                said = [
                    p
                    for day, text in enumerate(case.values, 1)
                    for p in chat(f"2026-01-{day:02}", ("user", text))
                ]
                sides = tuple(((each.path, each.start_line, each.end_line),) for each in said)
                short[f"short/{case.id}"] = said, [] if listed == "NEITHER" else [sides]
    return found + [(name, *each) for name, each in short.items()]


def _chat(name: str, passages: list[Passage], labelled: list[tuple[tuple[Lines, ...], ...]]) -> Chat:
    with tempfile.TemporaryDirectory() as empty:
        claims = read_claims(snapshot(Path(empty), passages), Work())
    pairs: dict[str, list[Pair]] = {family: [] for family in FAMILIES}
    for pair in pairs_of(claims.measured, claims.statements, claims.weights):
        pairs[pair.family].append(pair)
    bags = [
        [
            (family, number)
            for family in FAMILIES
            for number, pair in enumerate(pairs[family])
            if all(
                any(_overlaps(lines, _lines(claim)) for lines in side for claim in (pair.earlier, pair.later))
                for side in sides
            )
        ]
        for sides in labelled
    ]
    return Chat(name, pairs, {}, bags)


def _words(claim: Any) -> str:
    text: str = claim.origin.passage.text
    return text[claim.span.start : claim.span.end]


def _lines(claim: Any) -> Lines:
    passage = claim.origin.passage
    return passage.path, passage.start_line, passage.end_line


def _overlaps(one: Lines, other: Lines) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


def _written(models: Models, vectors: dict[str, Any], raised: float) -> str:
    told = tomllib.loads(OUT.read_text(encoding="utf-8"))["told"]
    lines = [
        "# Whether two statements exclude each other: fitted by `tools/fit_conflicts.py`. What a pair has",
        "# is added up by its family; 0 is even odds. A feature is 0 to 1 strong; `told` is how a person reads of it.",
        "",
        f"raised = {raised}",
        "",
        "[intercepts]",
        *(f"{family} = {models[family].intercept_[0]:.2f}" for family in FAMILIES),
    ]
    for family in FAMILIES:
        named = zip(vectors[family].get_feature_names_out(), models[family].coef_[0], strict=True)
        lines += [
            "",
            f"[weights.{family}]",
            *(f'"{n}" = {c:.2f}' for n, c in sorted(named, key=lambda each: -each[1])),
        ]
    lines += ["", "[told]", *(f'"{name}" = "{words}"' for name, words in sorted(told.items()))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

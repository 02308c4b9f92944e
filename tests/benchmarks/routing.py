"""How often the rules route a memory right on the labelled sentences: `python tests/benchmarks/routing.py`.

The rules were tuned on the half marked `tune` alone; `held` is the half to judge by. Both halves were written by
the authors of the rules, so expect somewhat less on other people’s sentences.

A second set, `routing_stores.jsonl`, has twelve sentences for each store and was written before the rules for standing
orders and introductions; those were made with half A in sight alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.triggers.model import EntityMention, Routing, RoutingHints
from workbench.engine.triggers.rules import route_by_rules

LABELLED = Path(__file__).parent.parent / "engine" / "triggers" / "routing_labelled.jsonl"
STORES = LABELLED.with_name("routing_stores.jsonl")
OWNER = "Kim Berg"
# What the workspace of the labelled sentences knows already, by every name that leads to it.
KNOWN = {
    "sam okafor": EntityMention("Sam Okafor", "person"),
    "sam": EntityMention("Sam Okafor", "person"),
    "dana ruiz": EntityMention("Dana Ruiz", "person"),
    "dana": EntityMention("Dana Ruiz", "person"),
    "mei chen": EntityMention("Mei Chen", "person"),
    "mei": EntityMention("Mei Chen", "person"),
    "陈美": EntityMention("Mei Chen", "person"),
    "harbor": EntityMention("Harbor", "project"),
    "apollo": EntityMention("Apollo", "project"),
    "port of ningbo": EntityMention("Port of Ningbo", "concept"),
}
HINTS = RoutingHints(owner=OWNER, known=KNOWN.get)


@dataclass(frozen=True)
class Labelled:
    """A sentence with where it belongs; entities as `TYPE:NAME`, the owner left out."""

    text: str
    store: str
    type: str
    entities: frozenset[str]
    block: str | None
    relations: frozenset[tuple[str, ...]]
    language: str
    half: str


@dataclass(frozen=True)
class Accuracy:
    """Shares of sentences whose store, type and block are right; precision and recall of the rest."""

    store: float
    type: float
    block: float
    entity_precision: float
    entity_recall: float
    relation_precision: float
    relation_recall: float


def read_labelled(path: Path = LABELLED) -> list[Labelled]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        Labelled(
            row["text"],
            row["store"],
            row["type"],
            frozenset(row["entities"]),
            row["block"],
            frozenset(tuple(relation) for relation in row.get("relations", ())),
            row["language"],
            row["half"],
        )
        for row in rows
    ]


def measure_stores(half: str, path: Path = STORES) -> tuple[int, list[str]]:
    """Return how many sentences of a half are labelled, and those that the rules send to another store."""
    rows = [row for line in path.read_text("utf-8").splitlines() if (row := json.loads(line))["half"] == half]
    hints = RoutingHints(owner=OWNER)
    found = ((row, route_by_rules(row["text"], hints).store) for row in rows)
    wrong = [f"{store}, due {row['store']}: {row['text']}" for row, store in found if store != row["store"]]
    return len(rows), wrong


def entities_of(routing: Routing) -> frozenset[str]:
    return frozenset(f"{each.type}:{each.name}" for each in routing.entities if each.name != OWNER)


def relations_of(routing: Routing) -> frozenset[tuple[str, ...]]:
    """Return the relations between others than the owner, whose tastes are not labelled."""
    found = ((each.from_, each.relation, each.to) for each in routing.relations)
    return frozenset(each for each in found if OWNER not in each)


def measure(labelled: Sequence[Labelled]) -> Accuracy:
    routed = [(label, route_by_rules(label.text, HINTS)) for label in labelled]
    total = len(routed)
    entities = [(label.entities, entities_of(routing)) for label, routing in routed]
    relations = [(label.relations, relations_of(routing)) for label, routing in routed]
    return Accuracy(
        sum(label.store == routing.store for label, routing in routed) / total,
        sum(label.type == routing.type for label, routing in routed) / total,
        sum(label.block == routing.core_block for label, routing in routed) / total,
        *_precision_and_recall(entities),
        *_precision_and_recall(relations),
    )


def _precision_and_recall(
    pairs: Sequence[tuple[frozenset[str], frozenset[str]]]
    | Sequence[tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]]]],
) -> tuple[float, float]:
    right = sum(len(due & found) for due, found in pairs)
    found_in_all = sum(len(found) for _, found in pairs)
    due_in_all = sum(len(due) for due, _ in pairs)
    return right / max(found_in_all, 1), right / max(due_in_all, 1)


def main() -> None:
    """Print the accuracy by half and language, and what went wrong."""
    parser = argparse.ArgumentParser(description="Measure routing by rules on the labelled sentences.")
    parser.add_argument("--half", choices=("tune", "held"), help="only this half")
    parser.add_argument("--errors", action="store_true", help="also list what went wrong")
    options = parser.parse_args()
    labelled = read_labelled()
    for half in (options.half,) if options.half else ("tune", "held"):
        for language in ("en", "zh"):
            chosen = [each for each in labelled if (each.half, each.language) == (half, language)]
            found = measure(chosen)
            sys.stdout.write(
                f"{half} {language}: {len(chosen):3} sentences  store {found.store:6.1%}  type {found.type:6.1%}"
                f"  block {found.block:6.1%}\n"
                f"    entities: precision {found.entity_precision:6.1%}  recall {found.entity_recall:6.1%}"
                f"    relations: precision {found.relation_precision:6.1%}  recall {found.relation_recall:6.1%}\n"
            )
            if options.errors:
                _print_errors(chosen)
    for half in ("A", "B"):
        total, wrong = measure_stores(half)
        sys.stdout.write(f"stores {half}: {total - len(wrong)} of {total} right\n")
        if options.errors:
            sys.stdout.write("".join(f"    {each}\n" for each in wrong))


def _print_errors(labelled: Sequence[Labelled]) -> None:
    for label in labelled:
        routing = route_by_rules(label.text, HINTS)
        wrong = [
            f"{name} {found!r}, due {due!r}"
            for name, due, found in (
                ("store", label.store, routing.store),
                ("type", label.type, routing.type),
                ("block", label.block, routing.core_block),
                ("entities", sorted(label.entities), sorted(entities_of(routing))),
                ("relations", sorted(label.relations), sorted(relations_of(routing))),
            )
            if due != found
        ]
        if wrong:
            sys.stdout.write(f"    {label.text}\n      " + "\n      ".join(wrong) + "\n")


if __name__ == "__main__":
    main()

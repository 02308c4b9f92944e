"""How often trigger detection is right on the labelled messages: `python tests/benchmarks/triggers.py`.

Rules and phrases were tuned on the half marked `tune` alone; `held` is the half to judge by. Both halves
were written by the authors of the rules, so expect somewhat less on other people’s messages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.triggers.detection import detect_all
from workbench.engine.triggers.model import ALONE, NOTHING_DETECTED, Detection, Surroundings
from workbench.engine.triggers.phrases import PhraseBook, load_phrases

LABELLED = Path(__file__).parent.parent / "engine" / "triggers" / "labelled.jsonl"
KINDS = ("remember", "forget", "reflect", "recall")


def detect(message: str, phrases: PhraseBook, around: Surroundings = ALONE) -> Detection:
    """Return the first thing that a message asks of memory; `NOTHING_DETECTED` where it asks nothing."""
    return next(iter(detect_all(message, phrases, around)), NOTHING_DETECTED)


@dataclass(frozen=True)
class Labelled:
    """A message with what it asks; `payload` is None where it was not labelled."""

    message: str
    kind: str
    language: str
    half: str
    payload: str | None
    permanently: bool
    protect: bool
    refers_back: bool


@dataclass(frozen=True)
class Rate:
    """Right, wrongly found and missed for one kind."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        found = self.right + self.wrong
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        due = self.right + self.missed
        return self.right / due if due else 1.0


def read_labelled(path: Path = LABELLED) -> list[Labelled]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        Labelled(
            row["message"],
            row["kind"],
            row["language"],
            row["half"],
            row.get("payload"),
            row.get("permanently", False),
            row.get("protect", False),
            row.get("refers_back", False),
        )
        for row in rows
    ]


def rate(pairs: Iterable[tuple[Labelled, Detection]], kind: str) -> Rate:
    counted = Counter((label.kind == kind, found.kind == kind) for label, found in pairs)
    return Rate(counted[True, True], counted[False, True], counted[True, False])


def main() -> None:
    """Print precision and recall by half, language and kind, and what went wrong."""
    parser = argparse.ArgumentParser(description="Measure trigger detection on the labelled messages.")
    parser.add_argument("--half", choices=("tune", "held"), help="only this half")
    parser.add_argument("--errors", action="store_true", help="also list what went wrong")
    options = parser.parse_args()
    book = load_phrases()
    pairs = [(label, detect(label.message, book)) for label in read_labelled()]
    for half in (options.half,) if options.half else ("tune", "held"):
        for language in ("en", "zh"):
            chosen = [pair for pair in pairs if (pair[0].half, pair[0].language) == (half, language)]
            _print_rates(f"{half} {language}", chosen)
        if options.errors:
            _print_errors([pair for pair in pairs if pair[0].half == half])


def _print_rates(title: str, pairs: list[tuple[Labelled, Detection]]) -> None:
    sys.stdout.write(f"\n{title}: {len(pairs)} messages\n")
    for kind in KINDS:
        rated = rate(pairs, kind)
        sys.stdout.write(
            f"  {kind:9} precision {rated.precision:6.1%}  recall {rated.recall:6.1%}"
            f"  ({rated.right} right, {rated.wrong} wrong, {rated.missed} missed)\n"
        )
    right = [(label, found) for label, found in pairs if label.kind == found.kind != "none"]
    with_payload = [(label, found) for label, found in right if label.payload is not None]
    same = sum(label.payload == found.payload for label, found in with_payload)
    flags = sum(_flags(label) == _flags(found) for label, found in right)
    sys.stdout.write(f"  payload exact {same} of {len(with_payload)}; flags right {flags} of {len(right)}\n")
    confused = Counter((label.kind, found.kind) for label, found in pairs if label.kind != found.kind)
    for (due, found_kind), times in sorted(confused.items()):
        sys.stdout.write(f"  {due} taken for {found_kind}: {times}\n")


def _flags(given: Labelled | Detection) -> tuple[bool, bool, bool]:
    return given.permanently, given.protect, given.refers_back


def _print_errors(pairs: list[tuple[Labelled, Detection]]) -> None:
    for label, found in pairs:
        if label.kind != found.kind:
            sys.stdout.write(f"  {label.kind} → {found.kind}: {label.message!r} ({found.phrase})\n")
        elif label.payload is not None and label.payload != found.payload:
            sys.stdout.write(
                f"  payload: {label.message!r}\n    due {label.payload!r}\n    got {found.payload!r}\n"
            )
        elif label.kind != "none" and _flags(label) != _flags(found):
            sys.stdout.write(f"  flags: {label.message!r} {found}\n")


if __name__ == "__main__":
    main()

"""How many updates and contradictions reflection finds in conversations of our own, and what else it raises.

    python -m tests.benchmarks.reflection_pairs [--half tuned|held-out] [--only NAME ...] [--show]

`conversations/` holds invented logs over several days each: turns of a user and an assistant, chats of friends, typed
episodes, notes, one of them Chinese. `conversations/pairs.json` names what was said of the same thing at two places:
its kind, the lines of either side, and why. A pair is found when one item cites lines of both sides; where several
pairs stand in the same lines, one item counts for one of them. An item that
cites no pair is looked at by a reader; the labels file says what they judged (right, wrong). The rules were made with
an eye on one half of the conversations; the other half is held out, and both are reported apart.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.benchmarks.reflection import key_of, propose, read_passages
from workbench.engine.identifiers import FILE_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage

DATA: Final = Path(__file__).with_name("conversations")
LABELS: Final = DATA / "labels.json"
HELD_OUT: Final = (
    "catering-kitchen",
    "flat-zh",
    "japan-trip",
    "linear-algebra",
    "novel-writing",
    "soil-thesis",
    "support-desk",
)

Lines = tuple[str, int, int]


@dataclass(frozen=True)
class Pair:
    """Two statements about one thing that do not go together.

    Args:
        id: Conversation and number.
        type: `update`, where the later one holds, or `contradiction`, where nobody can tell.
        kind: Of what: number, deadline, version, tool, person, never, preference …
        sides: The lines of either side; any of them will do.
        why: What it is about, one line.
    """

    id: str
    type: str
    kind: str
    sides: tuple[tuple[Lines, ...], ...]
    why: str


@dataclass(frozen=True)
class Outcome:
    """What one conversation gave.

    Args:
        found: Each pair and whether one item cites both sides of it.
        items: What was raised, with the label of each (empty where nobody judged it) and the pairs it cites.
        seconds: Of raising them.
    """

    found: tuple[tuple[Pair, bool], ...]
    items: tuple[tuple[ReviewItem, str, tuple[str, ...]], ...]
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print what it finds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--half", choices=("tuned", "held-out"))
    parser.add_argument("--only", nargs="*", default=[], help="names of conversations")
    parser.add_argument("--show", action="store_true", help="print pairs and items")
    options = parser.parse_args(arguments)
    labels: dict[str, str] = json.loads(LABELS.read_text(encoding="utf-8")) if LABELS.is_file() else {}
    halves: dict[str, list[Outcome]] = {"tuned": [], "held-out": []}
    for name, pairs in read_pairs(DATA / "pairs.json").items():
        half = "held-out" if name in HELD_OUT else "tuned"
        if (options.half and half != options.half) or (options.only and name not in options.only):
            continue
        passages = list(read_passages(DATA / name))
        outcome = evaluate(name, pairs, passages, labels)
        halves[half].append(outcome)
        print(f"{name} ({half}): {len(passages)} passages, {_figures([outcome])}")
        if options.show:
            _show(name, outcome)
    for half, outcomes in halves.items():
        if outcomes:
            print(f"\n{half}: {_figures(outcomes)}")
            _by_kind(outcomes)
    return 0


def read_pairs(path: Path) -> dict[str, list[Pair]]:
    """Return the pairs by conversation."""
    return {
        name: [
            Pair(
                each["id"],
                each["type"],
                each["kind"],
                tuple(
                    tuple((str(lines[0]), int(lines[1]), int(lines[2])) for lines in side)
                    for side in each["sides"]
                ),
                each["why"],
            )
            for each in listed
        ]
        for name, listed in json.loads(path.read_text(encoding="utf-8")).items()
    }


def evaluate(
    name: str, pairs: Sequence[Pair], passages: Sequence[Passage], labels: dict[str, str]
) -> Outcome:
    """Raise the items of one conversation and hold them against its pairs."""
    items, seconds = propose(passages)
    places = {each.id: (each.path, each.start_line, each.end_line) for each in passages}
    cites = [
        tuple(pair.id for pair in pairs if _serves(pair, list(_cited(item, places))))
        if item.kind in ("supersession", "contradiction")
        else ()
        for item in items
    ]
    credited: set[str] = set()
    for each in cites:
        credited.update([pair for pair in each if pair not in credited][:1])
    return Outcome(
        tuple((pair, pair.id in credited) for pair in pairs),
        tuple(
            (item, labels.get(key_of(name, item), ""), each) for item, each in zip(items, cites, strict=True)
        ),
        seconds,
    )


def _serves(pair: Pair, cited: Iterable[Lines]) -> bool:
    every = list(cited)
    return all(any(_overlaps(lines, each) for lines in side for each in every) for side in pair.sides)


def _cited(item: ReviewItem, places: dict[str, Lines]) -> Iterator[Lines]:
    for proof in item.evidence:
        lines = FILE_ID.match(proof.id)
        if lines and lines["start"]:
            yield lines["path"], int(lines["start"]), int(lines["end"] or lines["start"])
        elif proof.id in places:
            yield places[proof.id]


def _overlaps(one: Lines, other: Lines) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


def _figures(outcomes: Sequence[Outcome]) -> str:
    found = [hit for outcome in outcomes for _, hit in outcome.found]
    items = [each for outcome in outcomes for each in outcome.items]
    judged = Counter(label for _, label, _ in items if label)
    types = "; ".join(
        f"{kind}s {sum(hits)}/{len(hits)}"
        for kind in ("update", "contradiction")
        if (hits := [hit for outcome in outcomes for pair, hit in outcome.found if pair.type == kind])
    )
    labelled = sum(judged.values())
    share = f" = {judged['right'] / labelled:.0%}" if labelled else ""
    return (
        f"pairs {sum(found)}/{len(found)} ({types}); items {len(items)},"
        f" citing no pair {sum(not pairs for *_, pairs in items)}; labelled {labelled},"
        f" right {judged['right']}{share}; {sum(outcome.seconds for outcome in outcomes):.2f} s"
    )


def _by_kind(outcomes: Sequence[Outcome]) -> None:
    every: dict[str, list[bool]] = {}
    for outcome in outcomes:
        for pair, hit in outcome.found:
            every.setdefault(pair.kind, []).append(hit)
    print("  " + ", ".join(f"{kind} {sum(hits)}/{len(hits)}" for kind, hits in sorted(every.items())))


def _show(name: str, outcome: Outcome) -> None:
    for pair, hit in outcome.found:
        print(f"  {'found ' if hit else 'MISSED'} {pair.id} [{pair.kind}] {pair.why}")
    for item, label, pairs in outcome.items:
        fields = dict(item.fields)
        print(
            f"  {key_of(name, item)} {label or '?'} {', '.join(pairs) or 'NO PAIR'}: {item.kind}"
            f" ({item.confidence}) for {item.target}"
        )
        print(f"      this: {item.before or fields.get('this', '')}")
        print(f"      that: {fields.get('that', '') or item.text}")
        if item.kind == "contradiction":
            print(f"      asks: {item.text}")
        print(f"      because: {item.reason}")
        for proof in item.evidence:
            print(f"      {proof.id} “{proof.quote}”")


if __name__ == "__main__":
    sys.exit(main())

"""How many known updates and contradictions reflection finds, and how many of the items it raises are right.

    python -m tests.benchmarks.reflection DATA [--show] [--only NAME ...] [--together]

DATA is a folder of conversations, each with `memory/*.md`; a `queries.json` beside them may name the pairs: questions
of type `knowledge_update` and `contradiction_resolution` whose `groups` give the lines of either side. A pair is found
when one item cites lines of both sides. With `--together` all conversations are read as one person's memory, which
puts many more statements beside each other that only resemble a conflict. The labels file beside this program holds
what a reader judged of each item, by digests: no words of the data sets, whose licences keep them to themselves. It
also judges items that are no longer raised, so that a change that brings them back is seen.

The rules were made with beam-01 to beam-03 in sight. On beam-04 and beam-05 they first ran unseen: 3 of 8 pairs, 6 of
24 items right (numbers in passing in exercises were taken for values). What that taught is in the rules since, so
that no conversation of this folder is unseen any more: expect less than these figures on others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from tests.engine.reflection.snapshots import check_quotes, snapshot
from workbench.engine.identifiers import FILE_ID
from workbench.engine.reflection.claims import find_conflicts
from workbench.engine.reflection.model import Work
from workbench.engine.reflection.passages import passages_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage

LABELS: Final = Path(__file__).with_name("reflection_labels.json")
TYPES: Final = ("knowledge_update", "contradiction_resolution")
_ZONE = ZoneInfo("UTC")

Lines = tuple[str, int, int]


@dataclass(frozen=True)
class Pair:
    """A known update or contradiction.

    Args:
        id: Of its question.
        type: Of its question.
        sides: The lines of either side; where all are the same, one citation of them serves both.
    """

    id: str
    type: str
    sides: tuple[tuple[Lines, ...], ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print what it finds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="names of conversations")
    parser.add_argument("--together", action="store_true", help="read all conversations as one memory")
    parser.add_argument("--show", action="store_true", help="print the items with their labels")
    options = parser.parse_args(arguments)
    pairs = _pairs(options.data / "queries.json")
    labels: dict[str, str] = json.loads(LABELS.read_text(encoding="utf-8")) if LABELS.is_file() else {}
    found: dict[str, list[bool]] = {kind: [] for kind in TYPES}
    judged: list[str] = []
    unlabelled = raised = 0
    for name, passages in _conversations(options.data, options.only, together=options.together):
        items, seconds = propose(passages)
        raised += len(items)
        hits = {pair.id: is_found(pair, items) for pair in pairs.get(name, ())}
        for pair in pairs.get(name, ()):
            found[pair.type].append(hits[pair.id])
        own = [labels.get(key_of(name, item), "") for item in items]
        judged += [label for label in own if label]
        unlabelled += own.count("")
        print(
            f"{name}: {len(items)} items from {len(passages):,} passages in {seconds:.2f} s;"
            f" pairs {sum(hits.values())}/{len(hits)}; right {own.count('right')}, wrong {own.count('wrong')},"
            f" unlabelled {own.count('')}"
        )
        if options.show:
            _show(name, items, own, hits)
    for kind, each in found.items():
        if each:
            print(f"{kind}: {sum(each)}/{len(each)} pairs")
    every = [hit for each in found.values() for hit in each]
    if every:
        print(f"pairs found: {sum(every)}/{len(every)} = {sum(every) / len(every):.0%}")
    right = judged.count("right")
    share = f" = {right / len(judged):.0%}" if judged else ""
    print(
        f"items: {raised}; labelled {len(judged)}, of them right {right}{share}; without a label {unlabelled}"
    )
    known = list(labels.values())
    print(f"labels on file: {len(known)}, of them right {known.count('right')}, wrong {known.count('wrong')}")
    return 0


def key_of(conversation: str, item: ReviewItem) -> str:
    """Return the digest a label is kept under: of what is claimed and cited, so that a changed item needs a new one."""
    cited = sorted({proof.id for proof in item.evidence})
    said = "\n".join((conversation, item.kind, item.before, item.text, *cited))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def is_found(pair: Pair, items: Iterable[ReviewItem]) -> bool:
    """Tell whether one item cites lines of every side of a pair."""
    return any(
        all(any(_overlaps(lines, cited) for lines in side for cited in _cited(item)) for side in pair.sides)
        for item in items
        if item.kind in ("supersession", "contradiction")
    )


def propose(passages: Sequence[Passage]) -> tuple[tuple[ReviewItem, ...], float]:
    """Return what reflection raises from passages, and the seconds it took."""
    with tempfile.TemporaryDirectory() as empty:
        made = snapshot(Path(empty), passages)
        start = time.perf_counter()
        items = find_conflicts(made, Work())
        seconds = time.perf_counter() - start
        check_quotes(made, items)
    return items, seconds


def _conversations(data: Path, only: Sequence[str], *, together: bool) -> Iterator[tuple[str, list[Passage]]]:
    """Give the passages of each conversation, or of all as one, oldest first."""
    every: list[Passage] = []
    for folder in sorted(path.parent for path in data.glob("*/memory")):
        if only and folder.name not in only:
            continue
        passages = list(read_passages(folder))
        if together:
            every += [
                replace(each, id=each.id.replace("file:", f"file:{folder.name}/", 1)) for each in passages
            ]
        else:
            yield folder.name, passages
    if together:
        yield "together", sorted(every, key=lambda each: each.moment.timestamp() if each.moment else 0.0)


def read_passages(folder: Path) -> Iterator[Passage]:
    """Give the passages of one conversation, file by file."""
    for path in sorted(folder.rglob("*.md")):
        yield from passages_of(path.relative_to(folder).as_posix(), path.read_bytes(), _ZONE)


def _pairs(path: Path) -> dict[str, list[Pair]]:
    if not path.is_file():
        return {}
    found: dict[str, list[Pair]] = {}
    for query in json.loads(path.read_text(encoding="utf-8")):
        if query.get("type") in TYPES:
            found.setdefault(query["conv"], []).append(_pair(query))
    return found


def _pair(query: dict[str, Any]) -> Pair:
    sides = tuple(
        tuple((str(lines[0]), int(lines[1]), int(lines[2])) for lines in side)
        for side in query["groups"].values()
    )
    return Pair(query["query_id"], query["type"], sides)


def _cited(item: ReviewItem) -> Iterator[Lines]:
    for proof in item.evidence:
        lines = FILE_ID.match(proof.id)
        if lines and lines["start"]:
            yield lines["path"], int(lines["start"]), int(lines["end"] or lines["start"])


def _overlaps(one: Lines, other: Lines) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


def _show(
    conversation: str, items: Sequence[ReviewItem], labels: Sequence[str], hits: dict[str, bool]
) -> None:
    for pair, hit in hits.items():
        print(f"  {'found ' if hit else 'missed'} {pair}")
    for item, label in zip(items, labels, strict=True):
        print(
            f"  {key_of(conversation, item)} {label or '?':5} {item.kind} ({item.confidence}) for {item.target}"
        )
        fields = dict(item.fields)
        print(
            f"      this: {item.before or fields.get('this', '')}\n      that: {fields.get('that', '') or item.text}"
        )
        if item.kind == "contradiction":
            print(f"      asks: {item.text}")
        print(f"      because: {item.reason}")
        for proof in item.evidence:
            print(f"      {proof.id} “{proof.quote}”")


if __name__ == "__main__":
    sys.exit(main())

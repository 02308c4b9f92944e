"""Which known entities new passages name, at a cost that does not grow with the graph."""

from __future__ import annotations

from collections import defaultdict
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.reflection.model import Passage
    from workbench.engine.reflection.work import Work

MOST_NAMES: Final = 20_000
"""Names that are looked up in one cycle: first what is written like a name, then what recurs."""
_LONGEST_NAME: Final = 4
_MOST_WORDS: Final = 400
_WORD: Final = lazy_pattern(r"[^\W_][\w'’+#.&-]*[\w+#]|[^\W_]")
_LINK: Final = lazy_pattern(r"\[\[([^\]|\n]+)")
_POSSESSIVE: Final = lazy_pattern(r"['’]s$")


@dataclass(frozen=True)
class Named:
    """What passages name.

    Args:
        records: The entities by id.
        passages: Indices of the passages that name each, by its id.
    """

    records: dict[str, EntityRecord]
    passages: dict[str, tuple[int, ...]]


def find_named(passages: Sequence[Passage], graph: Lookups, work: Work) -> Named:
    """Find the entities of the graph that passages name by label, alias, link, tag or a person’s first name.

    Args:
        passages: What is new.
        graph: Asked once for each distinct name, at most `MOST_NAMES` times.
        work: Asked whether to go on.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    capital: set[str] = set()
    for at, passage in enumerate(passages):
        if at % 500 == 0:
            work.check()
        for name, like_a_name in dict.fromkeys(_candidates(passage)):
            if not places[name] or places[name][-1] != at:
                places[name].append(at)
            if like_a_name:
                capital.add(name)
    # Of a million candidates few are wanted: sorting all of them would take much memory.
    ranked = nsmallest(MOST_NAMES, places, key=lambda name: (name not in capital, -len(places[name])))
    records: dict[str, EntityRecord] = {}
    found: defaultdict[str, set[int]] = defaultdict(set)
    for number, name in enumerate(ranked):
        if number % 500 == 0:
            work.check()
        record = graph.entity(f"entity:{name[2:]}") if name.startswith("[[") else graph.named(name)
        if record is None and name in capital and " " not in name:
            record = graph.called(name)
        if record is not None:
            records[record.id] = record
            found[record.id].update(places[name])
    return Named(records, {entity: tuple(sorted(where)) for entity, where in found.items()})


def _candidates(passage: Passage) -> Iterator[tuple[str, bool]]:
    """Yield the runs of words that could be a name, folded, with whether each is written like one."""
    for link in _LINK.findall(passage.text):
        target = link.strip().rsplit("/", 1)[-1]
        if "--" in target:
            yield "[[" + target.partition("#")[0], True
    for tag in passage.tags:
        yield tag.casefold(), True
    if passage.speaker:
        yield passage.speaker.casefold(), passage.speaker[:1].isupper()
    for line in passage.text.split("\n"):
        words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(line)[:_MOST_WORDS]]
        folded = [word.casefold() for word in words]
        for start, word in enumerate(folded):
            if word in STOP_WORDS:
                continue
            # A single word in small letters is a name only where it recurs as a tag or is long.
            if words[start][0].isupper() or len(word) > 3 or not word.isascii():
                yield word, words[start][0].isupper()
            for length in range(2, _LONGEST_NAME + 1):
                if start + length <= len(folded) and folded[start + length - 1] not in STOP_WORDS:
                    names = all(word[0].isupper() for word in words[start : start + length])
                    yield " ".join(folded[start : start + length]), names

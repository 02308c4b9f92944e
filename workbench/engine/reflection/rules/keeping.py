"""What shall not be lost: archived memories that are spoken of again, and those that must not fade (design §9)."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.phrasing import clipped, counted
from workbench.engine.reflection.rules.quoting import cite, own_words, quote_of
from workbench.engine.reflection.rules.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.work import Work
    from workbench.engine.results.decay import DecayEntry

MOST_RESTORED: Final = 5
MOST_PINNED: Final = 3
_KEPT_STORES: Final = ("vault", "core")
_FEWEST_SHARED: Final = 3
_SPOKEN_OF: Final = 0.5
_RARE: Final = 0.02
_OFTEN: Final = 5
_REFERENCES: Final = 3
_LASTING_TYPES: Final = frozenset({"decision", "correction", "preference"})
_NEVER_FORGET: Final = lazy_pattern(
    r"\b(?:never (?:ever )?forget|remember (?:this |that )?(?:for ?ever|permanently|for good)|must not be forgotten)\b"
    r"|永远(?:不要|别)忘|永遠(?:不要|別)忘|永久(?:记住|記住|保存|保留)",
    re.IGNORECASE,
)


def propose_restoring(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return items for archived memories that new passages speak of again, the most spoken of first, at most five.

    A passage speaks of a memory where it shares three telling words with it, among them one that at most every
    fiftieth passage has, and half of its words, the rare ones counting more.
    """
    words = {entry.id: content_words(snapshot.text_of(entry.id) or "") for entry in snapshot.archived}
    sought = frozenset[str]().union(*words.values())
    if not sought:
        return ()
    said: list[frozenset[str]] = []
    number: Counter[str] = Counter()
    for at, passage in enumerate(snapshot.passages):
        if at % 500 == 0:
            work.check()
        said.append(content_words(passage.text) & sought)
        number.update(said[-1])
    rare = max(1.0, len(said) * _RARE)
    holders: dict[str, list[int]] = {}
    for at, shared in enumerate(said):
        for word in shared:
            if number[word] <= rare:
                holders.setdefault(word, []).append(at)
    found: list[tuple[float, ReviewItem]] = []
    for entry in snapshot.archived:
        wanted = words[entry.id]
        weight = {word: 1 / (1 + number[word] / rare) for word in wanted}
        candidates = {at for word in wanted for at in holders.get(word, ())}
        scored = [
            (sum(weight[word] for word in said[at] & wanted) / sum(weight.values()), at)
            for at in candidates
            if len(said[at] & wanted) >= _FEWEST_SHARED
        ]
        share, at = max(scored, default=(0.0, -1))
        own = cite(snapshot, entry.id)
        if share < _SPOKEN_OF or own is None:
            continue
        passage = snapshot.passages[at]
        when = f" on {passage.day}" if passage.day else ""
        item = forms.restore(
            entry.id,
            title_of(snapshot, entry),
            (own, quote_of(passage, wanted)),
            reason=f"It was archived, and is spoken of again{when}.",
        )
        found.append((share, item))
    found.sort(key=lambda pair: (-pair[0], pair[1].target))
    return tuple(item for _, item in found[:MOST_RESTORED])


def propose_protection(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return items for memories that must not fade: what was asked never to be forgotten, then what is foundational.

    Foundational is a decision, correction or preference that was accessed five times or that three memories refer to.
    """
    return tuple(islice(_protection(snapshot, snapshot.passages, work), MOST_PINNED))


def _protection(snapshot: Snapshot, passages: Sequence[Passage], work: Work) -> Iterator[ReviewItem]:
    asked: set[str] = set()
    for at, passage in enumerate(passages):
        if at % 500 == 0:
            work.check()
        # Only what has an id of its own can be kept from fading.
        match = _NEVER_FORGET.search(passage.text)
        if match is None or not passage.id.startswith("episode:") or passage.id in asked:
            continue
        asked.add(passage.id)
        proof = cite(snapshot, passage.id, *_around(passage.text, match))
        if proof is not None:
            title = clipped(own_words(passage.text), 100)
            reason = f"It says “{match[0]}”."
            yield forms.vault_pin(passage.id, title, (proof,), reason=reason, confidence="high")
    for entry in snapshot.often:
        if entry.pinned or entry.store in _KEPT_STORES or entry.id in asked:
            continue
        record = snapshot.graph.memory(entry.id)
        if record is None or record.type not in _LASTING_TYPES:
            continue
        references = len(snapshot.graph.mentions(entry.id))
        proof = cite(snapshot, entry.id)
        if proof is not None and (entry.access_count >= _OFTEN or references >= _REFERENCES):
            reason = (
                f"A {record.type} that was accessed {counted(entry.access_count, 'time')} and that "
                f"{counted(references, 'memory', 'memories')} {'refers' if references == 1 else 'refer'} to."
            )
            yield forms.vault_pin(entry.id, title_of(snapshot, entry), (proof,), reason=reason)


def _around(text: str, match: re.Match[str]) -> Iterable[str]:
    """Return the rest of the line from the words of a match on, then these words alone."""
    line = text[match.start() :].partition("\n")[0]
    return (line, match[0])


def title_of(snapshot: Snapshot, entry: DecayEntry) -> str:
    """Return what a memory is called, in a line."""
    return clipped(entry.title or snapshot.titles(entry.id), 100)

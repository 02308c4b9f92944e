"""What core memory can let go: items of Active Context that are finished, or that nothing speaks of any more."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_context import BLOCK, DONE
from workbench.engine.reflection.rules.core_items import read_lines
from workbench.engine.reflection.rules.core_open import deciding, open_parts
from workbench.engine.reflection.rules.phrasing import counted
from workbench.engine.reflection.rules.quoting import cite, spoken
from workbench.engine.reflection.rules.words import content_words, coverage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine
    from workbench.engine.reflection.work import Work

_MOST: Final = 5
_LONG: Final = timedelta(days=21)
_FEWEST_PASSAGES: Final = 10
_MOST_PASSAGES: Final = 2000
_SPOKEN_OF: Final = 0.5
_NOT_QUITE: Final = lazy_pattern(
    r"\b(?:half|part|partly|almost|nearly|not|isn['’]t|never|when|once|if|until|before)\b", re.IGNORECASE
)


def demotions(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return demotions of Active Context, decided and finished items first, at most five; pinned items stay.

    An item is stale where none of the new passages speaks of it and these go back three weeks, or where its own score
    says that nobody accessed it for as long.

    Args:
        snapshot: Its passages, core memory and fading memories.
        work: Asked whether to go on.
    """
    lines = [
        line
        for line in read_lines(snapshot)
        if line.block == BLOCK and not line.item.pinned and not line.is_placeholder
    ]
    if not lines:
        return ()
    work.check()
    passages = snapshot.passages[-_MOST_PASSAGES:]
    said = [content_words(f"{passage.text} {' '.join(passage.tags)}") for passage in passages]
    work.check()
    found = (
        *_decided(snapshot, lines, passages),
        *_finished(snapshot, lines, passages, said),
        *_stale(snapshot, lines, passages, said),
    )
    unique = {item.target: item for item in reversed(found)}
    return tuple(islice((item for item in found if unique[item.target] is item), _MOST))


def _decided(
    snapshot: Snapshot, lines: Sequence[CoreLine], passages: Sequence[Passage]
) -> Iterator[ReviewItem]:
    """Yield lists of open decisions whose only one was taken."""
    for line in lines:
        parts = open_parts(line)
        decision = deciding(parts[0], passages) if len(parts) == 1 else None
        own = cite(snapshot, line.item.id, line.item.text)
        proof = cite(snapshot, decision.id, spoken(decision.text)[0]) if decision else None
        if decision is not None and own is not None and proof is not None:
            reason = f"It was decided on {decision.day}."
            yield forms.demotion(line.item.id, line.item.text, (own, proof), reason=reason)


def _finished(
    snapshot: Snapshot, lines: Sequence[CoreLine], passages: Sequence[Passage], said: Sequence[frozenset[str]]
) -> Iterator[ReviewItem]:
    """Give items whose value a passage says is done, in one sentence, and that nothing speaks of later."""
    ends = [at for at, passage in enumerate(passages) if passage.type != "task" and DONE.search(passage.text)]
    for line in lines:
        words = content_words(line.value)
        last = max(
            (at for at, other in enumerate(said) if len(words & other) >= min(2, len(words))), default=-1
        )
        for at in reversed(ends):
            if at < last:
                # It was spoken of after that: not all of it was done.
                break
            passage = passages[at]
            sentence = next(
                (
                    sentence
                    for sentence in spoken(passage.text)
                    if DONE.search(sentence)
                    and not _NOT_QUITE.search(sentence)
                    and len(words & content_words(sentence)) >= 2
                    and coverage(words, content_words(sentence)) >= _SPOKEN_OF
                ),
                "",
            )
            proof = cite(snapshot, passage.id, sentence) if sentence else None
            own = cite(snapshot, line.item.id, line.item.text)
            if proof is not None and own is not None and not DONE.search(line.item.text):
                when = f" on {passage.day}" if passage.day else ""
                yield forms.demotion(
                    line.item.id,
                    line.item.text,
                    (own, proof),
                    reason=f"It was said to be done{when}.",
                    confidence="medium",
                )
                break


def _stale(
    snapshot: Snapshot, lines: Sequence[CoreLine], passages: Sequence[Passage], said: Sequence[frozenset[str]]
) -> Iterator[ReviewItem]:
    untouched = {entry.id: entry.last_accessed for entry in snapshot.fading}
    first = next((passage.moment for passage in passages if passage.moment is not None), None)
    if len(passages) < _FEWEST_PASSAGES:
        # Little was said at all: that it was not spoken of says nothing.
        return
    surveyed = first is not None and snapshot.now - first >= _LONG
    for line in lines:
        accessed = untouched.get(line.item.id)
        if not surveyed and (accessed is None or snapshot.now - accessed < _LONG):
            continue
        words = line.words
        if any(len(words & other) >= min(2, len(words)) for other in said):
            continue
        own = cite(snapshot, line.item.id, line.item.text)
        if own is None:
            continue
        since = accessed or first
        days = (snapshot.now - since).days if since else 0
        reason = (
            f"None of the {counted(len(passages), 'new passage')} speaks of it, over {counted(days, 'day')}."
        )
        yield forms.demotion(line.item.id, line.item.text, (own,), reason=reason, confidence="low")

"""No two items of a proposal say the same: the one that says more is kept."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.words import content_words, coverage, likeness
from workbench.engine.stores.wording import text_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.documents.pending_reflection import ReviewItem

_SAME: Final = 0.75
_CONTAINED: Final = 0.8
_CLAIMS: Final = frozenset({Kind.SUPERSESSION, Kind.CONTRADICTION})


def without_repetition(
    items: Iterable[ReviewItem], said: Sequence[ReviewItem] = ()
) -> tuple[ReviewItem, ...]:
    """Return the items without those that repeat another.

    A supersession or contradiction wins over a fact that says either side; of two facts that say the same the first
    stays; of two items on the same place or the same text of one kind, the first.

    Args:
        items: Best first.
        said: Other items, proposed elsewhere, that facts must not repeat.
    """
    ordered = list(items)
    claims = _Statements()
    for item in ordered:
        if item.kind in _CLAIMS:
            claims.add(item)
    for item in said:
        claims.add(item)
    kept: list[ReviewItem] = []
    facts = _Statements()
    keys: set[tuple[str, str, str]] = set()
    for item in ordered:
        key = (item.kind, item.target, text_key(item.text))
        if key in keys:
            continue
        if item.kind == Kind.FACT:
            if claims.say(item) or facts.say(item):
                continue
            facts.add(item)
        keys.add(key)
        kept.append(item)
    return tuple(kept)


class _Statements:
    """What items say, found again by its key, its words or what it quotes."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._words: dict[frozenset[str], bool] = {}
        self._quoted: defaultdict[str, list[frozenset[str]]] = defaultdict(list)

    def add(self, item: ReviewItem) -> None:
        """Keep what an item says: its text, and both sides of a claim."""
        fields = dict(item.fields)
        sides = [item.text, item.before, fields.get(forms.THIS, ""), fields.get(forms.THAT, "")]
        quotes = [proof.quote for proof in item.evidence] if item.kind in _CLAIMS else []
        for text in (*sides, *quotes):
            if text:
                words = content_words(text)
                self._keys.add(text_key(text))
                self._words[words] = True
                for proof in item.evidence:
                    self._quoted[proof.id].append(words)

    def say(self, item: ReviewItem) -> bool:
        """Tell whether one of them says what an item says."""
        words = content_words(item.text)
        if text_key(item.text) in self._keys or (words and words in self._words):
            return True
        near = (known for proof in item.evidence for known in self._quoted.get(proof.id, ()))
        return any(likeness(words, known) >= _SAME or coverage(words, known) >= _CONTAINED for known in near)

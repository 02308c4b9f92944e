"""No two items of a proposal say the same: the one that says more is kept."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.words import PREFERRING, content_words, coverage, likeness
from workbench.engine.stores.wording import text_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.catalog import Lookups
    from workbench.engine.documents.pending_reflection import ReviewItem

_SAME: Final = 0.75
_CONTAINED: Final = 0.8
_FEWEST_WORDS: Final = 3
_TAKEN: Final = 0.7
_CLAIMS: Final = frozenset({Kind.SUPERSESSION, Kind.CONTRADICTION})


def without_repetition(
    items: Iterable[ReviewItem], core: Iterable[str] = (), owner: str = ""
) -> tuple[ReviewItem, ...]:
    """Return the items without those that repeat another.

    A supersession or contradiction wins over a fact that says either side; of two facts that say the same the first
    stays; of two items on the same place or the same text of one kind, the first.

    Args:
        items: Best first.
        core: What core memory says or is proposed to say, which facts must not repeat.
        owner: The person’s name, which core memory leaves out and facts begin with.
    """
    ordered = list(items)
    name = content_words(f"{owner} user") | PREFERRING
    claims = _Statements(name)
    for item in ordered:
        if item.kind in _CLAIMS:
            claims.add(item)
    claims.add_core(core)
    kept: list[ReviewItem] = []
    facts = _Statements(name)
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


def is_known(item: ReviewItem, graph: Lookups) -> bool:
    """Tell whether a fact is one that the graph took from the same memory already.

    Args:
        item: Any item; only facts that add something can be known.
        graph: Its facts name their sources.
    """
    if item.kind != Kind.FACT or item.before:
        return False
    words = content_words(item.text)
    return any(
        coverage(words, content_words(fact.text)) >= _TAKEN
        for proof in item.evidence
        for source in graph.mentions(proof.id)
        if source.startswith("entity:")
        for fact in graph.facts_of(source.partition("#")[0])
        if proof.id in fact.provenance
    )


class _Statements:
    """What items say, found again by its key, its words or what it quotes.

    Args:
        name: Words that are left out of account.
    """

    def __init__(self, name: frozenset[str]) -> None:
        self._name = name
        self._keys: set[str] = set()
        self._words: set[frozenset[str]] = set()
        self._quoted: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        self._core: list[frozenset[str]] = []

    def add_core(self, texts: Iterable[str]) -> None:
        """Keep what core memory says."""
        self._core.extend(content_words(text) - self._name for text in texts)

    def add(self, item: ReviewItem) -> None:
        """Keep what an item says: its text, and both sides of a claim."""
        fields = dict(item.fields)
        sides = [item.text, item.before, fields.get(forms.THIS, ""), fields.get(forms.THAT, "")]
        quotes = [proof.quote for proof in item.evidence] if item.kind in _CLAIMS else []
        for text in (*sides, *quotes):
            if text:
                words = content_words(text) - self._name
                self._keys.add(text_key(text))
                self._words.add(words)
                for proof in item.evidence:
                    self._quoted[proof.id].append(words)

    def say(self, item: ReviewItem) -> bool:
        """Tell whether one of them says what an item says."""
        words = content_words(item.text) - self._name
        if text_key(item.text) in self._keys or (words and words in self._words):
            return True
        if len(words) >= _FEWEST_WORDS and any(coverage(words, known) >= _CONTAINED for known in self._core):
            return True
        near = (known for proof in item.evidence for known in self._quoted.get(proof.id, ()))
        return any(likeness(words, known) >= _SAME or coverage(words, known) >= _CONTAINED for known in near)

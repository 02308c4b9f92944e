"""No two items of a proposal say the same: the one that says more is kept."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.language.denials import is_turned_down
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.words import PREFERRING, content_words, coverage, likeness
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.review import ReviewItem

_SAME: Final = 0.75
_CONTAINED: Final = 0.8
_FEWEST_WORDS: Final = 2
_PARTLY: Final = 0.5
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
        of_fact = item.kind in _CLAIMS and "#^" in item.target
        key = (item.kind, item.target, "" if of_fact else text_key(item.text))
        if key in keys:
            continue
        if item.kind == Kind.FACT:
            if claims.say(item) or claims.say_in_part(item) or facts.say(item):
                continue
            facts.add(item)
        keys.add(key)
        kept.append(item)
    return tuple(kept)


def is_known(item: ReviewItem, graph: Lookups) -> bool:
    """Return whether a fact is one that the graph took from the same memory already.

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


@dataclass(frozen=True)
class _Meaning:
    """What a text says, as far as words tell."""

    words: frozenset[str]
    negated: bool

    def says(self, other: _Meaning, share: float) -> bool:
        """Return whether this text says a share of what another does, and denies if the other does."""
        return self.negated == other.negated and coverage(other.words, self.words) >= share


class _Statements:
    """What items say, found again by its key, its words or what it quotes.

    Args:
        without: Words that are left out of account.
    """

    def __init__(self, without: frozenset[str]) -> None:
        self._without = without
        self._keys: set[str] = set()
        self._meanings: set[_Meaning] = set()
        self._quoted: defaultdict[str, list[_Meaning]] = defaultdict(list)
        self._core: list[_Meaning] = []

    def add_core(self, texts: Iterable[str]) -> None:
        """Keep what core memory says."""
        self._core.extend(self._meaning(text) for text in texts)

    def add(self, item: ReviewItem) -> None:
        """Keep what an item says: its text, and both sides of a claim."""
        fields = dict(item.fields)
        sides = [item.text, item.before, fields.get(forms.THIS, ""), fields.get(forms.THAT, "")]
        quotes = [proof.quote for proof in item.evidence] if item.kind in _CLAIMS else []
        for text in (*sides, *quotes):
            if text:
                meaning = self._meaning(text)
                self._keys.add(text_key(text))
                self._meanings.add(meaning)
                for proof in item.evidence:
                    self._quoted[proof.id].append(meaning)

    def say(self, item: ReviewItem) -> bool:
        """Return whether one of them says what an item says."""
        meaning = self._meaning(item.text)
        if text_key(item.text) in self._keys or (meaning.words and meaning in self._meanings):
            return True
        if len(meaning.words) >= _FEWEST_WORDS and any(
            known.says(meaning, _CONTAINED) for known in self._core
        ):
            return True
        near = (known for proof in item.evidence for known in self._quoted.get(proof.id, ()))
        return any(
            known.says(meaning, _CONTAINED)
            or (known.negated == meaning.negated and likeness(meaning.words, known.words) >= _SAME)
            for known in near
        )

    def say_in_part(self, item: ReviewItem) -> bool:
        """Return whether one of them, of the same memory, says half of an item and hardly anything besides."""
        meaning = self._meaning(item.text)
        return any(
            len(known.words) >= _FEWEST_WORDS
            and coverage(known.words, meaning.words) >= _CONTAINED
            and coverage(meaning.words, known.words) >= _PARTLY
            for proof in item.evidence
            for known in self._quoted.get(proof.id, ())
        )

    def _meaning(self, text: str) -> _Meaning:
        return _Meaning(content_words(text) - self._without, is_turned_down(text))

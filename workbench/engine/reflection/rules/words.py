"""The telling words of a text, and how much two texts share of them."""

from __future__ import annotations

from typing import Final

from workbench.engine.catalog.terms import STOP_WORDS, terms
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words as english

PREFERRING: Final = frozenset({"like", "prefer", "want", "love", "enjoy", "need", "expect"})
"""Verbs with which a preference is stated, as `content_words` gives them; without them it says the same."""

# Forms that seldom name a thing: verbs, adjectives, adverbs, numbers.
_NO_TOPIC: Final = lazy_pattern(r"^\d|(?:ing|ed|ly|ive|ful|ous|able|ible|less)$")
_SHORTEST_TOPIC: Final = 5
_ORDINARY: Final = english(
    "local little small large great better whole early later thing people person times time means looks years weeks"
    " months experience moment moments place places other others something someone anything everyone"
)


def is_topical(word: str) -> bool:
    """Return whether a word, folded, may name what is spoken of; those of other scripts may."""
    if not word.isascii():
        return not _NO_TOPIC.search(word)
    return len(word) >= _SHORTEST_TOPIC and word not in _ORDINARY and not _NO_TOPIC.search(word)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, folded, in one form for singular and plural."""
    return frozenset(_singular(term) for term in terms(text) if _tells(term))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two sets of words share: Jaccard’s index, 0–1."""
    return len(one & other) / len(one | other) if one and other else 0.0


def coverage(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of the words of one text that another has too, 0–1."""
    return len(part & whole) / len(part) if part else 0.0


def _tells(term: str) -> bool:
    return term not in STOP_WORDS and (len(term) > 1 or term.isdigit() or not term.isascii())


def _singular(term: str) -> str:
    # Tense stays, unlike in the index: “volunteers at the shelter” says more than “volunteered on Monday”.
    if len(term) > 4 and term.endswith("s") and not term.endswith(("ss", "us", "is")):
        return term[:-3] + "y" if term.endswith("ies") else term[:-1]
    return term

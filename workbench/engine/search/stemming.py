"""Strips English endings, so that “painted” and “paintings” match."""

from __future__ import annotations

from workbench.engine.catalog.terms import telling_terms, terms

_VOWELS = frozenset("aeiouy")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SHORTEST = 4
_MOST_REMEMBERED = 100_000


class _Stems(dict[str, str]):
    """A bounded cache of stems, cleared when full."""

    def __missing__(self, term: str) -> str:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        self[term] = found = _stemmed(term)
        return found


_stems = _Stems()


def stem(term: str) -> str:
    """Return a term without its English ending; anything but a plain English word is unchanged.

    Strips endings of number and tense and `-ly`, but keeps derived words apart: stripping more did not find more.

    Args:
        term: One term as `catalog.terms` gives it.
    """
    return _stems[term]


def index_terms(text: str) -> list[str]:
    """Return the stemmed terms a text is found by, in the order of `catalog.terms.terms`."""
    return list(map(_stems.__getitem__, terms(text)))


def question_terms(question: str) -> tuple[str, ...]:
    """Return the distinct significant stemmed terms of a question, or all if none is significant."""
    return tuple(dict.fromkeys(stem(term) for term in telling_terms(question)))


def _stemmed(term: str) -> str:
    if len(term) < _SHORTEST or not _LETTERS.issuperset(term):
        return term
    return _last_vowel(_without_ly(_without_tense(_without_plural(term))))


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ing") and len(word) > 5:
        rest = word[:-3]
    elif word.endswith("ed") and len(word) > 4:
        rest = word[:-2]
    else:
        return word
    if _VOWELS.isdisjoint(rest):
        return word
    doubled = len(rest) > 2 and rest[-1] == rest[-2] and rest[-1] not in "aeiouylsz"
    return rest[:-1] if doubled else rest


def _without_ly(word: str) -> str:
    return word[:-2] if word.endswith("ly") and len(word) > 5 else word


def _last_vowel(word: str) -> str:
    """Make “hope” match “hop(ing)” and “happy” match “happi(er)”."""
    if len(word) < _SHORTEST:
        return word
    if word.endswith("e"):
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word

"""Tells whether a text holds the very thing that a question names: an identifier, or its words one after the other."""

from __future__ import annotations

import re

from workbench.engine.catalog.terms import fold

# Letters with digits, an underscore, or parts joined by a dot, slash or colon: nobody writes these by chance.
_IDENTIFIER = re.compile(
    r"(?<![\w./:-])(?=[\w./:-]*[^\W\d_])(?=[\w./:-]*(?:\d|_|\w[./:]\w))\w+(?:[./:-]\w+)*(?![\w-])"
)
_QUOTED = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』]{3,200})[\"”“»」』]")
_APART = re.compile(r"[\W_]+")
_LEAST_WORDS = 3


class Exactly:
    """What a question names exactly.

    Args:
        question: As it was asked.
    """

    def __init__(self, question: str) -> None:
        self._identifiers = [
            re.compile(rf"(?<![\w-]){re.escape(fold(found))}(?![\w-])")
            for found in _IDENTIFIER.findall(question)
        ]
        phrases = [_words(quoted) for quoted in _QUOTED.findall(question)]
        whole = _words(question)
        if len(whole.split()) >= _LEAST_WORDS:
            phrases.append(whole)
        self._phrases = [phrase for phrase in phrases if phrase.strip()]

    def is_in(self, text: str) -> bool:
        """Tell whether a text holds an identifier of the question, something it quotes, or all of it verbatim."""
        if not self._identifiers and not self._phrases:
            return False
        folded = fold(text)
        words = _words(text)
        return any(each.search(folded) for each in self._identifiers) or any(
            phrase in words for phrase in self._phrases
        )


def _words(text: str) -> str:
    """Return the folded words of a text with one space around each."""
    return f" {_APART.sub(' ', fold(text)).strip()} "

"""Cutting text into uncased WordPiece tokens, as BERT's vocabulary has them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

LONGEST_WORD = 100
"""Characters; a longer word is taken for noise and has no pieces, as in BERT."""

_ASCII_TOKENS = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_TOKENS = re.compile(r"[^\W_]+|[^\w\s]|_")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_PLAIN_MARKS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})


def tokens(text: str) -> list[str]:
    """Return the words and marks of a text in order, lower-cased and without accents."""
    lowered = text.lower()
    if lowered.isascii():
        return _ASCII_TOKENS.findall(lowered)
    plain = unicodedata.normalize("NFD", lowered.translate(_PLAIN_MARKS))
    return _TOKENS.findall(_ACCENTS.sub("", plain))


def word_pieces(token: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Return the rows of the longest pieces that make up a token, from its start on.

    Args:
        token: One of `tokens`.
        vocabulary: Row by piece; pieces that continue a word begin with `##`.

    Returns:
        Nothing where the vocabulary cannot spell the whole token.
    """
    if token in vocabulary:
        return [vocabulary[token]]
    rows: list[int] = []
    start, length = 0, len(token)
    if length > LONGEST_WORD:
        return rows
    while start < length:
        lead = "##" if start else ""
        for end in range(length, start, -1):
            row = vocabulary.get(lead + token[start:end])
            if row is not None:
                rows.append(row)
                start = end
                break
        else:
            return []
    return rows

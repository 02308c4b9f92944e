"""How alike two names are: slips of the pen and parts of a name are near, another number or version is not."""

from __future__ import annotations

import difflib
import re

from workbench.engine.catalog.terms import fold, name_key

NEAR = 0.82
_PART = 0.85
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"\b(?:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})\b")
_SYMBOL = re.compile(r"[+#]+")
_SMALL = 3


def similarity(one: str, other: str) -> float:
    """Compare two names as written, case, accents and punctuation aside.

    Args:
        one: A name.
        other: Another one.

    Returns:
        0–1; 0 where they differ in a number, a Roman numeral or a mark such as those of “C++”, or by one alone.
    """
    marks, others = telling_marks(one), telling_marks(other)
    a, b = name_key(one), name_key(other)
    if marks != others:
        if marks and others:
            return 0.0
        a, b = _without_marks(a), _without_marks(b)
        if a == b:
            return 0.0
    words, more = set(a.split()), set(b.split())
    if (words < more and _says_something(words)) or (more < words and _says_something(more)):
        return _PART
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def telling_marks(name: str) -> tuple[str, ...]:
    """Return the numbers, Roman numerals and symbols that tell names apart: `3`, `11` of “Python 3.11”."""
    folded = fold(name)
    return (*_NUMBER.findall(folded), *_ROMAN.findall(folded), *_SYMBOL.findall(folded))


def _without_marks(key: str) -> str:
    return " ".join(_SYMBOL.sub(" ", _NUMBER.sub(" ", _ROMAN.sub(" ", key))).split())


def _says_something(words: set[str]) -> bool:
    return any(len(word) >= _SMALL for word in words)

"""How alike two names are: slips of the pen and parts of a name are near, another number or version is not."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache

from workbench.engine.catalog.terms import fold, name_key

NEAR = 0.82
_PART = 0.85
_NUMBER = re.compile(r"\d+[a-z]*")
_VERSION = re.compile(
    r"\b(?:alpha|beta|dev|lite|lts|max|mini|nano|nightly|plus|preview|pro|rc|turbo|ultra)\b"
)
_ROMAN = re.compile(r"\b(?:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})\b")
_SYMBOL = re.compile(r"[+#]+")
_MARKS = (_NUMBER, _VERSION, _ROMAN, _SYMBOL)
_SMALL = 3


@dataclass(frozen=True, slots=True)
class _Name:
    """A name taken apart: its marks, its key, and its key without them."""

    marks: tuple[str, ...]
    key: str
    bare: str


def similarity(one: str, other: str, *, least: float = 0.0) -> float:
    """Compare two names as written, case, accents and punctuation aside.

    Args:
        one: A name.
        other: Another one.
        least: What is wanted at least; a likeness below it may be given as 0, which takes much less time.

    Returns:
        0–1; 0 where they differ in a number, a Roman numeral or a mark such as those of “C++”, or by one alone.
    """
    first, second = _taken_apart(one), _taken_apart(other)
    a, b = first.key, second.key
    if first.marks != second.marks:
        if first.marks and second.marks:
            return 0.0
        a, b = first.bare, second.bare
        if a == b:
            return 0.0
    words, more = set(a.split()), set(b.split())
    if (words < more and _says_something(words)) or (more < words and _says_something(more)):
        return _PART
    compared = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if compared.real_quick_ratio() < least or _most_alike(a, b) < least:
        return 0.0
    return compared.ratio()


@lru_cache(maxsize=1024)
def _taken_apart(name: str) -> _Name:
    key = name_key(name)
    return _Name(telling_marks(name), key, _without_marks(key))


def _most_alike(a: str, b: str) -> float:
    """Return a bound of the ratio of two texts: as if their characters stood in the best order."""
    common = sum(min(a.count(character), b.count(character)) for character in set(a))
    return 2 * common / (len(a) + len(b)) if a or b else 1.0


def telling_marks(name: str) -> tuple[str, ...]:
    """Return the numbers, versions and symbols that tell names apart: `3`, `11` of “Python 3.11”."""
    folded = fold(name)
    return tuple(mark for kind in _MARKS for mark in kind.findall(folded))


def _without_marks(key: str) -> str:
    for kind in _MARKS:
        key = kind.sub(" ", key)
    return " ".join(key.split())


def _says_something(words: set[str]) -> bool:
    return any(len(word) >= _SMALL for word in words)

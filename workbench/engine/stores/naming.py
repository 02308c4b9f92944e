"""When two names mean one thing: sameness, and differences that are never slips of the pen."""

from __future__ import annotations

import re

from workbench.engine.catalog.terms import name_key

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"\b(?:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})\b")
_SYMBOL = re.compile(r"[+#*&%$!]+")


def telling_marks(name: str) -> tuple[str, ...]:
    """Return the numbers, Roman numerals and symbols that tell names apart: `3`, `11` of “Python 3.11”."""
    lowered = name.casefold()
    return (*_NUMBER.findall(lowered), *_ROMAN.findall(lowered), *_SYMBOL.findall(lowered))


def same_name(one: str, other: str) -> bool:
    """Tell whether two names are one: case, accents, punctuation and spacing do not count, symbols do."""
    key = name_key(one)
    return bool(key) and key == name_key(other) and telling_marks(one) == telling_marks(other)


def may_be_same(one: str, other: str) -> bool:
    """Tell whether near names are worth a question; those that differ in a number, version or symbol are not.

    A name that merely lacks the other's number (“OAuth PKCE”, “OAuth2 PKCE flow”) is a question only where
    words differ as well.
    """
    marks, others = telling_marks(one), telling_marks(other)
    if marks == others:
        return True
    if marks and others:
        return False
    return _without_marks(one) != _without_marks(other)


def _without_marks(name: str) -> str:
    return " ".join(_SYMBOL.sub(" ", _NUMBER.sub(" ", name_key(name))).split())

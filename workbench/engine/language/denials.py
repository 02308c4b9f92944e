"""Whether a text denies something, and where, in English and Chinese; see `denials.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

from workbench.engine.language.calendar import any_of
from workbench.engine.patterns import lazy_pattern

_LEXICON: Final = tomllib.loads(Path(__file__).with_name("denials.toml").read_text(encoding="utf-8"))
_ENGLISH, _CHINESE = _LEXICON["en"], _LEXICON["zh"]

_APART: Final = lazy_pattern(
    rf"\b(?:{any_of(_ENGLISH['apart'])})\b|{any_of(_CHINESE['apart'])}", re.IGNORECASE
)
_BEFORE_VERBS: Final = (*(each for each in _ENGLISH["words"] if each not in _ENGLISH["nominal"]), "stopped")
_CONTRACTION: Final = r"\b[a-z]+n['’]t\b"
_WORDS: Final = rf"\b(?:{any_of(_ENGLISH['words'])})\b|{any_of(_CHINESE['words'])}"
_DENIAL: Final = lazy_pattern(rf"{_WORDS}|{_CONTRACTION}", re.IGNORECASE)
# “Hasn't” without its denial is “has”, and “can't” is “can”.
_DENYING_PART: Final = lazy_pattern(rf"{_WORDS}|(?<=\bcan)['’]t\b|(?<!\bca)n['’]t\b", re.IGNORECASE)
_TURNED_DOWN: Final = lazy_pattern(
    rf"\b(?:{any_of(_ENGLISH['verbs'])})\b|{any_of(_CHINESE['verbs'])}", re.IGNORECASE
)
# Of a verb, a word may stand between: “never really uses”; not behind “no”: “Project No 5 uses”.
_AT_THE_END: Final = lazy_pattern(
    rf"\b(?:{any_of(_ENGLISH['words'])})\b\s+$"
    rf"|(?:\b(?:{any_of(_BEFORE_VERBS)})\b|{_CONTRACTION})\s+(?:\w+\s+)?$"
    rf"|(?:{any_of(_CHINESE['words'])})\s*$",
    re.IGNORECASE,
)


def is_denied(text: str) -> bool:
    """Return whether a text denies: “never”, “doesn't”, 没."""
    return _DENIAL.search(_APART.sub(" ", text)) is not None


def is_turned_down(text: str) -> bool:
    """Return whether a text denies, or says that somebody will not have something: “avoids”, “gave up”, 讨厌.

    Of two texts with the same other words, of which one does, each says the opposite of the other.
    """
    return is_denied(text) or _TURNED_DOWN.search(text) is not None


def without_denials(text: str) -> str:
    """Return a text without the words that deny: “isn't” becomes “is”."""
    return _DENYING_PART.sub("", text).strip()


def is_denied_next(before: str) -> bool:
    """Return whether a text denies what follows it: “we never really …”, 我们不….

    Args:
        before: What stands before a verb.
    """
    return _AT_THE_END.search(_APART.sub(" ", before)) is not None

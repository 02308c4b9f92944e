"""The words of a text for the full-text index, in every language."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CJK = (
    "\u3040-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003134f"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
# In these scripts a word without its marks is another word; `\w` leaves the marks out.
_MARKED_SCRIPTS = (
    range(0x0900, 0x1AB0),
    range(0x1B00, 0x1DC0),
    range(0xA800, 0xAC00),
    range(0x11000, 0x11F00),
)
_MARKED_SCRIPT = re.compile("[\u0900-\u1aaf\u1b00-\u1dbf\ua800-\uabff\U00011000-\U00011eff]")
# Longer runs are not words; they can still be found in pieces.
_LONGEST_TERM = 80
_ASCII_WORDS = {
    code: chr(code).lower() if chr(code).isalnum() or code == 0x5F else " " for code in range(128)
}
_CONNECTOR = re.compile(r"[-./\\:@+#]")
_CONNECTED = re.compile(rf"{_CONNECTOR.pattern}(?<=\w.)(?=\w)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
# Each begins with one class of characters, which a scan can look for.
_PARTED = re.compile(r"[A-Z_](?:(?<=_)|(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_SMALL_WORDS = frozenset(
    ("a", "an", "and", "de", "der", "des", "for", "in", "la", "of", "on", "the", "to", "und")
)
_MOST_TERMS = 64

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class _Patterns:
    """The patterns for words, compounds and the words of names."""

    word: re.Pattern[str]
    compound: re.Pattern[str]
    name_word: re.Pattern[str]

    @classmethod
    def of(cls, character: str) -> _Patterns:
        return cls(
            re.compile(rf"{character}++"),
            # In early releases of Python 3.11 a possessive group would take one connector too many.
            re.compile(rf"{character}++(?:{_CONNECTOR.pattern}{character}++)+"),
            re.compile(rf"{character}++[+#]*+"),
        )


_PLAIN_PATTERNS = _Patterns.of(r"\w")


@cache
def _patterns_with_marks() -> _Patterns:
    """Return the patterns for scripts with marks; thirty times as slow, so used only for texts in them."""
    codes = (code for block in _MARKED_SCRIPTS for code in block)
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code))[0] == "M")
    return _Patterns.of(rf"[\w{marks}]")


def _patterns(plain: str) -> _Patterns:
    if plain.isascii() or _MARKED_SCRIPT.search(plain) is None:
        return _PLAIN_PATTERNS
    return _patterns_with_marks()


class _Accents(dict[int, int | None]):
    """Characters that folding drops: accents, points and invisible marks; filled on demand."""

    def __missing__(self, code: int) -> int | None:
        drops = code in (0x00AD, 0xFEFF) or (
            unicodedata.category(chr(code)) in ("Mn", "Me")
            and (code < 0x0900 or not (code in (0x3099, 0x309A) or any(code in b for b in _MARKED_SCRIPTS)))
        )
        self[code] = None if drops else code
        return self[code]


_ACCENTS = _Accents()


def fold(text: str) -> str:
    """Fold case, width and accents, so that equal-looking texts compare equal."""
    return _plain(text).casefold()


def name_key(name: str) -> str:
    """Fold a name for comparison, dropping case, accents, punctuation and spacing.

    The marks of “C++” and “F#” stay. A name without any letter or digit is its own key.
    """
    folded = fold(name).replace("_", " ")
    return " ".join(_patterns(folded).name_word.findall(folded)) or folded.strip()


def acronyms(name: str) -> tuple[str, ...]:
    """Return the initials of a name of two words or more, folded: of all words, and without small words."""
    words = _patterns(name).word.findall(name)
    found: dict[str, None] = {}
    for chosen in (words, [word for word in words if word.casefold() not in _SMALL_WORDS]):
        initials = fold("".join(word[0] for word in chosen))
        if len(chosen) >= 2 and initials.isalpha():
            found[initials] = None
    return tuple(found)


def terms(text: str) -> list[str]:
    """Split a text into the terms by which it can be found.

    Words are folded. `memory_search` and `memorySearch` also give their parts; words joined by a hyphen, dot, slash or
    the like also give the whole, joined by `_`: `v1.2` gives `v1`, `2` and `v1_2`. A run of Chinese, Japanese or
    Korean gives its bigrams and its last character.

    Args:
        text: Any text, of any length.

    Returns:
        Terms of letters, digits, marks and `_`, in text order; joined words come last.
    """
    plain = _plain(text)
    if plain.isascii():
        found = _spaced_terms(plain)
    else:
        found = []
        end = 0
        for run in _CJK_RUN.finditer(plain):
            found.extend(_spaced_terms(plain[end : run.start()]))
            found.extend(_run_terms(run.group()))
            end = run.end()
        found.extend(_spaced_terms(plain[end:]))
    if _CONNECTED.search(plain) is not None:
        found.extend(_compounds(plain))
    if max(map(len, found), default=0) > _LONGEST_TERM:
        return [term[at : at + _LONGEST_TERM] for term in found for at in range(0, len(term), _LONGEST_TERM)]
    return found


def query_terms(query: str) -> tuple[str, ...]:
    """Return the distinct terms of a query; a run of Chinese or the like gives only its bigrams.

    A single Chinese, Japanese or Korean character matches every term that begins with it.
    """
    plain = _plain(query)
    lasts = {run[-1] for run in _CJK_RUN.findall(plain) if len(run) > 1}
    singles = {run for run in _CJK_RUN.findall(plain) if len(run) == 1}
    return tuple(dict.fromkeys(term for term in terms(query) if term not in lasts - singles))


def telling_terms(query: str) -> tuple[str, ...]:
    """Return the distinct terms of a query without its stop words; all of them if it has no others."""
    unique = query_terms(query)
    return (tuple(term for term in unique if term not in STOP_WORDS) or unique)[:_MOST_TERMS]


def is_prefix(term: str) -> bool:
    """Return True if a query's term matches every term that begins with it."""
    return len(term) == 1 and _CJK_RUN.match(term) is not None


def is_pair(term: str) -> bool:
    """Return True if a term is two characters from a run of Chinese, Japanese or Korean."""
    return len(term) == 2 and _CJK_RUN.fullmatch(term) is not None


def _plain(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", decomposed.translate(_ACCENTS))


def _spaced_terms(plain: str) -> list[str]:
    """Return the terms of a text in a script with spaces between words."""
    if _PARTED.search(plain) is None:
        return (
            plain.translate(_ASCII_WORDS).split()
            if plain.isascii()
            else _patterns(plain).word.findall(plain.casefold())
        )
    return [term for word in _patterns(plain).word.findall(plain) for term in _parts(word)]


def _run_terms(run: str) -> list[str]:
    return [*(run[at : at + 2] for at in range(len(run) - 1)), run[-1]]


def _parts(word: str) -> list[str]:
    """Return a word and its parts."""
    whole = word.casefold()
    if _PARTED.search(word) is None:
        return [whole]
    pieces = [piece.casefold() for piece in _CAMEL.split(word) if piece]
    return [whole, *pieces] if len(pieces) > 1 else [whole]


def _compounds(plain: str) -> list[str]:
    return [
        _CONNECTOR.sub("_", compound).casefold()
        for compound in _patterns(plain).compound.findall(plain)
        if len(compound) <= _LONGEST_TERM and (compound.isascii() or _CJK_RUN.search(compound) is None)
    ]

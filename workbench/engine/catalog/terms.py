"""Words and names in every language: the terms by which a text is found, and whether two names mean the same.

English endings are stripped, so that “painted” and “paintings” match.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_CJK = (
    "\u3040-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003134f"
)
_CJK_RUN = lazy_pattern(f"[{_CJK}]+")
# In these scripts a word without its marks is another word; `\w` leaves the marks out.
_MARKED_SCRIPTS = (
    range(0x0900, 0x1AB0),
    range(0x1B00, 0x1DC0),
    range(0xA800, 0xAC00),
    range(0x11000, 0x11F00),
)
_MARKED_SCRIPT = lazy_pattern("[\u0900-\u1aaf\u1b00-\u1dbf\ua800-\uabff\U00011000-\U00011eff]")
# Longer runs are not words; they can still be found in pieces.
_LONGEST_TERM = 80
_ASCII_WORDS = {
    code: chr(code).lower() if chr(code).isalnum() or code == 0x5F else " " for code in range(128)
}
_CONNECTOR = lazy_pattern(r"[-./\\:@+#]")
_CONNECTED = lazy_pattern(rf"{_CONNECTOR.pattern}(?<=\w.)(?=\w)")
_CAMEL = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
# Each begins with one class of characters, which a scan can look for.
_PARTED = lazy_pattern(r"[A-Z_](?:(?<=_)|(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_ASKING = lazy_pattern(
    "什么时候|什么时间|什么地方|什么样|为什么|什么|甚麼|什麼時候|什麼|哪一?[个個些天年里裡儿位家种次]|哪"
    "|怎么[样办]?|怎麼樣?|怎样|如何|多少|多久|多[大长高远]|几[点号月岁次个]|是?谁|是?誰|[吗嗎呢吧](?=\\W|$)|请问|請問"
)
_SMALL_WORDS = frozenset(
    ("a", "an", "and", "de", "der", "des", "for", "in", "la", "of", "on", "the", "to", "und")
)
_MOST_TERMS = 64

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())

NEAR = 0.82
_PART = 0.85
# Version marks (“4o”, “mini”, “IV”) keep similar names apart, exact marks (“&”, “2”) those with the same key.
_NUMBER = lazy_pattern(r"\d+[a-z]*")
_VERSION = lazy_pattern(
    r"\b(?:alpha|beta|dev|lite|lts|max|mini|nano|nightly|plus|preview|pro|rc|turbo|ultra)\b"
)
_ROMAN = lazy_pattern(r"\b(?:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})\b")
_SYMBOL = lazy_pattern(r"[+#]+")
_MARKS = (_NUMBER, _VERSION, _ROMAN, _SYMBOL)
_SMALL = 3

_DIGITS = lazy_pattern(r"\d+")
_SYMBOLS = lazy_pattern(r"[+#*&%$!]+")

_VOWELS = frozenset("aeiouy")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SHORTEST = 4
_MOST_REMEMBERED = 100_000


@dataclass(frozen=True)
class _Patterns:
    """The patterns for words, compounds and the words of names."""

    word: re.Pattern[str]
    compound: re.Pattern[str]
    name_word: re.Pattern[str]

    @classmethod
    def of(cls, character: str) -> _Patterns:
        return cls(
            lazy_pattern(rf"{character}++"),
            # In early releases of Python 3.11 a possessive group would take one connector too many.
            lazy_pattern(rf"{character}++(?:{_CONNECTOR.pattern}{character}++)+"),
            lazy_pattern(rf"{character}++[+#]*+"),
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
    """Return the distinct terms of a query without its stop words; all of them if it has no others.

    Of Chinese, what asks is cut out: 时候 in 什么时候 is no word of its own.
    """
    unique = query_terms(query)
    if not query.isascii():
        cut = query_terms(_ASKING.sub(" ", query))
        unique = tuple(term for term in cut if not is_prefix(term) or term in unique) or unique
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


@dataclass(frozen=True, slots=True)
class _Name:
    """A parsed name: its marks, its key, and its key without them."""

    marks: tuple[str, ...]
    key: str
    bare: str


def similarity(one: str, other: str, *, least: float = 0.0) -> float:
    """Return how similar two names are, ignoring case, accents and punctuation.

    Args:
        one: A name.
        other: Another one.
        least: The least useful similarity; lower ones may be returned as 0, which is much faster.

    Returns:
        0–1; 0 if they differ in a number, a Roman numeral or a mark as in “C++”, or only by one.
    """
    first, second = _parse(one), _parse(other)
    a, b = first.key, second.key
    if first.marks != second.marks:
        if first.marks and second.marks:
            return 0.0
        a, b = first.bare, second.bare
        if a == b:
            return 0.0
    words, more = set(a.split()), set(b.split())
    if (words < more and _has_long_word(words)) or (more < words and _has_long_word(more)):
        return _PART
    compared = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if compared.real_quick_ratio() < least or _most_alike(a, b) < least:
        return 0.0
    return compared.ratio()


@lru_cache(maxsize=1024)
def _parse(name: str) -> _Name:
    key = name_key(name)
    return _Name(_version_marks(name), key, _without_marks(key))


def _most_alike(a: str, b: str) -> float:
    """Return an upper bound of the ratio of two texts: that of their sorted characters."""
    common = sum(min(a.count(character), b.count(character)) for character in set(a))
    return 2 * common / (len(a) + len(b)) if a or b else 1.0


def _version_marks(name: str) -> tuple[str, ...]:
    """Return the numbers with suffixes, version words and symbols that keep similar names apart: “4o”, “mini”."""
    folded = fold(name)
    return tuple(mark for kind in _MARKS for mark in kind.findall(folded))


def _without_marks(key: str) -> str:
    for kind in _MARKS:
        key = kind.sub(" ", key)
    return " ".join(key.split())


def _has_long_word(words: set[str]) -> bool:
    return any(len(word) >= _SMALL for word in words)


def _exact_marks(name: str) -> tuple[str, ...]:
    """Return the numbers, Roman numerals and symbols that equal keys may hide: “&” of “AT&T”."""
    lowered = name.casefold()
    return (*_DIGITS.findall(lowered), *_ROMAN.findall(lowered), *_SYMBOLS.findall(lowered))


def same_name(one: str, other: str) -> bool:
    """Return True if two names are equal, ignoring case, accents, punctuation and spacing, but not symbols."""
    key = name_key(one)
    return bool(key) and key == name_key(other) and _exact_marks(one) == _exact_marks(other)


def may_be_same(one: str, other: str) -> bool:
    """Return True if similar names are worth a question; not if they differ in a number, version or symbol.

    If only one of them has a number (“OAuth PKCE”, “OAuth2 PKCE flow”), words must differ as well.
    """
    marks, others = _exact_marks(one), _exact_marks(other)
    if marks == others:
        return True
    if marks and others:
        return False
    return _key_without_exact_marks(one) != _key_without_exact_marks(other)


def _key_without_exact_marks(name: str) -> str:
    return " ".join(_SYMBOLS.sub(" ", _DIGITS.sub(" ", name_key(name))).split())


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
    """
    return _stems[term]


def index_terms(text: str) -> list[str]:
    """Return the stemmed terms a text is found by, in the order of `catalog.terms.terms`."""
    return list(map(_stems.__getitem__, terms(text)))


def question_terms(question: str) -> tuple[str, ...]:
    """Return the distinct significant stemmed terms of a question, or all if none is significant."""
    return tuple(dict.fromkeys(stem(term) for term in telling_terms(question)))


def coverage(wanted: Sequence[str], text: str) -> float:
    """Return the share of a question's terms, from `question_terms`, that a text holds, 0–1."""
    held = set(index_terms(text))
    return sum(_holds(held, term) for term in wanted) / len(wanted)


def _holds(held: set[str], term: str) -> bool:
    if term in held:
        return True
    # A single Chinese, Japanese or Korean character matches every term that begins with it.
    return is_prefix(term) and any(each.startswith(term) for each in held)


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

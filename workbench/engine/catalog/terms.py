"""Words of a text as the full-text index sees them, in every language."""

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
# What is longer is no word; in pieces it can be found all the same.
_LONGEST_TERM = 80
_ASCII_WORDS = {
    code: chr(code).lower() if chr(code).isalnum() or code == 0x5F else " " for code in range(128)
}
_CONNECTOR = re.compile(r"[-./\\:@+#]")
_CONNECTED = re.compile(rf"{_CONNECTOR.pattern}(?<=\w.)(?=\w)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
# Each begins with the one class of characters that a scan can look for.
_PARTED = re.compile(r"[A-Z_](?:(?<=_)|(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_SMALL_WORDS = frozenset(
    ("a", "an", "and", "de", "der", "des", "for", "in", "la", "of", "on", "the", "to", "und")
)
_MOST_TERMS = 64

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class _Patterns:
    """How words, compounds and the words of names are found."""

    word: re.Pattern[str]
    compound: re.Pattern[str]
    name_word: re.Pattern[str]

    @classmethod
    def of(cls, character: str) -> _Patterns:
        """Return the patterns for words of such characters."""
        return cls(
            re.compile(rf"{character}++"),
            # A possessive group takes a connector too many in early Pythons 3.11.
            re.compile(rf"{character}++(?:{_CONNECTOR.pattern}{character}++)+"),
            re.compile(rf"{character}++[+#]*+"),
        )


_PLAIN_PATTERNS = _Patterns.of(r"\w")


@cache
def _patterns_with_marks() -> _Patterns:
    """Return the patterns for scripts with marks; thirty times as slow, so that only texts in them pay for it."""
    codes = (code for block in _MARKED_SCRIPTS for code in block)
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code))[0] == "M")
    return _Patterns.of(rf"[\w{marks}]")


def _patterns(plain: str) -> _Patterns:
    if plain.isascii() or _MARKED_SCRIPT.search(plain) is None:
        return _PLAIN_PATTERNS
    return _patterns_with_marks()


class _Accents(dict[int, int | None]):
    """Which characters a fold drops: accents, points and invisible marks; filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        drops = code in (0x00AD, 0xFEFF) or (
            unicodedata.category(chr(code)) in ("Mn", "Me")
            and (code < 0x0900 or not (code in (0x3099, 0x309A) or any(code in b for b in _MARKED_SCRIPTS)))
        )
        self[code] = None if drops else code
        return self[code]


_ACCENTS = _Accents()


def fold(text: str) -> str:
    """Fold case, width and accents, so that what reads alike compares alike."""
    return _plain(text).casefold()


def name_key(name: str) -> str:
    """Fold a name for comparison: case, accents, punctuation and spacing do not tell names apart.

    The marks of “C++” and “F#” do. A name without any letter or digit is its own key.
    """
    folded = fold(name).replace("_", " ")
    return " ".join(_patterns(folded).name_word.findall(folded)) or folded.strip()


def acronyms(name: str) -> tuple[str, ...]:
    """Return the initials of a name of two words or more, folded: all of them, and without small words."""
    words = _patterns(name).word.findall(name)
    found: dict[str, None] = {}
    for chosen in (words, [word for word in words if word.casefold() not in _SMALL_WORDS]):
        initials = fold("".join(word[0] for word in chosen))
        if len(chosen) >= 2 and initials.isalpha():
            found[initials] = None
    return tuple(found)


def terms(text: str) -> list[str]:
    """Cut a text into the terms it can be found by.

    Words are folded. `memory_search` and `memorySearch` also give their parts; words joined by a hyphen, dot,
    slash or the like also give the whole, joined by `_`: `v1.2` gives `v1`, `2` and `v1_2`. A run of Chinese,
    Japanese or Korean gives its bigrams and its last character.

    Args:
        text: Any text, of any length.

    Returns:
        Terms of letters, digits, marks and `_`, in the order of the text; joined words come last.
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
    """Return the distinct terms of a question; of a run of Chinese or the like its bigrams alone.

    A single Chinese, Japanese or Korean character stands for every term that begins with it.
    """
    plain = _plain(query)
    lasts = {run[-1] for run in _CJK_RUN.findall(plain) if len(run) > 1}
    singles = {run for run in _CJK_RUN.findall(plain) if len(run) == 1}
    return tuple(dict.fromkeys(term for term in terms(query) if term not in lasts - singles))


def telling_terms(query: str) -> tuple[str, ...]:
    """Return the distinct terms of a question without its stop words; all of them where it has no others."""
    unique = query_terms(query)
    return (tuple(term for term in unique if term not in STOP_WORDS) or unique)[:_MOST_TERMS]


def is_prefix(term: str) -> bool:
    """Tell whether a question's term stands for every term that begins with it."""
    return len(term) == 1 and _CJK_RUN.match(term) is not None


def is_pair(term: str) -> bool:
    """Tell whether a term is two characters out of a run of Chinese, Japanese or Korean."""
    return len(term) == 2 and _CJK_RUN.fullmatch(term) is not None


def _plain(text: str) -> str:
    """Take width, accents and invisible marks out of a text."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", decomposed.translate(_ACCENTS))


def _spaced_terms(plain: str) -> list[str]:
    """Return the terms of a text in a script that puts spaces between words."""
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
    """Return a word and the pieces it is made of."""
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

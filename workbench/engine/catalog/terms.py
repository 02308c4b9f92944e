"""Words of a text as the full-text index sees them, in every language."""

from __future__ import annotations

import re
import unicodedata
from importlib import resources

_CJK = (
    "\u3040-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003134f"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"\w+")
_COMPOUND = re.compile(r"\w+(?:[-./_:@+#]\w+)+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")

STOP_WORDS = frozenset(
    resources.files(__package__).joinpath("stop_words.txt").read_text(encoding="utf-8").split()
)


def fold(text: str) -> str:
    """Fold case, width and accents, so that what reads alike compares alike."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


def name_key(name: str) -> str:
    """Fold a name for comparison: case, accents, punctuation and spacing do not tell names apart."""
    return " ".join(_WORD.findall(fold(name).replace("_", " ")))


def terms(text: str) -> list[str]:
    """Cut a text into search terms, in order.

    Words are folded; a compound such as `memory_search` or `v1.2` also gives its parts; a run of Chinese,
    Japanese or Korean gives its bigrams, and itself where it is a single character.

    Args:
        text: Any text, up to any length.
    """
    found: list[str] = []
    for word in _WORD.findall(_cased(text)):
        found.extend(_word_terms(word))
    return found


def indexable(text: str) -> str:
    """Return the text as words parted by spaces, ready for a tokenizer that splits on spaces."""
    return " ".join(terms(text))


def telling_terms(query: str) -> tuple[str, ...]:
    """Return the distinct terms of a question without its stop words; all of them where it has no others."""
    unique = tuple(dict.fromkeys(terms(query)))
    return tuple(term for term in unique if term not in STOP_WORDS) or unique


def match_expression(query: str, *, all_terms: bool = False) -> str | None:
    """Turn a question into an FTS5 expression, every term quoted.

    Args:
        query: What a person or agent asked; never read as FTS5 syntax.
        all_terms: Ask for memories that hold every term rather than any.

    Returns:
        None where nothing of the question can be looked for.
    """
    telling = telling_terms(query)
    if not telling:
        return None
    joint = " AND " if all_terms else " OR "
    return joint.join(f'"{term}"' for term in telling[:64])


def acronym(name: str) -> str | None:
    """Return the initials of a name of two words or more, folded, or None."""
    words = _WORD.findall(name)
    initials = "".join(word[0] for word in words)
    return fold(initials) if len(words) >= 2 and initials.isalpha() else None


def _cased(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


def _word_terms(word: str) -> list[str]:
    if _CJK_RUN.search(word):
        found: list[str] = []
        end = 0
        for run in _CJK_RUN.finditer(word):
            if run.start() > end:
                found.append(word[end : run.start()].casefold())
            characters = run.group()
            found.extend(characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
            end = run.end()
        if end < len(word):
            found.append(word[end:].casefold())
        return found
    parts = [part.casefold() for part in _CAMEL.split(word) if part]
    whole = word.casefold()
    return [whole] if len(parts) <= 1 else [whole, *parts]

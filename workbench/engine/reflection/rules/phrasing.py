"""How counts, lists and memories’ sentences are put into the words of an item, and its evidence quoted.

Two texts are near each other by the telling words that they share.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS, terms
from workbench.engine.language.sentences import sentences
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words as english

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.reflection.model import Passage, Snapshot

_LINKED: Final = lazy_pattern(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")
PREFERRING: Final = frozenset({"like", "prefer", "want", "love", "enjoy", "need", "expect"})
"""Verbs with which a preference is stated, as `content_words` gives them; without them it says the same."""

# Forms that seldom name a thing: verbs, adjectives, adverbs, numbers.
_NO_TOPIC: Final = lazy_pattern(r"^\d|(?:ing|ed|ly|ive|ful|ous|able|ible|less)$")
_SHORTEST_TOPIC: Final = 5
_ORDINARY: Final = english(
    "local little small large great better whole early later thing people person times time means looks years weeks"
    " months experience moment moments place places other others something someone anything everyone"
)
QUOTE_CHARACTERS: Final = 160
# Around the words of entities and facts stand headings, comments and what is known of them.
_ABOUT_IT: Final = lazy_pattern(
    r"<!--.*?-->|\((?:confidence|since|from) [^)]*\)|\^[a-z][a-z0-9]{2,8}\b", re.DOTALL
)
_LETTER: Final = lazy_pattern(r"[^\W\d_]")
_MARKS: Final = lazy_pattern(r"^(?:[#>\s]|[-*+] |\d{1,3}[.)] )+")


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text as one line, cut between words and without an ellipsis: it stays verbatim."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    cut = line[: limit + 1].rfind(" ")
    return line[: cut if cut > limit // 2 else limit].rstrip(" ,;:–—-")


def clipped(text: str, limit: int) -> str:
    """Return a text as one line for people, cut between words and marked with “…” where it is longer."""
    line = one_line(text)
    return line if len(line) <= limit else shorten(line, limit - 1) + "…"


def plain(text: str) -> str:
    """Return a sentence on one line, without links’ brackets and final stop, its first letter large."""
    line = _LINKED.sub(lambda match: match[1].rpartition("--")[2] or match[1], one_line(text)).rstrip(" .。;")
    return line[:1].upper() + line[1:]


def listed(names: Iterable[str]) -> str:
    """Return names as people list them: “a, b and c”."""
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def alternatives(names: Iterable[str]) -> str:
    """Return names to choose from: “a, b or c”."""
    *first, last = list(names) or [""]
    return f"{', '.join(first)} or {last}" if first else last


def counted(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun: “1 decision”, “3 memories”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def is_topical(word: str) -> bool:
    """Return whether a word, folded, may name what is spoken of; those of other scripts may."""
    if not word.isascii():
        return not _NO_TOPIC.search(word)
    return len(word) >= _SHORTEST_TOPIC and word not in _ORDINARY and not _NO_TOPIC.search(word)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, folded, in one form for singular and plural."""
    return frozenset(_singular(term) for term in terms(text) if _tells(term))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two sets of words share: Jaccard’s index, 0–1."""
    return len(one & other) / len(one | other) if one and other else 0.0


def coverage(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of the words of one text that another has too, 0–1."""
    return len(part & whole) / len(part) if part else 0.0


def _tells(term: str) -> bool:
    return term not in STOP_WORDS and (len(term) > 1 or term.isdigit() or not term.isascii())


def _singular(term: str) -> str:
    # Tense stays, unlike in the index: “volunteers at the shelter” says more than “volunteered on Monday”.
    if len(term) > 4 and term.endswith("s") and not term.endswith(("ss", "us", "is")):
        return term[:-3] + "y" if term.endswith("ies") else term[:-1]
    return term


def spoken(text: str) -> list[str]:
    """Return the sentences of a text as they stand in it, questions too; the whole where it has none."""
    said = [sentence.text for sentence in sentences(text, questions=True)]
    return said or [one_line(text)]


def quote_of(passage: Passage, about: Iterable[str] = ()) -> Evidence:
    """Return evidence with the sentence of a passage that has the most of some words, else its first.

    Args:
        passage: What is quoted.
        about: Words as `content_words` gives them.
    """
    said = spoken(passage.text)
    words = frozenset(about)
    best = max(said, key=lambda sentence: len(words & content_words(sentence))) if words else said[0]
    return Evidence(passage.id, shorten(best, QUOTE_CHARACTERS))


def cite(snapshot: Snapshot, memory: str, *wanted: str) -> Evidence | None:
    """Return evidence with the first of some quotes that a memory says verbatim; None where it says none.

    Args:
        snapshot: Its `text_of` gives the memory’s words.
        memory: The id.
        wanted: Quotes, the most telling first; without any, the memory’s own first words are quoted.
    """
    text = snapshot.text_of(memory)
    if text is None:
        return None
    whole = one_line(text)
    for quote in wanted or (own_words(text),):
        short = shorten(quote, QUOTE_CHARACTERS)
        if short and short in whole:
            return Evidence(memory, short)
    return None


def own_words(text: str) -> str:
    """Return the first line of a memory’s text that says something; its title where it says nothing else."""
    lines = [line.strip() for line in _ABOUT_IT.sub("\n", text).split("\n") if _LETTER.search(line)]
    prose = [line for line in lines if not line.startswith("#")]
    return _MARKS.sub("", next(iter((*prose, *lines)), ""))

"""Evidence: the verbatim words of a memory that stand for what an item says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.rules.phrasing import shorten
from workbench.engine.reflection.rules.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.reflection.model import Passage, Snapshot

QUOTE_CHARACTERS: Final = 160
# Around the words of entities and facts stand headings, comments and what is known of them.
_ABOUT_IT: Final = lazy_pattern(
    r"<!--.*?-->|\((?:confidence|since|from) [^)]*\)|\^[a-z][a-z0-9]{2,8}\b", re.DOTALL
)
_LETTER: Final = lazy_pattern(r"[^\W\d_]")
_MARKS: Final = lazy_pattern(r"^(?:[#>\s]|[-*+] |\d{1,3}[.)] )+")


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

"""A text’s sentences as facts, each with the entity it is about."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.clauses import sentences
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.model import FactStatement
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.triggers.mentions import Occurrence

_MOST_SENTENCES = 200

FIRST_PERSON = lazy_pattern(
    r"^\W*(?:(?:and|but|so|also|actually|please)[, ]+)?(?:i|i'm|i've|i'd|i'll|my|me|we|we're|we've|our)\b"
    r"|^\W*(?:我们|我們|我)",
    re.IGNORECASE,
)
PRONOUN = lazy_pattern(
    r"^\W*(?:she|he|it|they|her|his|their|its|this|that)\b|^\W*(?:他|她|它|这|這)", re.IGNORECASE
)
PREPOSITION = lazy_pattern(
    r"\b(?:of|from|at|in|on|for|with|to|by|via|about|after|before|during|since)\s+(?:the\s+)?$|[在从從对對]$"
)
_MINE = lazy_pattern(r"\W*(?:my|our|我)", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One sentence of a text.

    Args:
        start: Where it begins in the text.
        plain: Its characters, full-width punctuation made ASCII; as long as in the text.
        text: It as one line that can be read alone.
        occurrences: The names in it; their places count from `start`.
        question: Whether it asks rather than says.
    """

    start: int
    plain: str
    text: str
    occurrences: tuple[Occurrence, ...]
    question: bool = False


def statements(text: str, occurrences: Sequence[Occurrence]) -> Iterator[Statement]:
    """Yield the first 200 sentences of a text with the names in them."""
    from workbench.engine.triggers.mentions import Occurrence

    plain = text.translate(PUNCTUATION)
    for each in islice(sentences(plain), _MOST_SENTENCES):
        line = " ".join(text[each.start : each.end].split()).lstrip("-*• ").rstrip(" .。;")
        if line:
            inside = tuple(
                Occurrence(one.start - each.start, one.end - each.start, one.mention)
                for one in occurrences
                if each.start <= one.start and one.end <= each.end
            )
            yield Statement(each.start, plain[each.start : each.end], line, inside, each.question)


def split_facts(
    text: str, occurrences: Sequence[Occurrence], owner: str, topic: str | None = None
) -> tuple[FactStatement, ...]:
    """Return a text’s sentences, each with the entity it is about.

    Args:
        text: One memory.
        occurrences: What it names, and where.
        owner: The name behind “I” and “my”.
        topic: What it is about where a sentence does not say.

    Returns:
        Every sentence of the text (of its first 200). One that begins with a pronoun is about the same as
        the one before.
    """
    facts: list[FactStatement] = []
    previous = topic
    for statement in statements(text, occurrences):
        subject = _subject(statement)
        if PRONOUN.match(statement.plain) and previous:
            subject = previous
        elif FIRST_PERSON.match(statement.plain):
            # “My sister’s name is Marta” says more of Marta than of the speaker.
            persons = (o.mention.name for o in statement.occurrences if o.mention.type == "person")
            named = next(persons, None)
            subject = named if named and _MINE.match(statement.plain) else owner
        facts.append(FactStatement(subject or previous, statement.text))
        previous = subject or previous
    return tuple(facts)


def _subject(statement: Statement) -> str | None:
    """Return the first name that no preposition leads to, or else the first."""
    for occurrence in statement.occurrences:
        if not PREPOSITION.search(statement.plain[max(0, occurrence.start - 12) : occurrence.start]):
            return occurrence.mention.name
    return statement.occurrences[0].mention.name if statement.occurrences else None

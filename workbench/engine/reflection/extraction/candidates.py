"""Finds the statements in passages that may be worth recording, each with whom it is about and its very words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.chinese import said_in_chinese
from workbench.engine.reflection.extraction.retelling import own_words, tell
from workbench.engine.reflection.extraction.trimming import clauses
from workbench.engine.reflection.extraction.worth import (
    LEAST,
    is_elliptic,
    is_ones_own,
    terms_of,
    worth_of,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.engine.reflection.extraction.speaking import Voice
    from workbench.engine.reflection.model import Passage

_SHORTEST: Final = 12
_LONGEST: Final = 320
_DATED: Final = 0.8
_CHINESE = lazy_pattern(r"[\u4e00-\u9fff]")
_CHINESE_SELF = lazy_pattern(r"我们|我們|我|用户|用戶")
_WE = lazy_pattern(r"\b(?:we|us|our)\b", re.IGNORECASE)
_THIRD = lazy_pattern(
    r"(?:(?P<own>His|Her)\b(?=\s+\w)|(?:He|She)\b(?P<short>['’](?:s|d|ll))?)", re.IGNORECASE
)
_NAMED = lazy_pattern(r"(?P<name>[A-Z][\w’-]*[a-zà-ÿ](?: [A-Z][\w-]+)?)(?:['’]s)?\s+[a-z]")
_KIN = lazy_pattern(
    r"\bmy (?:(?:older|younger|little|big|late|best|old) )?(?:wife|husband|girlfriend|boyfriend"
    r"|fianc[eé]e?|son|daughter|sister"
    r"|brother|mom|mum|mother|dad|father|aunt|auntie|uncle|cousin|niece|nephew|grandma|grandpa|grandmother"
    r"|grandfather|friend"
    r"|boss|manager|colleague|mentor|coach|teacher|roommate|dog|puppy|cat|kitten)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may become a fact.

    Args:
        at: Index of its passage.
        entity: Whom or what it is about, `type--slug`.
        label: That entity's label.
        text: A sentence that can be read alone.
        quote: The words, as they stand in the passage.
        kind: family, work, plan …
        value: Its worth.
        terms: Its telling words, stemmed.
        since: ISO date from which it holds, or on which it was; empty where nothing says so.
        dated: Whether its words say when.
        explicit: Why it is certain to be meant for memory: “stated as a decision”; empty for conversation.
        subject: Words for the thing that it states a number, a day or a name of; empty for other statements.
    """

    at: int
    entity: str
    label: str
    text: str
    quote: str
    kind: str
    value: float
    terms: frozenset[str]
    since: str
    dated: bool = False
    explicit: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Somebody whom statements may be about besides their speaker."""

    entity: str
    label: str


def candidates(
    at: int,
    passage: Passage,
    voice: Voice,
    names: frozenset[str],
    acquainted: Callable[[str], Acquaintance | None],
) -> Iterator[Candidate]:
    """Yield what the speaker of a passage says of himself and those around him that is worth recording.

    “She” and “he” are read as the one relative that the sentence before names; else they say nothing here.

    Args:
        at: Its index.
        passage: Of a person.
        voice: Who speaks.
        names: Of everybody who speaks in the log, folded.
        acquainted: Finds a known or related person by the name that a sentence begins with.
    """
    said = passage.moment.date() if passage.moment else None
    topic = ""
    for sentence in sentences(passage.text):
        if _CHINESE.search(sentence.text):
            yield from _chinese(at, passage, voice, sentence.text)
            continue
        for start, end in clauses(sentence.text, names):
            piece = sentence.text[start:end]
            if not _SHORTEST <= len(piece) <= _LONGEST:
                continue
            spoken = piece
            pronoun = _THIRD.match(piece)
            if pronoun and topic:
                spoken = (
                    f"{topic}{'’s' if pronoun['own'] else ''}{pronoun['short'] or ''}{piece[pronoun.end() :]}"
                )
            own = own_words(spoken, elliptic=is_elliptic(piece))
            about = Acquaintance(voice.entity, voice.label)
            if own and not is_ones_own(own):
                other = _subject(own, acquainted)
                about, own = (other, own) if other is not None else (about, "")
            if not own:
                continue
            joint = own != spoken and _WE.search(spoken) is not None
            worth = worth_of(own, joint=joint, known=about.entity != voice.entity)
            if worth.value < LEAST - _DATED:
                continue
            told = tell(own, voice.name, said)
            value = worth.value + _DATED * told.dated
            if told.text and value >= LEAST:
                yield Candidate(
                    at,
                    about.entity,
                    about.label,
                    told.text,
                    piece,
                    worth.kind,
                    value,
                    worth.terms,
                    told.day or passage.day,
                    told.dated,
                )
        topic = _topic(sentence.text, topic)


def _chinese(at: int, passage: Passage, voice: Voice, sentence: str) -> Iterator[Candidate]:
    said = said_in_chinese(sentence)
    if said is None:
        return
    quote = sentence[said.start :].rstrip("。.!！ ")
    text = " ".join(_CHINESE_SELF.sub(voice.name, quote).split())
    yield Candidate(
        at, voice.entity, voice.label, text, quote, said.kind, said.value, terms_of(quote), passage.day
    )


def _subject(own: str, acquainted: Callable[[str], Acquaintance | None]) -> Acquaintance | None:
    found = _NAMED.match(own)
    return acquainted(found["name"]) if found else None


def _topic(sentence: str, before: str) -> str:
    """Return the one relative that a sentence is about, as its speaker calls him; what it was where that goes on."""
    kin = {found.group().casefold() for found in _KIN.finditer(sentence)}
    if len(kin) == 1:
        return next(iter(kin))
    return before if not kin and _THIRD.match(sentence) else ""

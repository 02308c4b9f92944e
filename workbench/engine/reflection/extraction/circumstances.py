"""Takes in what an owner states of the things around him: the numbers, days and names of his work and home."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.candidates import Candidate
from workbench.engine.reflection.extraction.particulars import is_concrete, particulars
from workbench.engine.reflection.extraction.retelling import own_words, tell
from workbench.engine.reflection.extraction.worth import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.extraction.naming import Mention, Names
    from workbench.engine.reflection.extraction.speaking import Voice
    from workbench.engine.reflection.model import Passage

KIND: Final = "circumstance"
_WORTH: Final = 3.4
_PER_WORD: Final = 0.25
_MOST_WORDS: Final = 4
_DATED: Final = 0.4
_FEWEST_WORDS: Final = 2
_ARTICLE: Final = lazy_pattern(r"^(?:the|our|my|an?)\s+", re.IGNORECASE)
_LABELLED: Final = lazy_pattern(
    r"(?P<label>(?!(?:TODO|Todo|To do|Note|Idea|Maybe|Question|Q|A|Link|See|Source|Log|Error|Warning|Example)\b)"
    r"[A-Z][^\W\d_]*(?:[ ’'-][^\W\d_]+){0,3}):\s+(?P<says>[^?:|<>={}]{6,160}(?::\d\d[^?:|<>={}]{0,80})?)"
)
_BEGINS_ABOUT: Final = ("person", "project")


def circumstances(
    at: int, passage: Passage, voice: Voice, names: Names, said_already: Sequence[str]
) -> Iterator[Candidate]:
    """Yield what the owner states of things that a clause names itself.

    They are worth less than what somebody says of himself, so that they come after it where there is no room for both.

    Args:
        at: Index of the passage.
        passage: Of the owner: a message, or a note without a speaker.
        voice: The owner.
        names: Tells the entities that a clause names.
        said_already: The words of the passage that other statements quote.
    """
    labelled = None if passage.speaker else _labelled(at, passage, voice)
    if labelled is not None:
        yield labelled
        return
    said = passage.moment.date() if passage.moment else None
    for sentence in sentences(passage.text):
        for one in particulars(sentence.text):
            quote = sentence.text[one.start : one.end]
            if any(quote in other or other in quote for other in said_already):
                continue
            own = own_words(quote, elliptic=False)
            told = tell(own[:1].upper() + own[1:], voice.name, said)
            terms = terms_of(own)
            if not told.text or len(terms) < _FEWEST_WORDS:
                continue
            entity, label = _about(one.subject, voice, names)
            value = _WORTH + _PER_WORD * min(_MOST_WORDS, len(terms)) + _DATED * told.dated
            day = told.day or passage.day
            subject = _ARTICLE.sub("", one.subject)
            yield Candidate(
                at, entity, label, told.text, quote, KIND, value, terms, day, told.dated, subject=subject
            )


def _labelled(at: int, passage: Passage, voice: Voice) -> Candidate | None:
    """Return what a line of notes says behind its label: “Boiler: serviced by Kessler, 129 euros”."""
    line = " ".join(passage.text.split()).rstrip(" .")
    found = _LABELLED.fullmatch(line)
    if found is None or not is_concrete(found["says"]) or tell(line, voice.name, None).text != line:
        return None
    terms = terms_of(line)
    if len(terms) < _FEWEST_WORDS:
        return None
    value = _WORTH + _PER_WORD * min(_MOST_WORDS, len(terms))
    quote = passage.text.strip()
    return Candidate(
        at, voice.entity, voice.label, line, quote, KIND, value, terms, passage.day, subject=found["label"]
    )


def _about(subject: str, voice: Voice, names: Names) -> tuple[str, str]:
    """Return whom or what a subject names: an entity of the graph, a person, a project; else the owner."""
    mentions: tuple[Mention, ...] = names.in_text(subject) if subject else ()
    for mention in mentions:
        if mention.known or (mention.type in _BEGINS_ABOUT and subject.endswith(mention.label)):
            return mention.entity, mention.label
    return voice.entity, voice.label

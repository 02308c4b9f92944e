"""Finds the statements in passages that may be worth recording, each with whom it is about and its very words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.extraction.retelling import own_words, tell
from workbench.engine.reflection.extraction.trimming import clauses
from workbench.engine.reflection.extraction.worth import LEAST, is_elliptic, is_ones_own, worth_of
from workbench.engine.reflection.wording import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.reflection.extraction.speaking import Voice
    from workbench.engine.reflection.model import Passage

_SHORTEST: Final = 12
_LONGEST: Final = 320
_DATED: Final = 0.5


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


def candidates(at: int, passage: Passage, voice: Voice, names: frozenset[str]) -> Iterator[Candidate]:
    """Give what the speaker of a passage says of himself that is worth recording.

    Args:
        at: Its index.
        passage: Of a person.
        voice: Who speaks.
        names: Of everybody who speaks in the log, folded.
    """
    said = passage.moment.date() if passage.moment else None
    for sentence in sentences(passage.text):
        for start, end in clauses(sentence.text, names):
            piece = sentence.text[start:end]
            if not _SHORTEST <= len(piece) <= _LONGEST:
                continue
            own = own_words(piece, elliptic=is_elliptic(piece))
            if not own or not is_ones_own(own):
                continue
            worth = worth_of(own)
            if worth.value < LEAST - _DATED:
                continue
            told = tell(own, voice.name, said)
            if told.text and worth.value + _DATED * told.dated >= LEAST:
                yield Candidate(
                    at,
                    voice.entity,
                    voice.label,
                    told.text,
                    piece,
                    worth.kind,
                    worth.value + _DATED * told.dated,
                    worth.terms,
                    told.day or passage.day,
                    told.dated,
                )

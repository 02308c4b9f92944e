"""Finds what notes state of somebody or something named: “User lives in Lisbon”, “Ana moved to Porto”."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.candidates import Acquaintance, Candidate
from workbench.engine.reflection.extraction.retelling import leaves_i_out, own_words, tell, with_i
from workbench.engine.reflection.extraction.worth import LEAST, is_ones_own, worth_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.reflection.extraction.naming import Names
    from workbench.engine.reflection.extraction.speaking import Voice
    from workbench.engine.reflection.model import Passage

# A note is written to be read again.
_WRITTEN: Final = 0.8
_SHORTEST: Final = 10
_LONGEST: Final = 320
_USER = lazy_pattern(r"(?:the )?user(?P<own>['’]s)?\s+(?=\w)", re.IGNORECASE)
_BEFORE_NAME = lazy_pattern(r"(?:the |project |our )*", re.IGNORECASE)
_SAYS = lazy_pattern(r"(?:['’]s\s+[\w-]+)?\s+(?:project\s+|team\s+)?[a-z][\w'’-]+")
_NAMED_TYPES: Final = frozenset(("person", "project", "tool", "concept", "place"))


def noted(at: int, passage: Passage, voice: Voice, names: Names) -> Iterator[Candidate]:
    """Yield what a note, which nobody speaks, states of its owner or of what it names first.

    Args:
        at: Index of the passage.
        passage: Without a speaker and without a type.
        voice: The owner.
        names: Tells the entities that a sentence names.
    """
    said = passage.moment.date() if passage.moment else None
    for sentence in sentences(passage.text):
        line = " ".join(sentence.text.split()).rstrip(" .。!")
        if not _SHORTEST <= len(line) <= _LONGEST or is_ones_own(line):
            continue
        told = _about_owner(line, voice) or _about_named(line, names)
        if told is None:
            continue
        about, own = told
        worth = worth_of(own, known=True)
        in_full = tell(own, voice.name, said)
        if in_full.text and worth.value + _WRITTEN >= LEAST:
            yield Candidate(
                at,
                about.entity,
                about.label,
                in_full.text,
                sentence.text,
                worth.kind,
                worth.value + _WRITTEN,
                worth.terms,
                in_full.day or passage.day,
                in_full.dated,
            )


def _about_owner(line: str, voice: Voice) -> tuple[Acquaintance, str] | None:
    owner = Acquaintance(voice.entity, voice.label)
    user = _USER.match(line)
    if user:
        return owner, f"{voice.name}{'’s' if user['own'] else ''} {line[user.end() :]}"
    if leaves_i_out(line):
        return owner, own_words(with_i(line), elliptic=False)
    return None


def _about_named(line: str, names: Names) -> tuple[Acquaintance, str] | None:
    """Return the entity that a line begins by naming and then says something of."""
    begin = _BEFORE_NAME.match(line)
    start = begin.end() if begin else 0
    for mention in names.in_text(line):
        if (
            mention.start <= start
            and mention.type in _NAMED_TYPES
            and (mention.known or mention.type in ("person", "project"))
        ):
            named = line[mention.start :]
            end = len(mention.label) if named.startswith(mention.label) else named.find(" ")
            if end > 0 and _SAYS.match(named, end):
                return Acquaintance(mention.entity, mention.label), line
    return None

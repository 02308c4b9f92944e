"""Who the person is: what they say of themselves fills the template’s placeholders and names what core lacks.

How to behave with the person: Persona after the preferences they state (design document §10.3, phase 4).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from workbench.engine.language.denials import is_turned_down
from workbench.engine.language.introductions import Introduction, introduced
from workbench.engine.language.sentences import sentences
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_items import (
    is_owners,
    newest_first,
    read_lines,
    says,
    told_of_user,
    wants_of_somebody_else,
)
from workbench.engine.reflection.rules.phrasing import (
    PREFERRING,
    cite,
    clipped,
    content_words,
    coverage,
    likeness,
    plain,
)
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.rules import core_block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot, Work
    from workbench.engine.reflection.rules.core_items import CoreLine

_LONGEST: Final = 80
# Cheaper than reading every sentence: introductions have one of these words.
_SPEAKS: Final = lazy_pattern(r"\b(?:i|i['’]m|my|me)\b|我", re.IGNORECASE)
_STATED: Final[dict[str, Callable[[Introduction], str]]] = {
    "Name": attrgetter("name"),
    "Role": attrgetter("role"),
    "Location": attrgetter("home"),
    "Timezone": attrgetter("timezone"),
}
_LABELS: Final = {
    "name": "Name",
    "full name": "Name",
    "role": "Role",
    "job": "Role",
    "occupation": "Role",
    "timezone": "Timezone",
    "time zone": "Timezone",
    "location": "Location",
    "home": "Location",
    "lives in": "Location",
}
_MOST: Final = 12
_LONGEST_PREFERENCE: Final = 140
_SAME_MATTER: Final = 0.5
_SAME_RULE: Final = 0.75
_FEWEST_WORDS: Final = 3
# Asks for something now rather than saying how things are wanted.
_ONE_REQUEST: Final = lazy_pattern(
    r"\b(?:(?:can|could|would|will) you|help me|trying to|i need you to|tell me (?:about|what|how|why)"
    r"|this time|for now)\b",
    re.IGNORECASE,
)
# “I want three options for the database” is about the database.
_LASTING: Final = lazy_pattern(
    r"\b(?:always|never|prefer|generally|usually|in general|from now on|going forward|every time|in future|like|love"
    r"|hate|stop|avoid|no|without|do not|short|brief|concise|longer|detailed|direct)\b|\bdon't\b|[不别別总總]",
    re.IGNORECASE,
)


def identity_changes(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Yield changes that say in Identity what the person said last of name, role, time zone and home.

    A placeholder is filled, another value replaced, and what is missing added, each from the newest statement.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    identity = [line for line in read_lines(snapshot) if line.block == "Identity"]
    known = {_LABELS[line.label.casefold()]: line for line in identity if line.label.casefold() in _LABELS}
    for label, (value, proof) in _statements(snapshot, work).items():
        line = known.get(label)
        if line is None:
            # “Lives in Lisbon with Sam” says the home without its label.
            if any(text_key(value) in text_key(other.value) for other in identity):
                continue
            yield forms.core_change(
                "core:identity",
                f"{label}: {value}",
                (proof,),
                reason="They say so of themselves.",
                confidence="high",
            )
        elif line.is_placeholder or not _same(line, value):
            why = "The template waits for it." if line.is_placeholder else "They say otherwise now."
            yield forms.core_change(
                line.item.id,
                f"{line.label}: {value}",
                (proof,),
                reason=why,
                before=line.item.text,
                confidence="high" if line.is_placeholder else "medium",
            )


def _same(line: CoreLine, value: str) -> bool:
    """Return whether an item says the value already, perhaps with more to it."""
    said, new = text_key(line.value), text_key(value)
    return new in said or said in new


def _statements(snapshot: Snapshot, work: Work) -> dict[str, tuple[str, Evidence]]:
    """Return the newest value of each label that the person states, with the sentence that says it."""
    found: dict[str, tuple[str, Evidence]] = {}
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        if len(found) == len(_STATED):
            break
        if not is_owners(passage, snapshot) or not _SPEAKS.search(passage.text):
            continue
        # Only what is said in one's own voice counts, not what is quoted or stands in code.
        for sentence in sentences(passage.text):
            said = introduced(sentence.text.translate(PUNCTUATION))
            for label, read in _STATED.items():
                value = read(said)
                proof = cite(snapshot, passage.id, sentence.text) if value and label not in found else None
                if proof is not None:
                    found[label] = (clipped(value, _LONGEST), proof)
    return found


def persona_changes(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return changes of Persona, newest first, at most twelve; room in core memory bounds them further.

    Every standing rule (“always”, “from now on”, 一律) is added, and so is what the person prefers, where core memory
    does not say it yet; where an item of Persona speaks of the same matter otherwise, the new one takes its place.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    return tuple(islice(_changes(snapshot, work), _MOST))


def _changes(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    lines = read_lines(snapshot)
    given: list[frozenset[str]] = []
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        sentence = _manner(passage, snapshot)
        if not sentence:
            continue
        rule = routing_cues().fits("standing", sentence.translate(PUNCTUATION))
        text = clipped(plain(told_of_user(sentence, snapshot)), _LONGEST_PREFERENCE)
        words = content_words(text)
        # Two rules that differ in when they hold share most of their words.
        same = _SAME_RULE if rule else _SAME_MATTER
        if len(words) < _FEWEST_WORDS - rule or any(
            coverage(words, other) >= same or coverage(other, words) >= same for other in given
        ):
            continue
        proof = cite(snapshot, passage.id, sentence)
        if proof is None:
            continue
        rival = _rival(lines, words)
        if rival is None and says(lines, text):
            continue
        given.append(words)
        if rival is not None:
            same = words - PREFERRING <= rival.words or content_words(rival.value) <= words
            if rival.item.pinned or (same and is_turned_down(text) == is_turned_down(rival.value)):
                continue
            yield forms.core_change(
                rival.item.id,
                text,
                (proof,),
                reason=f"A newer preference on the same matter{_when(passage)}.",
                before=rival.item.text,
            )
        else:
            explicit = passage.source == "user-explicit" or passage.confidence == "high"
            yield forms.core_change(
                "core:persona",
                text,
                (proof,),
                reason=f"{'A standing rule' if rule else 'A preference on how to work with them'}{_when(passage)}.",
                confidence="high" if explicit or rule else "medium",
            )


def _manner(passage: Passage, snapshot: Snapshot) -> str:
    """Return the sentence of a passage that says how the person wants things; empty where none does."""
    if not is_owners(passage, snapshot):
        return ""
    said = [
        sentence.text
        for sentence in sentences(passage.text)
        if not _ONE_REQUEST.search(sentence.text) and not wants_of_somebody_else(sentence.text, snapshot)
    ]
    cues = routing_cues()
    for sentence in said:
        marks = sentence.translate(PUNCTUATION)
        if cues.fits("standing", marks) and core_block(marks, "preference") == "Persona":
            return sentence
    if passage.type not in ("", "preference"):
        return ""
    for sentence in said:
        plain_marks = sentence.translate(PUNCTUATION)
        lasts = passage.type == "preference" or _LASTING.search(plain_marks)
        if lasts and cues.fits("manner", plain_marks) and core_block(plain_marks, "preference") == "Persona":
            return sentence
    return said[0] if passage.type == "preference" and said and passage.confidence != "low" else ""


def _rival(lines: Sequence[CoreLine], words: frozenset[str]) -> CoreLine | None:
    """Return the item of Persona that speaks of the same matter in other words."""
    best = max(
        (
            (likeness(words, content_words(line.value)), at)
            for at, line in enumerate(lines)
            if line.block == "Persona"
        ),
        default=(0.0, -1),
    )
    return lines[best[1]] if best[0] >= _SAME_MATTER else None


def _when(passage: Passage) -> str:
    return f", stated on {passage.day}" if passage.day else ""

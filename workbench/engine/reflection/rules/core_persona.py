"""How to behave with the person: Persona after the preferences they state (design document §10.3, phase 4)."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.language.denials import is_turned_down
from workbench.engine.language.sentences import sentences
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
from workbench.engine.reflection.rules.phrasing import clipped, plain
from workbench.engine.reflection.rules.quoting import cite
from workbench.engine.reflection.rules.words import PREFERRING, content_words, coverage, likeness
from workbench.engine.triggers.core_worth import core_block
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine
    from workbench.engine.reflection.work import Work

_MOST: Final = 12
_LONGEST: Final = 140
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
        text = clipped(plain(told_of_user(sentence, snapshot)), _LONGEST)
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

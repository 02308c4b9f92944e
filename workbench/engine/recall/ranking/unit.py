"""A unit of a candidate chunk with what the lanes make of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from workbench.engine.recall.model import StoredChunk
from workbench.engine.recall.stemming import index_terms
from workbench.engine.recall.units import units_of
from workbench.engine.recall.voices import speaker_of_section, speakers_among, turn_of

_HEADING = re.compile(r"#{1,6}\s")
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？]?")
_MOST_REMEMBERED = 4096
_LONGEST_REMEMBERED = 4000


class Shape(NamedTuple):
    """What the text of a unit is like, whatever is asked.

    Args:
        first: Its first line in the chunk's text, counted from 0.
        last: Its last.
        speaker: Who says it, folded, or None.
        spoken: Its text without headings and the label of its first line.
        asking: How much of it is questions, 0–1.
    """

    first: int
    last: int
    speaker: str | None
    spoken: str
    asking: float


@dataclass(slots=True)
class Unit:
    """Lines of a chunk that are found and handed over together.

    Args:
        stored: Its chunk.
        place: Its place among the units of its chunk.
        shape: What its text is like.
        words: Its terms, stemmed, each once.
        length: How many terms it has, repetitions included.
        signals: What was made of it, by name.
        points: All of that together.
    """

    stored: StoredChunk
    place: int
    shape: Shape
    words: frozenset[str]
    length: int
    signals: dict[str, float] = field(default_factory=dict)
    points: float = 0.0

    @property
    def start_line(self) -> int:
        """Return its first line in the file."""
        return self.stored.chunk.start_line + self.shape.first

    @property
    def end_line(self) -> int:
        """Return its last line in the file."""
        return self.stored.chunk.start_line + self.shape.last


def units_in(stored: StoredChunk) -> list[Unit]:
    """Return the units of a chunk, not yet scored."""
    chunk = stored.chunk
    shape = _remembered_shapes if len(chunk.text) <= _LONGEST_REMEMBERED else _shapes
    units = []
    for place, each in enumerate(shape(chunk.text, chunk.title)):
        if stored.unit_terms is not None and place < len(stored.unit_terms):
            words = stored.unit_terms[place].split(" ")
        else:
            words = index_terms("\n".join(chunk.text.split("\n")[each.first : each.last + 1]))
        units.append(Unit(stored, place, each, frozenset(words), len(words)))
    return units


def share_of_questions(text: str) -> float:
    """Return how much of a text is questions, 0–1: who asks does not tell."""
    if "?" not in text and "？" not in text:
        return 0.0
    asked = total = 0
    for sentence in _SENTENCE.findall(text):
        total += len(sentence)
        if sentence.endswith(("?", "？")):
            asked += len(sentence)
    return asked / total if total else 0.0


def _shapes(text: str, title: str) -> tuple[Shape, ...]:
    lines = text.split("\n")
    section_speaker = speaker_of_section(text, title)
    speakers = speakers_among(lines)
    return tuple(_shape(lines, first, last, section_speaker, speakers) for first, last in units_of(text))


_remembered_shapes = lru_cache(maxsize=_MOST_REMEMBERED)(_shapes)


def _shape(
    lines: list[str], first: int, last: int, section_speaker: str | None, speakers: frozenset[str]
) -> Shape:
    spoken = lines[first : last + 1]
    if first < last:
        spoken = [line for line in spoken if line.strip() and _HEADING.match(line) is None] or spoken
    turn = turn_of(spoken[0])
    is_turn = turn.speaker in speakers
    said = "\n".join((turn.text, *spoken[1:])) if is_turn else "\n".join(spoken)
    return Shape(first, last, turn.speaker if is_turn else section_speaker, said, share_of_questions(said))

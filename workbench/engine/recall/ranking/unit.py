"""A unit of a candidate chunk with what the lanes make of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workbench.engine.recall.model import StoredChunk
from workbench.engine.recall.stemming import index_terms
from workbench.engine.recall.units import units_of
from workbench.engine.recall.voices import speaker_of_section, turn_of

_HEADING = re.compile(r"#{1,6}\s")
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？]?")


@dataclass(slots=True)
class Unit:
    """Lines of a chunk that are found and handed over together.

    Args:
        stored: Its chunk.
        first: Its first line in the chunk's text, counted from 0.
        last: Its last.
        place: Its place among the units of its chunk.
        words: Its terms, stemmed.
        speaker: Who says it, folded, or None.
        is_turn: Whether the speaker stands in its own line rather than over its section.
        spoken: Its text without headings and the label of the first line.
    """

    stored: StoredChunk
    first: int
    last: int
    place: int
    words: list[str]
    speaker: str | None
    is_turn: bool
    spoken: str
    signals: dict[str, float] = field(default_factory=dict)
    points: float = 0.0

    @property
    def start_line(self) -> int:
        """Return its first line in the file."""
        return self.stored.chunk.start_line + self.first

    @property
    def end_line(self) -> int:
        """Return its last line in the file."""
        return self.stored.chunk.start_line + self.last


def units_in(stored: StoredChunk) -> list[Unit]:
    """Return the units of a chunk, not yet scored."""
    chunk = stored.chunk
    lines = chunk.text.split("\n")
    section_speaker = speaker_of_section(chunk.text, chunk.title)
    units = []
    for place, (first, last) in enumerate(units_of(chunk.text)):
        own = lines[first : last + 1]
        if stored.unit_terms is not None and place < len(stored.unit_terms):
            words = stored.unit_terms[place].split()
        else:
            words = index_terms("\n".join(own))
        spoken = [line for line in own if line.strip() and _HEADING.match(line) is None] or own
        turn = turn_of(spoken[0])
        is_turn = turn.speaker is not None and (turn.is_stamped or turn.is_item or len(spoken) == 1)
        units.append(
            Unit(
                stored,
                first,
                last,
                place,
                words,
                turn.speaker if is_turn else section_speaker,
                is_turn,
                "\n".join((turn.text if is_turn else spoken[0], *spoken[1:])),
            )
        )
    return units


def share_of_questions(text: str) -> float:
    """Return how much of a text is questions, 0–1: who asks does not tell."""
    if "?" not in text and "？" not in text:
        return 0.0
    asked = total = 0
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        total += len(sentence)
        if sentence.endswith(("?", "？")):
            asked += len(sentence)
    return asked / total if total else 0.0

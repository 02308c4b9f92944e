"""What is worth telling of messages that are about to be left: who asked what, which tools failed, which files changed.

One pass in the order of the transcript; what is kept has a fixed size, however long the conversation was.
"""

from __future__ import annotations

import heapq
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.sessions.sanitising import Placed
from workbench.engine.sessions.tools import answered_by, calls_in, failed
from workbench.engine.sessions.views import words_of

MOST_NOTES = 400
MOST_FAILURES = 20
MOST_FILES = 200
_NOTE_CHARACTERS = 240
_FAILURE_CHARACTERS = 200
_TURN_CHARACTERS = 4000
_WEIGHTY = re.compile(
    r"\b(?:decid\w+|decision|chose|choose|agreed?|prefers?|always|never|must|remember|because|deadline|important|"
    r"promis\w+|plan|todo|instead|wrong|correct\w*|rule|name is|called|blocked|next step)\b"
    r"|决定|選擇|选择|記住|记住|偏好|必須|必须|不要|重要|計畫|计划|entschieden|wichtig|immer|niemals"
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, order=True)
class Note:
    """A sentence worth keeping, by its line and its place in it; the weightier and later come last when sorted."""

    weight: int
    line: int
    place: int
    speaker: str = field(compare=False)
    text: str = field(compare=False)


@dataclass(frozen=True)
class Told:
    """One turn as a model is told it."""

    line: int
    speaker: str
    text: str


@dataclass
class Gathered:
    """What was gathered.

    Args:
        most_characters: Of the newest turns that are kept whole.
        notes: The weightiest sentences, as a heap; what is said again counts once.
        turns: The newest turns.
        failures: What failed, by line.
        files: What was done to which file: `read` or `written`.
        dropped: How many turns before those there were.
    """

    most_characters: int
    notes: list[Note] = field(default_factory=list)
    turns: deque[Told] = field(default_factory=deque)
    failures: dict[int, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    dropped: int = 0
    _size: int = 0
    _noted: set[str] = field(default_factory=set)
    _names: dict[str, str] = field(default_factory=dict)

    def add(self, placed: Placed) -> None:
        """Take in one message."""
        line = placed.line or 0
        self._note_calls(placed.message)
        answered = answered_by(placed.message)
        if answered is not None:
            name = self._names.pop(answered, "a tool")
            if failed(placed.message):
                told = _SPACES.sub(" ", words_of(placed.message)).strip()[:_FAILURE_CHARACTERS]
                self.failures[line] = f"{name}: {told or 'no reason was given'}"
                if len(self.failures) > MOST_FAILURES:
                    del self.failures[next(iter(self.failures))]
            return
        speaker = {"user": "User", "assistant": "Assistant"}.get(placed.role)
        text = words_of(placed.message).strip()
        if speaker is None or not text:
            return
        self._keep_turn(Told(line, speaker, text[:_TURN_CHARACTERS]))
        self._keep_notes(line, speaker, text[:_TURN_CHARACTERS])

    def best(self) -> list[Note]:
        """Return the weightiest sentences, the weightiest and latest first."""
        return sorted(self.notes, reverse=True)

    def _note_calls(self, message: Mapping[str, object]) -> None:
        for call in calls_in(message):
            if call.id:
                self._names[call.id] = call.name or "a tool"
                if len(self._names) > MOST_NOTES:
                    del self._names[next(iter(self._names))]
            if call.deed and (call.path in self.files or len(self.files) < MOST_FILES):
                known = self.files.get(call.path)
                self.files[call.path] = "written" if "written" in (known, call.deed) else "read"

    def _keep_turn(self, turn: Told) -> None:
        self.turns.append(turn)
        self._size += len(turn.text)
        while self._size > self.most_characters and len(self.turns) > 1:
            self._size -= len(self.turns.popleft().text)
            self.dropped += 1

    def _keep_notes(self, line: int, speaker: str, text: str) -> None:
        for at, sentence in enumerate(_SENTENCE.split(text)[:40]):
            said = _SPACES.sub(" ", sentence).strip()
            if len(said) < 8:
                continue
            weight = 3 * bool(_WEIGHTY.search(said.lower())) + 2 * (speaker == "User") + (at == 0)
            if not weight:
                continue
            note = Note(weight, line, at, speaker, said[:_NOTE_CHARACTERS])
            if (same := note.text.casefold()) in self._noted:
                continue
            self._noted.add(same)
            if len(self.notes) < MOST_NOTES:
                heapq.heappush(self.notes, note)
            else:
                self._noted.discard(heapq.heappushpop(self.notes, note).text.casefold())

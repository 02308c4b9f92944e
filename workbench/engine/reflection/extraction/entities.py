"""Decides which names of a log are worth a file of their own, and proposes them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.facts import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.extraction.naming import Mention
    from workbench.engine.reflection.extraction.speaking import Voice
    from workbench.engine.reflection.model import Passage

_AROUND: Final = 70
_ENOUGH: Final = {"person": 2, "project": 2, "tool": 3, "concept": 3, "place": 4}
_UNMARKED: Final = 2
_GUESSED: Final = ("concept", "project")
_MANY: Final = 5
_MOST_EVIDENCE: Final = 3


@dataclass
class Naming:
    """Where an entity that the graph does not have is named.

    Args:
        mention: The first one.
        places: Index of each passage, with where in its text.
        marked: How often the text marks it as a name.
        labels: How it is written, with how often.
    """

    mention: Mention
    places: dict[int, int] = field(default_factory=dict)
    marked: int = 0
    labels: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, at: int, mention: Mention) -> None:
        """Count a mention in a passage."""
        self.places.setdefault(at, mention.start)
        self.marked += mention.marked
        self.labels[mention.label] += 1

    @property
    def label(self) -> str:
        """Return how it is written most often, capitals before small letters."""
        return max(self.labels, key=lambda label: (label != label.lower(), self.labels[label], label))

    @property
    def is_worth_a_file(self) -> bool:
        """Return whether it recurs, more often where its type is guessed and nothing marks it as a name."""
        guessed = self.mention.type in _GUESSED and not self.marked
        enough = _ENOUGH[self.mention.type] + (_UNMARKED if guessed else 0)
        return len(self.places) >= enough


def named_entity(naming: Naming, passages: Sequence[Passage]) -> ReviewItem:
    """Propose an entity that a log names repeatedly."""
    places = sorted(naming.places)
    evidence = [
        quoted(passages[at], around(passages[at].text, naming.places[at])) for at in places[:_MOST_EVIDENCE]
    ]
    times = len(places)
    return items.entity(
        naming.mention.entity,
        naming.label,
        evidence,
        reason=f"Named in {_counted(times)}{_span(places, passages)}.",
        confidence="high"
        if times >= _MANY and naming.marked
        else "medium"
        if naming.marked or times >= _MANY
        else "low",
    )


def speaking_entity(voice: Voice, spoken: Sequence[int], passages: Sequence[Passage]) -> ReviewItem:
    """Propose a person who speaks in a log."""
    first = max(spoken[:40], key=lambda at: min(len(passages[at].text), 60))
    return items.entity(
        voice.entity,
        voice.label,
        [quoted(passages[first], around(passages[first].text, 0))],
        reason=f"Speaks in {_counted(len(spoken))}{_span(spoken, passages)}.",
        confidence="high",
    )


def owning_entity(voice: Voice, evidence: Sequence[Evidence]) -> ReviewItem:
    """Propose the person whose memory it is; the first thing known of him is the evidence."""
    return items.entity(
        voice.entity,
        voice.label,
        evidence[:1],
        reason="It is the person whose memory this is.",
        confidence="high",
    )


def around(text: str, start: int) -> str:
    """Return the words around a place of a text, whole words of one line; of the first line where that is blank."""
    if not text[start : start + 1].strip():
        start = len(text) - len(text[start:].lstrip()) if text[start:].strip() else 0
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    begin = max(line_start, start - _AROUND)
    if begin > line_start:
        blank = text.find(" ", begin, start)
        begin = blank + 1 if blank >= 0 else start
    end = min(line_end, start + _AROUND)
    if end < line_end:
        blank = text.rfind(" ", start, end)
        end = blank if blank > start else end
    return text[begin:end].strip()


def _span(places: Sequence[int], passages: Sequence[Passage]) -> str:
    days = sorted({passages[at].day for at in places} - {""})
    if not days:
        return ""
    return f" between {days[0]} and {days[-1]}" if len(days) > 1 else f" on {days[0]}"


def _counted(passages: int) -> str:
    return f"{passages} passage{'s' if passages > 1 else ''}"

"""What a model is shown, as JSON data with short handles, and what each handle stands for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal

from workbench.engine.patterns import lazy_pattern
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.catalog.records import FactRecord
    from workbench.engine.reflection.model import Passage
    from workbench.engine.results.decay import DecayEntry
    from workbench.engine.results.memories import CoreItem

What = Literal["passage", "fact", "core", "memory", "archived", "often", "past"]

# Marks by which chat models part turns, thoughts and tools: in JSON, escaped letters read the same.
_TURN_MARKS: Final = lazy_pattern(r"[<>]|\[(?=/?[A-Z_]{3,}\])")
_LEAST_CUT: Final = 200


@dataclass(frozen=True, slots=True)
class Source:
    """What a handle stands for.

    Args:
        id: The memory's.
        text: Its own words, whole.
        what: A new or older passage, a recorded fact, an item of core memory, a faded memory, an archived one, one that
            is often used, or an entry of the books of reflection.
        record: What else is known of it.
    """

    id: str
    text: str
    what: What
    record: Passage | FactRecord | CoreItem | DecayEntry | None = None


@dataclass
class Shown:
    """The handles given so far for one question.

    Args:
        text_of: Gives a memory's own words by id.
        sources: What each handle stands for.
    """

    text_of: Callable[[str], str | None]
    sources: dict[str, Source] = field(default_factory=dict)
    _refs: dict[str, str] = field(default_factory=dict)

    def give(self, prefix: str, source: Source, number: int | None = None) -> str:
        """Give a memory a handle; one that has one keeps it.

        Args:
            prefix: A capital letter.
            source: What it stands for.
            number: By which it goes; the next one free by default.
        """
        known = self._refs.get(source.id)
        if known is not None:
            return known
        ref = f"{prefix}{number or 1 + sum(ref.startswith(prefix) for ref in self.sources)}"
        self.sources[ref] = source
        self._refs[source.id] = ref
        return ref

    def find(self, ref: str) -> Source | None:
        """Return what a handle stands for, as a model writes it; None where it was not shown."""
        return self.sources.get(ref.strip().strip("[]"))

    def fitting(self, rows: Iterable[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
        """Return the rows that fit into so many tokens, in their order; longer ones are passed over.

        Args:
            rows: Made one by one; the handles of one that does not fit are taken back.
            tokens: As the rows take them as data.
        """
        kept: list[dict[str, Any]] = []
        given = len(self.sources)
        for row in rows:
            cost = count_tokens(as_data(row)) + 2
            if cost <= tokens:
                kept.append(row)
                tokens -= cost
                given = len(self.sources)
            for ref in list(self.sources)[given:]:
                del self._refs[self.sources.pop(ref).id]
            if tokens <= 0:
                break
        return kept


def as_data(value: object) -> str:
    """Write what a model is shown as JSON, in which no text can end a string, a message or a turn."""
    written = json.dumps(value, ensure_ascii=False)
    escaped = _TURN_MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", written)
    return escaped.encode("utf-8", "replace").decode()


def clipped(text: str, tokens: int) -> str:
    """Return a text that is too long for so many tokens cut, with “…” at its end."""
    kept = text
    while len(kept) > _LEAST_CUT and count_tokens(kept) > tokens:
        kept = kept[: max(_LEAST_CUT, len(kept) * 4 // 5)]
    return kept if kept is text else kept + "…"


def passage_row(ref: str, passage: Passage, tokens: int) -> dict[str, Any]:
    """Return a passage as data; what it does not say is left out."""
    row = {
        "ref": ref,
        "when": f"{passage.moment:%Y-%m-%d %H:%M}" if passage.moment else "",
        "speaker": passage.speaker,
        "type": passage.type,
        "source": passage.source if passage.source != "conversation" else "",
        "tags": list(passage.tags),
        "text": clipped(passage.text, tokens),
    }
    return {key: value for key, value in row.items() if value}

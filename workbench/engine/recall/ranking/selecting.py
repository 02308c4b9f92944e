"""Chooses among ranked units those to hand over, and says why the others are not."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from workbench.engine.recall.ranking.options import Options
from workbench.engine.recall.ranking.passages import Passage, exact_passage, passage_in_context
from workbench.engine.recall.ranking.unit import Unit
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Cut
from workbench.engine.tokens import count_tokens

# A memory's own score moves its relevance by at most this share.
_DECAY_SHARE = 0.15
# A budget is full where so many results on end no longer fit.
_MOST_MISFITS = 10
# Two units that share this much of their words say the same.
_SAME = 0.9
_LEAST_WORDS_TO_COMPARE = 4
# Characters of what was left out that it is known again by.
_FIRST_WORDS = 120
_MARKS = re.compile(r"^\s*(?:#{1,6}\s.*|[-*+]\s+(?:\[.\]\s+)?)|<!--.*?(?:-->|$)")
_FINDING = ("chunk", "meaning", "graph", "period")
_FLAT_STORES = frozenset(("file", "extra", "session", "vault"))


@dataclass(frozen=True)
class Ranked:
    """A unit with its final score.

    Args:
        unit: The unit.
        relevance: 0–1, before decay.
        score: 0–1.
        memory_score: Its memory's own score; None where it has none.
        is_exact: Whether it holds the very thing that the question names, and so is shown though it has faded.
        nudges: What moved it, a sentence each.
    """

    unit: Unit
    relevance: float
    score: float
    memory_score: Score | None
    is_exact: bool
    nudges: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Tell whether any lane has a word to say for it or for its chunk."""
        return any(self.unit.signals.get(lane, 0.0) > 0 for lane in _FINDING)

    @property
    def decay_factor(self) -> float | None:
        """Return what the relevance was multiplied by."""
        return decay_factor(self.memory_score)


@dataclass(frozen=True)
class Selected:
    """What is handed over, and what is not."""

    chosen: list[tuple[Ranked, Passage]] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)


def decay_factor(score: Score | None) -> float | None:
    """Return a factor from 0.85 to 1: decay is a nudge among comparable hits, never a veto."""
    return None if score is None else 1 - _DECAY_SHARE * (1 - max(0.0, min(1.0, score.value)))


def select(ranked: Sequence[Ranked], options: Options, wanted: Collection[str]) -> Selected:
    """Choose what to hand over.

    With a budget, units are handed over as they are until it is full; without one, each stands in its context and
    a small memory comes once.

    Args:
        ranked: Best first.
        options: Limits, and whether what was left out is to be told.
        wanted: The question's terms, for snippets.
    """
    result = Selected()
    say = _teller(result, options)
    covered: dict[str, set[int]] = defaultdict(set)
    given: set[str] = set()
    seen: list[tuple[str, frozenset[str]]] = []
    left, misfits = options.budget, 0
    for place in ranked:
        if not place.is_found:
            continue
        chunk = place.unit.stored.chunk
        reason = _hidden(place, options)
        if reason:
            say(place, reason, _HIDDEN[reason])
            continue
        if options.min_score is not None and place.score < options.min_score:
            say(place, "below-minimum", f"Its score is below {options.min_score:g}.")
            continue
        if options.max_results is not None and len(result.chosen) >= options.max_results:
            say(place, "over-limit", _better(options.max_results))
            if not options.explain:
                break
            continue
        if misfits >= _MOST_MISFITS:
            say(place, "over-budget", "The budget is full.")
            if not options.explain:
                break
            continue
        if options.budget is None and chunk.store not in _FLAT_STORES and chunk.memory_id in given:
            continue
        if (
            options.budget is not None
            and not place.unit.signals.get("exact")
            and not _first_words(place.unit)
        ):
            continue
        lines = covered[chunk.path]
        own = range(place.unit.start_line, place.unit.end_line + 1)
        if sum(line in lines for line in own) * 2 > len(own):
            continue
        twin = _twin(place.unit.words, seen)
        if twin is not None:
            say(place, "near-duplicate", f"It says the same as {twin}.")
            continue
        passage = (
            passage_in_context(place.unit, wanted, lines)
            if options.budget is None
            else exact_passage(place.unit, wanted)
        )
        if left is not None:
            cost = count_tokens(passage.snippet)
            if cost > left:
                misfits += 1
                say(place, "over-budget", f"It takes {cost} tokens and {left} are left.")
                continue
            left, misfits = left - cost, 0
        lines.update(range(passage.start_line, passage.end_line + 1))
        given.add(chunk.memory_id)
        seen.append((chunk.memory_id, place.unit.words))
        result.chosen.append((place, passage))
    return result


def _better(count: int) -> str:
    return "There is a better result." if count == 1 else f"There are {count:,} better results."


_HIDDEN = {
    "archived": "It is archived.",
    "dormant": "It has faded, and does not hold what was asked for word for word.",
}


def is_hidden(memory_score: Score | None, options: Options) -> bool:
    """Tell whether a memory is passed over as a rule (design document §9.2)."""
    if memory_score is None:
        return False
    return memory_score.status == "archived" or (
        memory_score.status == "dormant" and not options.include_dormant
    )


def _hidden(place: Ranked, options: Options) -> str | None:
    """Return why a unit must not be shown: decay hides, but never what holds the very thing asked for."""
    if place.memory_score is None or place.is_exact or not is_hidden(place.memory_score, options):
        return None
    return place.memory_score.status


def _twin(words: frozenset[str], seen: Sequence[tuple[str, frozenset[str]]]) -> str | None:
    """Return the memory whose handed-over words are nearly these."""
    size = len(words)
    if size < _LEAST_WORDS_TO_COMPARE:
        return None
    for memory, other in seen:
        if _SAME * size <= len(other) <= size / _SAME and len(words & other) >= _SAME * len(words | other):
            return memory
    return None


def _first_words(unit: Unit) -> str:
    """Return the first words of a unit that format nothing; none where it is headings and comments alone."""
    for line in unit.shape.spoken.split("\n"):
        words = _MARKS.sub("", line[: _FIRST_WORDS * 2]).strip()
        if words:
            return words[:_FIRST_WORDS]
    return ""


def _teller(result: Selected, options: Options) -> Callable[[Ranked, str, str], None]:
    def say(place: Ranked, reason: str, detail: str) -> None:
        if options.explain:
            unit = place.unit
            chunk = unit.stored.chunk
            result.cuts.append(
                Cut(
                    chunk.memory_id,
                    chunk.path,
                    unit.start_line,
                    unit.end_line,
                    round(place.score, 4),
                    reason,
                    detail,
                    _first_words(unit) or chunk.title,
                    chunk.day.isoformat() if chunk.day else None,
                )
            )

    return say

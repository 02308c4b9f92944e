"""Selects results: newer statements first, duplicates and hidden memories dropped, snippets cut to size."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Cut
from workbench.engine.search.ranking.candidates import CandidateUnit
from workbench.engine.search.ranking.question import Question, SearchOptions
from workbench.engine.search.stemming import index_terms
from workbench.engine.tokens.counting import count_tokens

SNIPPET_CHARACTERS = 700
_WORD = re.compile(r"\w+")
# A memory's own score changes its relevance by at most this share.
_DECAY_SHARE = 0.15
# A budget is full once this many results in a row no longer fit.
_MOST_MISFITS = 10
# Two units that share this much of their words are duplicates.
_SAME = 0.9
_LEAST_WORDS_TO_COMPARE = 4
# Length of the excerpt that identifies a left-out result.
_FIRST_WORDS = 120
_MARKS = re.compile(r"^\s*(?:#{1,6}\s.*|[-*+]\s+(?:\[.\]\s+)?)|<!--.*?(?:-->|$)")
_FINDING = ("chunk", "meaning", "graph", "period")
_FLAT_STORES = frozenset(("file", "extra", "session", "vault"))
# Among this many first results, a newer statement by the same speaker is about the same thing if it covers this share
# of what the older one covers of the question, and this share of the question itself.
_AMONG = 8
_OF_THE_OLDER = 0.6
_OF_THE_QUESTION = 0.3
_OPENING = 400
_VALUE = re.compile(r"\d|[一二两三四五六七八九十百千万]")
_MOVED = "Newer than a statement of the same thing that matched better."


@dataclass(frozen=True)
class Passage:
    """Lines of a file, 1-based and inclusive, and the text shown for them."""

    start_line: int
    end_line: int
    snippet: str


def exact_passage(unit: CandidateUnit, wanted: Collection[str]) -> Passage:
    """Return the unit's own lines."""
    lines = unit.stored.chunk.text.split("\n")[unit.shape.first : unit.shape.last + 1]
    return Passage(unit.start_line, unit.end_line, _shortened("\n".join(lines), wanted))


def passage_in_context(unit: CandidateUnit, wanted: Collection[str], taken: Collection[int] = ()) -> Passage:
    """Return the unit's lines with as much of its chunk around them as fits a snippet.

    Args:
        unit: What matched.
        wanted: The question's terms.
        taken: Lines of the file already shown by another result; not repeated.
    """
    lines = unit.stored.chunk.text.split("\n")
    start = unit.stored.chunk.start_line
    first, last = unit.shape.first, unit.shape.last
    size = sum(len(line) + 1 for line in lines[first : last + 1])
    downward = True
    while True:
        below = (
            last + 1 < len(lines)
            and start + last + 1 not in taken
            and size + len(lines[last + 1]) < SNIPPET_CHARACTERS
        )
        above = (
            first > 0 and start + first - 1 not in taken and size + len(lines[first - 1]) < SNIPPET_CHARACTERS
        )
        if not (below or above):
            break
        if below and (downward or not above):
            last += 1
            size += len(lines[last]) + 1
        else:
            first -= 1
            size += len(lines[first]) + 1
        downward = not downward
    while not lines[first].strip() and first < unit.shape.first:
        first += 1
    while not lines[last].strip() and last > unit.shape.last:
        last -= 1
    return Passage(start + first, start + last, _shortened("\n".join(lines[first : last + 1]), wanted))


def _shortened(text: str, wanted: Collection[str]) -> str:
    """Cut an overlong text around the first word asked for."""
    if len(text) <= SNIPPET_CHARACTERS:
        return text
    start = 0
    for match in _WORD.finditer(text):
        terms = index_terms(match.group())
        held = next((term for term in terms if term in wanted), None)
        if held is not None:
            within = max(0, match.group().casefold().find(held)) if len(match.group()) > 80 else 0
            start = max(0, match.start() + within - SNIPPET_CHARACTERS // 4)
            break
    if start == 0:
        return text[: SNIPPET_CHARACTERS - 1] + "…"
    end = start + SNIPPET_CHARACTERS - 2
    return "…" + text[start:end] + ("…" if end < len(text) else "")


@dataclass(frozen=True)
class Ranked:
    """A unit with its final score.

    Args:
        unit: The unit.
        relevance: 0–1, before decay.
        score: 0–1.
        memory_score: Its memory's own score; None where it has none.
        is_exact: Whether it holds the exact term the question names, and is shown though faded.
        nudges: What moved it, one sentence each.
    """

    unit: CandidateUnit
    relevance: float
    score: float
    memory_score: Score | None
    is_exact: bool
    nudges: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Return whether any lane found it or its chunk."""
        return any(self.unit.signals.get(lane, 0.0) > 0 for lane in _FINDING)

    @property
    def decay_factor(self) -> float | None:
        """Return the factor applied to the relevance, or None."""
        return decay_factor(self.memory_score)


@dataclass(frozen=True)
class Selection:
    """Chosen results, and what was left out."""

    chosen: list[tuple[Ranked, Passage]] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)


def decay_factor(score: Score | None) -> float | None:
    """Return a factor from 0.85 to 1: decay orders comparable hits, it never vetoes."""
    return None if score is None else 1 - _DECAY_SHARE * (1 - max(0.0, min(1.0, score.value)))


def select(ranked: Sequence[Ranked], options: SearchOptions, wanted: Collection[str]) -> Selection:
    """Choose the results.

    With a budget, units are returned as they are until it is full; otherwise each is shown in context, and a
    small memory
    appears once.

    Args:
        ranked: Best first.
        options: Limits, and whether to report what was left out.
        wanted: The question's terms, for snippets.
    """
    result = Selection()
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


def is_hidden(memory_score: Score | None, options: SearchOptions) -> bool:
    """Return whether a memory is normally hidden (design document §9.2)."""
    if memory_score is None:
        return False
    return memory_score.status == "archived" or (
        memory_score.status == "dormant" and not options.include_dormant
    )


def _hidden(place: Ranked, options: SearchOptions) -> str | None:
    """Return why a unit is hidden; decay never hides what holds the exact term asked for."""
    if place.memory_score is None or place.is_exact or not is_hidden(place.memory_score, options):
        return None
    return place.memory_score.status


def _twin(words: frozenset[str], seen: Sequence[tuple[str, frozenset[str]]]) -> str | None:
    """Return the memory of a selected result with nearly the same words."""
    size = len(words)
    if size < _LEAST_WORDS_TO_COMPARE:
        return None
    for memory, other in seen:
        if _SAME * size <= len(other) <= size / _SAME and len(words & other) >= _SAME * len(words | other):
            return memory
    return None


def _first_words(unit: CandidateUnit) -> str:
    """Return the first words of a unit without markup; empty if it is only headings and comments."""
    for line in unit.shape.spoken.split("\n"):
        words = _MARKS.sub("", line[: _FIRST_WORDS * 2]).strip()
        if words:
            return words[:_FIRST_WORDS]
    return ""


def _teller(result: Selection, options: SearchOptions) -> Callable[[Ranked, str, str], None]:
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


_CHANGE = re.compile(
    r"\b(?:now|recent(?:ly)?|new(?:ly)?|updat\w+|chang\w+|extend\w*|increas\w+|decreas\w+|reduc\w+|improv\w+"
    r"|no longer|any ?more|instead|switch\w*|mov(?:e|ed|ing) to|reach\w*|already|latest"
    r"|current(?:ly)?|just|since then|total of)\b"
    r"|现在|現在|目前|最近|刚|剛|改|换|換|新|不再|已经|已經|增加|减少|減少|提高|延长|延長",
    re.IGNORECASE,
)


def newest_first(
    units: Sequence[CandidateUnit], question: Question, idf: Mapping[str, float]
) -> dict[int, str]:
    """Order units so that newer statements precede the older ones they replace.

    Args:
        units: Best first.
        question: Only one that wants the present state prefers the newest statement.
        idf: Weight of each term.

    Returns:
        Unit indices in their new order, with a sentence for those that moved up.
    """
    order = list(range(len(units)))
    moved: set[int] = set()
    if question.wants_newest:
        rest = order[:_AMONG]
        held = {at: _held(units[at], idf) for at in rest}
        total = sum(idf.values())
        ahead: list[int] = []
        while rest:
            newer = next((at for at in rest[1:] if _replaces(at, rest[0], units, held, total)), None)
            if newer is None:
                ahead.append(rest.pop(0))
            else:
                moved.add(newer)
                rest.remove(newer)
                rest.insert(0, newer)
        order[:_AMONG] = ahead
    return {at: _MOVED if at in moved else "" for at in order}


def _replaces(
    newer: int, older: int, units: Sequence[CandidateUnit], held: Mapping[int, dict[str, float]], total: float
) -> bool:
    new, old = units[newer], units[older]
    if new.shape.speaker != old.shape.speaker or _moment(new) <= _moment(old) or not held[older]:
        return False
    shared = sum(weight for term, weight in held[newer].items() if term in held[older])
    opening = new.shape.spoken[:_OPENING]
    return (
        shared >= _OF_THE_OLDER * sum(held[older].values())
        and sum(held[newer].values()) >= _OF_THE_QUESTION * total
        and _VALUE.search(opening) is not None
        and _CHANGE.search(opening) is not None
    )


def _held(unit: CandidateUnit, idf: Mapping[str, float]) -> dict[str, float]:
    return {term: idf[term] for term in idf.keys() & unit.words}


def _moment(unit: CandidateUnit) -> tuple[date, str, int]:
    """Sort key for time: the day, and the position in a log of one day."""
    chunk = unit.stored.chunk
    return chunk.day or date.min, chunk.path, chunk.start_line


def after_successors(units: list[CandidateUnit]) -> list[CandidateUnit]:
    """Move statements that no longer hold behind their successors."""
    result = [unit for unit in units if not unit.stored.chunk.is_retired]
    places = {id(unit): place for place, unit in enumerate(units)}
    for retired in (unit for unit in units if unit.stored.chunk.is_retired):
        successor = next((at for at, unit in enumerate(result) if _is_successor(unit, retired)), None)
        own = next(
            (at for at, unit in enumerate(result) if places[id(unit)] > places[id(retired)]), len(result)
        )
        result.insert(own if successor is None else max(own, successor + 1), retired)
    return result


def _is_successor(unit: CandidateUnit, retired: CandidateUnit) -> bool:
    by = retired.stored.chunk.superseded_by
    if by is None or unit.stored.chunk.is_retired:
        return False
    if unit.stored.chunk.memory_id == by:
        return True
    block = by.rpartition("^")[2]
    lines = unit.stored.chunk.text.split("\n")[unit.shape.first : unit.shape.last + 1]
    return unit.stored.chunk.path == retired.stored.chunk.path and any(
        line.endswith(f" ^{block}") for line in lines
    )

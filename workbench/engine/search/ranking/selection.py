"""Selects results: newer statements first, duplicates and hidden memories dropped, snippets cut to size."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import index_terms, question_terms
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Cut
from workbench.engine.search.chunks import Chunk
from workbench.engine.search.ranking.candidates import CandidateUnit, is_hidden
from workbench.engine.search.ranking.question import Question, SearchOptions
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray

SNIPPET_CHARACTERS = 700
_WORD = lazy_pattern(r"\w+")
# A memory's own score changes its relevance by at most this share.
_DECAY_SHARE = 0.15
# A budget is full once this many results in a row no longer fit.
_MOST_MISFITS = 10
# Two units that share this much of their words are duplicates.
_SAME = 0.9
_LEAST_WORDS_TO_COMPARE = 4
# Length of the excerpt that identifies a left-out result.
_FIRST_WORDS = 120
_MARKS = lazy_pattern(r"^\s*(?:#{1,6}\s.*|[-*+]\s+(?:\[.\]\s+)?)|<!--.*?(?:-->|$)")
_FINDING = ("chunk", "meaning", "graph", "period")
_FLAT_STORES = frozenset(("file", "extra", "session", "vault"))
# Among this many first results, a newer statement by the same speaker is about the same thing if it covers this share
# of what the older one covers of the question, and this share of the question itself.
_AMONG = 8
_OF_THE_OLDER = 0.6
_OF_THE_QUESTION = 0.3
# Without a word of change, it is the same thing with another value where both say nearly the same.
_IN_COMMON = 0.5
_ASKED_OF_BOTH = 0.4
_ALIKE = 0.55
_NUMBER = lazy_pattern(r"\d[\d,.:]*")
_OPENING = 400
_VALUE = lazy_pattern(r"\d|[一二两三四五六七八九十百千万]")
# With this share of the score of a statement that no longer holds, and as many words of the question, another is as
# relevant: lines of a long memory score less than the same words alone.
_AS_RELEVANT = 0.5
# Items of core memory put first where advice is asked for; the others keep their places.
_MOST_AGREED = 5
_NAMED = "The question asks for it by its name."
_AGREED = "Core memory answers first where advice is asked for."
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
        relevance: 0–1, before decay.
        score: 0–1.
        memory_score: Its memory's own score; None where it has none.
        is_exact: Whether it holds the exact term the question names, and is shown though faded.
        nudges: What moved it, one sentence each.
        is_named: Whether the question asks for its memory by name or title.
        is_of_other_days: Whether the question asks for “last week” and it lies outside.
        outdated_by: The fact that holds instead of what its lines say, or None.
        outdated_since: ISO date from which it does, or None.
        approved_as: The fact that holds and cites its lines, or None.
    """

    unit: CandidateUnit
    relevance: float
    score: float
    memory_score: Score | None
    is_exact: bool
    nudges: tuple[str, ...]
    is_named: bool
    is_of_other_days: bool = False
    outdated_by: str | None = None
    outdated_since: str | None = None
    approved_as: str | None = None

    @property
    def is_found(self) -> bool:
        """Return whether any lane found it or its chunk, or a fact that rests on it."""
        return self.approved_as is not None or any(self.unit.signals.get(lane, 0.0) > 0 for lane in _FINDING)

    @property
    def decay_factor(self) -> float | None:
        """Return the factor applied to the relevance, or None."""
        return decay_factor(self.memory_score)


@dataclass(frozen=True)
class Selection:
    """Chosen results, and what was left out.

    Args:
        faded: Memories hidden by age alone that match as well as the chosen ones, the best unit of each.
    """

    chosen: list[tuple[Ranked, Passage]] = field(default_factory=list)
    faded: list[Ranked] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)


def decay_factor(score: Score | None) -> float | None:
    """Return a factor from 0.85 to 1: decay orders comparable hits, it never vetoes."""
    return None if score is None else 1 - _DECAY_SHARE * (1 - max(0.0, min(1.0, score.value)))


def select(ranked: Sequence[Ranked], options: SearchOptions, wanted: Collection[str]) -> Selection:
    """Choose the results.

    With a budget, units are returned as they are until it is full; otherwise each is shown in context, and a small
    memory appears once.

    Args:
        options: Limits, and whether to report what was left out.
        wanted: The question's terms, for snippets.
    """
    result = Selection()
    say = _teller(result, options)
    covered: dict[tuple[str, bool], set[int]] = defaultdict(set)
    given: set[tuple[str, bool]] = set()
    seen: list[tuple[str, frozenset[str]]] = []
    left, misfits = options.budget, 0
    found = [(place, _hidden(place, options)) for place in ranked if place.is_found]
    shown = [place for place, hidden in found if not hidden]
    least = options.least_share * max((place.score for place in shown), default=0.0)
    of_days = max((place.score for place in shown if not place.is_of_other_days), default=0.0)
    for place, reason in found:
        chunk = place.unit.stored.chunk
        if reason:
            say(place, reason, _HIDDEN[reason])
            if not is_forgotten(place.memory_score):
                result.faded.append(place)
            continue
        if options.min_score is not None and place.score < options.min_score:
            say(place, "below-minimum", f"Its score is below {options.min_score:g}.")
            continue
        if place.score < least:
            say(place, "weak", "It is far less relevant than the best result.")
            continue
        if options.least_share and place.is_of_other_days and place.score <= of_days:
            say(place, "other-days", "It is not of the days asked for, and a result of these is as relevant.")
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
        if (
            options.budget is None
            and chunk.store not in _FLAT_STORES
            and (chunk.memory_id, chunk.is_retired) in given
        ):
            continue
        if (
            options.budget is not None
            and not place.unit.signals.get("exact")
            and not _first_words(place.unit)
        ):
            continue
        # A fact that is retired or has an end is a blank line for its entity.
        lines = covered[chunk.path, chunk.is_retired or chunk.until is not None]
        own = range(place.unit.start_line, place.unit.end_line + 1)
        if sum(line in lines for line in own) * 2 > len(own):
            continue
        twin = _twin(place.unit.words, seen)
        # The lines that a fact rests on are handed over beside it, however alike they are.
        if twin is not None and not (place.approved_as or "").startswith(f"{twin}#"):
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
        given.add((chunk.memory_id, chunk.is_retired))
        if not chunk.is_retired:
            # What no longer holds keeps nothing away that says the same and does.
            seen.append((chunk.memory_id, place.unit.words))
        result.chosen.append((place, passage))
    result.faded[:] = _as_good(result, options)
    return result


def _as_good(selected: Selection, options: SearchOptions) -> list[Ranked]:
    """Return the best unit of each faded memory that matches as well as what is shown, best first."""
    least = min((place.score for place, _ in selected.chosen), default=0.0)
    if options.least_share or not selected.chosen:
        best = max((place.score for place in selected.faded), default=0.0)
        least = max(least, options.min_score or 0.0, _AS_RELEVANT * best)
    units: dict[tuple[str, bool], Ranked] = {}
    for place in selected.faded:
        key = place.unit.stored.chunk.memory_id, place.unit.stored.chunk.is_retired
        if place.score >= least and (key not in units or units[key].score < place.score):
            units[key] = place
    return sorted(units.values(), key=lambda place: -place.score)


def _better(count: int) -> str:
    return "There is a better result." if count == 1 else f"There are {count:,} better results."


_HIDDEN = {
    "archived": "It is archived.",
    "dormant": "It has faded, and does not hold what was asked for word for word.",
}


def _hidden(place: Ranked, options: SearchOptions) -> str | None:
    """Return why a unit is hidden; decay never hides what holds the exact term, or has the name, that is asked for.

    The title of an episode is no name: it is what it says, and an archived one is hidden whatever words find it.
    """
    score = place.memory_score
    if score is None or place.is_exact or not is_hidden(score, options):
        return None
    is_episode = place.unit.stored.chunk.store == "episodic"
    is_called = place.is_named and not (is_forgotten(score) or (is_episode and score.status == "archived"))
    return None if is_called else score.status


def _twin(words: frozenset[str], seen: Sequence[tuple[str, frozenset[str]]]) -> str | None:
    """Return the memory of a selected result with nearly the same words."""
    size = len(words)
    if size < _LEAST_WORDS_TO_COMPARE:
        return None
    least, most = _SAME * size, size / _SAME
    for memory, other in seen:
        count = len(other)
        if least <= count <= most and (common := len(words & other)) >= _SAME * (size + count - common):
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


_CHANGE = lazy_pattern(
    r"\b(?:now|recent(?:ly)?|new(?:ly)?|updat\w+|chang\w+|extend\w*|increas\w+|decreas\w+|reduc\w+|improv\w+"
    r"|no longer|any ?more|instead|switch\w*|mov(?:e|ed|ing) to|reach\w*|already|latest"
    r"|current(?:ly)?|just|since then|total of)\b"
    r"|现在|現在|目前|最近|刚|剛|改|换|換|新|不再|已经|已經|增加|减少|減少|提高|延长|延長",
    re.IGNORECASE,
)


def newest_first(
    units: Sequence[CandidateUnit],
    question: Question,
    idf: Mapping[str, float],
    outdated: Collection[int] = (),
    approved: Collection[int] = (),
) -> dict[int, str]:
    """Order units so that newer statements precede the older ones they replace.

    Args:
        question: Only one that wants the present state prefers the newest statement.
        outdated: Indices of units that never move up: an approved fact holds instead.
        approved: Indices of units that approved facts rest on: none that lacks approval moves ahead of them.

    Returns:
        Unit indices in their new order, with a sentence for those that moved up.
    """
    order = list(range(len(units)))
    moved: set[int] = set()
    if question.wants_newest:
        rest = order[:_AMONG]
        held = {at: _held(units[at], idf) for at in rest}
        total = sum(idf.values()) or 1.0
        ahead: list[int] = []
        while rest:
            older = rest.pop(0)
            rivals = [at for at in rest if at not in outdated and (at in approved or older not in approved)]
            newer = next((at for at in rivals if _replaces(at, older, units, held, total)), None)
            if newer is not None:
                moved.add(newer)
                rest.remove(newer)
                ahead.append(newer)
            ahead.append(older)
        order[:_AMONG] = ahead
    return {at: _MOVED if at in moved else "" for at in order}


def _replaces(
    newer: int, older: int, units: Sequence[CandidateUnit], held: Mapping[int, dict[str, float]], total: float
) -> bool:
    new, old = units[newer], units[older]
    if new.shape.speaker != old.shape.speaker or _moment(new) <= _moment(old) or not held[older]:
        return False
    shared = sum(weight for term, weight in held[newer].items() if term in held[older])
    common, asked = shared / sum(held[older].values()), sum(held[newer].values()) / total
    opening = new.shape.spoken[:_OPENING]
    tells_change = _VALUE.search(opening) is not None and _CHANGE.search(opening) is not None
    return (common >= _OF_THE_OLDER and asked >= _OF_THE_QUESTION and tells_change) or (
        common >= _IN_COMMON and asked >= _ASKED_OF_BOTH and _has_another_value(new, old)
    )


def _has_another_value(new: CandidateUnit, old: CandidateUnit) -> bool:
    """Return whether two statements are close in meaning, and each has a number that the other lacks."""
    here, there = (set(_NUMBER.findall(unit.shape.spoken[:_OPENING])) for unit in (new, old))
    if not (here - there and there - here):
        return False
    one, other = _vector(new), _vector(old)
    return one is not None and other is not None and float((one * other).sum()) >= _ALIKE


def _vector(unit: CandidateUnit) -> FloatArray | None:
    vectors = unit.stored.unit_vectors
    return vectors[unit.place] if vectors is not None and unit.place < len(vectors) else unit.stored.vector


def _held(unit: CandidateUnit, idf: Mapping[str, float]) -> dict[str, float]:
    return {term: idf[term] for term in idf.keys() & unit.words}


def _moment(unit: CandidateUnit) -> tuple[date, str, int]:
    """Sort key for time: the day, and the position in a log of one day."""
    chunk = unit.stored.chunk
    return chunk.day or date.min, chunk.path, chunk.start_line


def behind_what_holds(units: Sequence[CandidateUnit], scores: Sequence[float]) -> list[CandidateUnit]:
    """Move statements that no longer hold behind their successors, and behind what answers as much and still holds.

    Args:
        units: Best first.
        scores: The score of each.
    """
    result = [unit for unit in units if not unit.stored.chunk.is_retired]
    places = {id(unit): place for place, unit in enumerate(units)}
    for place, retired in enumerate(units):
        if not retired.stored.chunk.is_retired:
            continue
        before = next((at for at, unit in enumerate(result) if places[id(unit)] > place), len(result))
        least, held = scores[place] * _AS_RELEVANT, retired.signals["exact"]
        for at, unit in enumerate(result[before:], before):
            is_current = not unit.stored.chunk.is_retired
            is_equal = is_current and scores[places[id(unit)]] >= least and unit.signals["exact"] >= held
            if is_equal or _is_successor(unit, retired):
                before = at + 1
        result.insert(before, retired)
    return result


def within_days_first(placed: Sequence[Ranked], question: Question) -> list[Ranked]:
    """Move what lies outside of “last week” behind all that lies within it, each in its order; so what has no day.

    Days that are not counted from the day of asking raise a unit's score instead: what happened in March is told in
    April.
    """
    period = question.period
    if period is None or not period.is_from_now:
        return list(placed)
    within: list[Ranked] = []
    behind: list[Ranked] = []
    for place in placed:
        day = place.unit.stored.chunk.day
        if day is not None and period.distance(day) == 0:
            within.append(place)
        else:
            behind.append(place if day is None else replace(place, is_of_other_days=True))
    return [*within, *behind]


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


def is_forgotten(score: Score | None) -> bool:
    """Return whether a memory was archived by decision, and not by age alone."""
    return score is not None and score.status == "archived" and bool(score.terms.get("archived"))


def names_memory(question: Question, chunk: Chunk, called: frozenset[str]) -> bool:
    """Return whether a question asks for a memory by its name or title.

    All the words of the title stand in the question and are most of it, or they are those of the name that ends its
    id. One word alone names a memory only where nothing else is asked.

    Args:
        called: Terms by which the question calls an entity, where they are not its name.
    """
    if chunk.store in _FLAT_STORES or chunk.is_retired:
        return False
    asked = question.names
    return any(
        name <= asked and (name == asked or (len(name) > 1 and 2 * len(name) > len(asked)))
        for name in (called, *_names(chunk.memory_id, chunk.title))
        if name
    )


@lru_cache(maxsize=4096)
def _names(memory_id: str, title: str) -> tuple[frozenset[str], ...]:
    own = memory_id.rpartition(":")[2].rpartition("--")[2].replace("-", " ")
    found = (frozenset(question_terms(name)) for name in (title, own))
    return tuple(name for name in found if name)


def named_first(placed: Sequence[Ranked]) -> list[Ranked]:
    """Put the best unit of each memory that the question names first."""
    named: dict[str, Ranked] = {}
    for place in placed:
        if place.is_named:
            named.setdefault(place.unit.stored.chunk.memory_id, place)
    first = [replace(place, nudges=(*place.nudges, _NAMED)) for place in named.values()]
    taken = {id(place.unit) for place in first}
    return [*first, *(place for place in placed if id(place.unit) not in taken)]


def agreed_first(placed: Sequence[Ranked], question: Question) -> list[Ranked]:
    """Put items of core memory first for a question that asks for advice, where they are as relevant as the best.

    Args:
        placed: Best first.
    """
    if not question.wants_advice or not placed:
        return list(placed)
    least = max(place.score for place in placed) * _AS_RELEVANT
    agreed = [
        replace(place, nudges=(*place.nudges, _AGREED))
        for place in placed
        if place.unit.stored.chunk.store == "core" and place.is_found and place.score >= least
    ][:_MOST_AGREED]
    taken = {id(place.unit) for place in agreed}
    return [*agreed, *(place for place in placed if id(place.unit) not in taken)]

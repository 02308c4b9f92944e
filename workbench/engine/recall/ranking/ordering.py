"""Moves newer statements before the older ones that they replace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from workbench.engine.recall.ranking.question import Question
from workbench.engine.recall.ranking.unit import Unit

# Among the first so many results, a newer statement by the same voice that holds this share of what the older one
# holds of the question, and this share of the question itself, speaks of the same thing.
_AMONG = 8
_OF_THE_OLDER = 0.6
_OF_THE_QUESTION = 0.3
_OPENING = 400
_VALUE = re.compile(r"\d|[一二两三四五六七八九十百千万]")
_CHANGE = re.compile(
    r"\b(?:now|recent(?:ly)?|new(?:ly)?|updat\w+|chang\w+|extend\w*|increas\w+|decreas\w+|reduc\w+|improv\w+"
    r"|no longer|any ?more|instead|switch\w*|mov(?:e|ed|ing) to|reach\w*|already|latest"
    r"|current(?:ly)?|just|since then|total of)\b"
    r"|现在|現在|目前|最近|刚|剛|改|换|換|新|不再|已经|已經|增加|减少|減少|提高|延长|延長",
    re.IGNORECASE,
)


_MOVED = "Newer than a statement of the same thing that matched better."


def newest_first(units: Sequence[Unit], question: Question, idf: Mapping[str, float]) -> dict[int, str]:
    """Return the order in which newer statements stand before the older ones they replace.

    Args:
        units: Best first.
        question: Only one that wants the present state is answered by the newest statement.
        idf: What each of the question's terms tells.

    Returns:
        The places of the units in their new order, with a sentence for those that moved ahead.
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
    newer: int, older: int, units: Sequence[Unit], held: Mapping[int, dict[str, float]], total: float
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


def _held(unit: Unit, idf: Mapping[str, float]) -> dict[str, float]:
    return {term: idf[term] for term in idf.keys() & unit.words}


def _moment(unit: Unit) -> tuple[date, str, int]:
    """Return what tells earlier from later: the day, and in a log of one day the place."""
    chunk = unit.stored.chunk
    return chunk.day or date.min, chunk.path, chunk.start_line


def after_successors(units: list[Unit]) -> list[Unit]:
    """Move statements that no longer hold behind what replaced them."""
    result = [unit for unit in units if not unit.stored.chunk.is_retired]
    places = {id(unit): place for place, unit in enumerate(units)}
    for retired in (unit for unit in units if unit.stored.chunk.is_retired):
        successor = next((at for at, unit in enumerate(result) if _is_successor(unit, retired)), None)
        own = next(
            (at for at, unit in enumerate(result) if places[id(unit)] > places[id(retired)]), len(result)
        )
        result.insert(own if successor is None else max(own, successor + 1), retired)
    return result


def _is_successor(unit: Unit, retired: Unit) -> bool:
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

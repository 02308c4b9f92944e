"""Decides which memories the heatmap shows, in which order and in which groups."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import in_zone
from workbench.engine.identifiers import MEMORY_STORES
from workbench.tui.query import Query
from workbench.tui.views.decay_rows import Frame, Heading, HeatRows, status_counts
from workbench.tui.views.memory import store_of_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbench.engine.results.decay import DecayEntry
    from workbench.tui.views.decay_rows import Course, Reading

    Groups = Sequence[tuple[Heading | None, Sequence[DecayEntry]]]

FIELDS: Final = ("store", "tag", "entity", "status", "would")
BY_SCORE, BY_FALL, BY_USE, BY_NAME = "score", "next fall", "last use", "name"
SORTS: Final = (BY_FALL, BY_SCORE, BY_USE, BY_NAME)
NOT, BY_STORE, BY_TAG, BY_ENTITY = "", "store", "tag", "entity"
GROUPINGS: Final = (NOT, BY_STORE, BY_TAG, BY_ENTITY)
SPANS: Final = (30, 90, 7)
"""Days that “what fades” looks ahead, in the order in which one goes through them."""
_SPAN_NAMES: Final = {7: "Within a week", 30: "Within a month", 90: "Within three months"}
_NO_TAG, _NO_ENTITY = "Without a tag", "Without an entity"
# Memories looked at between two questions whether anybody still waits for the answer.
_PATIENCE: Final = 2000


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What a person wants to see of all memories.

    Args:
        query: The filter.
        sort: One of `SORTS`.
        group: One of `GROUPINGS`.
        span: Show only what falls within that many days, the soonest first; 0 shows everything.
        changes: Show only what a trial would change.
    """

    query: Query = field(default_factory=Query)
    sort: str = BY_FALL
    group: str = NOT
    span: int = 0
    changes: bool = False


class GivenUp(Exception):
    """Nobody waits for the rows any more."""


def arrange(
    reading: Reading,
    wanted: Arrangement,
    course: Course,
    frame: Frame,
    given_up: Callable[[], bool] = lambda: False,
) -> HeatRows:
    """Return the rows that somebody wants to see.

    Args:
        reading: What was read.
        wanted: What of it to show.
        course: The engine’s course of one memory’s score.
        frame: What to show of time.
        given_up: Asked now and then.

    Raises:
        GivenUp: It said so.
    """
    entries = list(_shown(reading, wanted, given_up))
    if wanted.span:
        rows = HeatRows(reading, _by_span(reading, entries), course, frame, falling=True)
        rows.coming = None if entries else reading.soonest
        return rows
    _sort(entries, reading, wanted.sort)
    return HeatRows(reading, _grouped(reading, entries, wanted.group), course, frame)


def _shown(reading: Reading, wanted: Arrangement, given_up: Callable[[], bool]) -> Iterable[DecayEntry]:
    names = _names(reading) if wanted.query else {}
    for at, entry in enumerate(reading.view.entries):
        if at % _PATIENCE == 0 and given_up():
            raise GivenUp
        if wanted.span:
            fall = reading.next_fall(entry.id)
            if fall is None or fall.days > wanted.span:
                continue
        if wanted.changes and not reading.changed(entry):
            continue
        if not wanted.query or _matches(reading, entry, wanted.query, names):
            yield entry


def _matches(reading: Reading, entry: DecayEntry, query: Query, names: dict[str, str]) -> bool:
    fields = {
        "store": (entry.store,),
        "tag": tuple(tag.casefold() for tag in entry.tags),
        "entity": tuple(
            word
            for each in entry.entities
            for word in (
                each.casefold(),
                each.casefold().partition(":")[2],
                each.casefold().rpartition("--")[2],
                names.get(each, "").casefold(),
            )
        ),
        "status": (reading.truth.get(entry.id, entry.status) if reading.truth else entry.status,),
        "would": (entry.status,) if reading.changed(entry) else (),
    }
    text = f"{entry.title}\n{entry.id}\n{' '.join(entry.tags)}".casefold()
    return query.matches(fields, text, in_zone(entry.last_accessed, reading.view.now.tzinfo).date())


def _sort(entries: list[DecayEntry], reading: Reading, sort: str) -> None:
    if sort == BY_SCORE:
        # Scores end at 1; beyond that the raw relevance tells which will stay there for longer.
        entries.sort(key=lambda entry: (-entry.score, -(inf if entry.raw is None else entry.raw), entry.id))
    elif sort == BY_FALL:
        entries.sort(
            key=lambda entry: (_days(reading, entry), entry.status == "pinned", -entry.score, entry.id)
        )
    elif sort == BY_USE:
        entries.sort(key=lambda entry: (entry.last_accessed, entry.id), reverse=True)
    else:
        entries.sort(key=lambda entry: ((entry.title or entry.id).casefold(), entry.id))


def _days(reading: Reading, entry: DecayEntry) -> float:
    fall = reading.next_fall(entry.id)
    return fall.days if fall else inf


def _by_span(reading: Reading, entries: list[DecayEntry]) -> Groups:
    found: dict[int, list[DecayEntry]] = defaultdict(list)
    _sort(entries, reading, BY_FALL)
    for entry in entries:
        days = _days(reading, entry)
        found[next(span for span in sorted(_SPAN_NAMES) if days <= span)].append(entry)
    return [
        (Heading(_SPAN_NAMES[span], "", status_counts(each)), each) for span, each in sorted(found.items())
    ]


def _grouped(reading: Reading, entries: list[DecayEntry], group: str) -> Groups:
    if group == NOT:
        return [(None, entries)]
    found: dict[str, list[DecayEntry]] = defaultdict(list)
    for entry in entries:
        for name in _group_names(entry, group):
            found[name].append(entry)
    if group == BY_STORE:
        order = sorted(found, key=lambda name: _store_rank(name))
    else:
        order = sorted(found, key=lambda name: (name == "", -len(found[name]), name))
    names = _names(reading) if group == BY_ENTITY else {}
    return [(_heading(name, found[name], group, names), found[name]) for name in order]


def _group_names(entry: DecayEntry, group: str) -> Sequence[str]:
    if group == BY_STORE:
        return (entry.store,)
    return tuple(dict.fromkeys(entry.tags if group == BY_TAG else entry.entities)) or ("",)


def _heading(name: str, entries: Sequence[DecayEntry], group: str, names: dict[str, str]) -> Heading:
    if group == BY_STORE:
        return Heading(name.capitalize(), store_of_id(entries[0].id), status_counts(entries))
    if not name:
        return Heading(_NO_TAG if group == BY_TAG else _NO_ENTITY, "", status_counts(entries))
    if group == BY_TAG:
        return Heading(f"#{name}", "", status_counts(entries))
    # Two entities may have one name; the id in the end tells them apart.
    shown = names.get(name) or name.partition(":")[2]
    return Heading(shown, "semantic", status_counts(entries), name)


def _names(reading: Reading) -> dict[str, str]:
    """Return the names of entities by their ids."""
    return {entry.id: entry.title for entry in reading.view.entries if entry.store == "semantic"}


def _store_rank(store: str) -> int:
    return MEMORY_STORES.index(store) if store in MEMORY_STORES else len(MEMORY_STORES)


def changes(reading: Reading) -> list[tuple[int, str, str]]:
    """Count what a trial would change: how many, what they would be, and what they are; the most first."""
    found: dict[tuple[str, str], int] = defaultdict(int)
    if reading.truth is not None:
        for entry in reading.view.entries:
            if reading.changed(entry):
                found[entry.status, reading.truth[entry.id]] += 1
    return sorted(((count, *kind) for kind, count in found.items()), key=lambda each: (-each[0], each[1:]))

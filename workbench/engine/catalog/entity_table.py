"""The table of all entities: what each is called and how much is known of it, in one pass."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from workbench.engine.catalog.merged_graph import MergedGraph, json_list


class EntityOutline(NamedTuple):
    """One entity of the table of all.

    Args:
        degree: Its relations, in both directions.
        facts: Those that hold.
        relations: Names of its relations, in either direction, each once.
        days: ISO days that its file names, the newest first, parted by blanks.
    """

    id: str
    type: str
    label: str
    aliases: tuple[str, ...]
    degree: int
    facts: int
    relations: tuple[str, ...]
    days: str


class EntityOutlines(MergedGraph):
    """Every entity with its numbers of relations and facts."""

    def outlines(self, today: str) -> Iterator[EntityOutline]:
        """Yield every entity that did not go into another, by id.

        Args:
            today: ISO day; a fact whose last day is over holds no longer.
        """
        degrees, relations = self._all_degrees()
        facts = self._facts_that_hold(today)
        rows = self._catalog.rows("SELECT id, type, label, days, path, aliases FROM entities")
        rows = [row for row in rows if row[0] not in self._kept]
        # Of two files that claim one id, the first by its path counts.
        rows.sort(key=itemgetter(0, 4), reverse=True)
        first = sorted({row[0]: row for row in rows}.values())
        degree, fact, relation, none = degrees.get, facts.get, relations.get, ()
        for id_, kind, label, days, _, aliases in first:
            yield EntityOutline(
                id_, kind, label, _words(aliases), degree(id_, 0), fact(id_, 0), relation(id_, none), days
            )

    def _all_degrees(self) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
        condition, values = self._visible
        rows = self._catalog.rows(
            f"SELECT e.source, e.target, e.relation FROM edges e WHERE {condition}", values
        )
        if self._kept:
            rows = [(self.whole(one), self.whole(other), name) for one, other, name in rows]
        # Sets of names as the bits of numbers, since entities by the thousand have the same ones.
        bits: dict[str, int] = defaultdict(lambda: 1 << len(bits))
        degrees: dict[str, int] = defaultdict(int)
        sets: dict[str, int] = defaultdict(int)
        for one, other, name in rows:
            bit = bits[name]
            degrees[one] += 1
            sets[one] |= bit
            if one != other:
                degrees[other] += 1
                sets[other] |= bit
        names = {
            held: tuple(sorted(n for n, bit in bits.items() if held & bit)) for held in set(sets.values())
        }
        return degrees, {entity: names[held] for entity, held in sets.items()}

    def _facts_that_hold(self, today: str) -> dict[str, int]:
        hidden, values = ("AND id NOT IN (SELECT value FROM json_each(?))", [json_list(self._hidden)])
        if not self._hidden:
            hidden, values = "", []
        rows = self._catalog.rows(
            "SELECT entity, count(*) FROM facts WHERE retired = 0 AND (until IS NULL"
            f" OR substr(until, 1, 10) >= substr(?, 1, length(substr(until, 1, 10)))) {hidden} GROUP BY entity",
            (today, *values),
        )
        return {row[0]: row[1] for row in rows}


def _words(listed: str) -> tuple[str, ...]:
    """Return the words of a JSON list, quickly where none of them is escaped."""
    if listed == "[]":
        return ()
    return tuple(json.loads(listed) if "\\" in listed else listed[2:-2].split('", "'))

"""Which entities a name may mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from workbench.engine.catalog.model import EntityMatch, EntityRecord
from workbench.engine.catalog.similarity import NEAR, similarity
from workbench.engine.catalog.terms import acronyms, name_key

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog

_MOST_NEAR = 5
_MOST_CANDIDATES = 60
_MOST_KEY = 100
_MOST_MERGES = 16
# Two initials are a word of many languages; only capitals make an acronym of them.
_SURE_ACRONYM = 3
_RANKS = {"exact": 0, "alias": 1, "acronym": 2}


class NameIndex:
    """The names of entities in the catalog.

    Args:
        catalog: The catalog to ask.
        entity: Finds an entity by its id.
    """

    def __init__(self, catalog: Catalog, entity: Callable[[str], EntityRecord | None]) -> None:
        self._catalog = catalog
        self._entity = entity

    def resolve(self, name: str, entity_type: str | None) -> tuple[EntityMatch, ...]:
        """Find the entities a name may mean; see `Lookups.resolve`."""
        if "--" in name:
            direct = self._entity(name if name.startswith("entity:") else f"entity:{name}")
            if direct is not None:
                return (EntityMatch(direct, "exact", 1.0),) if entity_type in (None, direct.type) else ()
        key = name_key(name)
        if not key:
            return ()
        found = self._matches(self._by_name(key), entity_type)
        return (
            found
            or self._matches(self._by_acronym(name, key), entity_type)
            or self._near(name, key, entity_type)
        )

    def named(self, name: str) -> EntityRecord | None:
        """Return the one entity whose label or alias a name is, or None."""
        matches = self._matches(self._by_name(name_key(name)), None)
        return matches[0].entity if len(matches) == 1 else None

    def _by_name(self, key: str) -> list[tuple[str, str, float]]:
        rows = self._catalog.rows(
            "SELECT entity, how FROM names WHERE folded = ? AND how <> 'acronym' ORDER BY entity", (key,)
        )
        return [(entity, how, 1.0) for entity, how in sorted(rows, key=lambda row: _RANKS[row[1]])]

    def _by_acronym(self, name: str, key: str) -> list[tuple[str, str, float]]:
        """Find the long names that this one abbreviates, else the short names that abbreviate this one."""
        if len(key) >= _SURE_ACRONYM or name.isupper():
            rows = self._catalog.rows(
                "SELECT DISTINCT entity FROM names WHERE folded = ? AND how = 'acronym' ORDER BY entity",
                (key,),
            )
            if rows:
                return [(row[0], "acronym", 0.9) for row in rows]
        return [
            (entity, "acronym", 0.9)
            for initials in acronyms(name)
            if len(initials) >= _SURE_ACRONYM
            for entity, _, _ in self._by_name(initials)
        ]

    def _near(self, name: str, key: str, entity_type: str | None) -> tuple[EntityMatch, ...]:
        key = key[:_MOST_KEY]
        grams = {key[at : at + 3] for at in range(len(key) - 2)}
        if not grams:
            return ()
        expression = " OR ".join('"' + gram.replace('"', '""') + '"' for gram in sorted(grams))
        rows = self._catalog.rows(
            "SELECT n.written, n.entity FROM (SELECT rowid, rank FROM name_words WHERE name_words MATCH ?"
            " ORDER BY rank LIMIT ?) AS best JOIN names n ON n.number = best.rowid ORDER BY best.rank, n.entity",
            (expression, _MOST_CANDIDATES),
        )
        scored = [(entity, "near", similarity(name, written, least=NEAR)) for written, entity in rows]
        scored.sort(key=lambda candidate: -candidate[2])
        return self._matches((each for each in scored if each[2] >= NEAR), entity_type)[:_MOST_NEAR]

    def _matches(
        self, candidates: Iterable[tuple[str, str, float]], entity_type: str | None
    ) -> tuple[EntityMatch, ...]:
        found: dict[str, EntityMatch] = {}
        for entity_id, how, likeness in candidates:
            entity = self._living(entity_id)
            if entity is not None and entity.id not in found and entity_type in (None, entity.type):
                found[entity.id] = EntityMatch(entity, how, likeness)
        return tuple(found.values())

    def _living(self, entity_id: str) -> EntityRecord | None:
        """Follow merges to the entity that is left; the last one that exists where the way leads nowhere."""
        entity = self._entity(entity_id)
        for _ in range(_MOST_MERGES):
            rows = self._catalog.rows(
                "SELECT merged_into FROM entities WHERE id = ? AND merged_into IS NOT NULL", (entity_id,)
            )
            following = self._entity(rows[0][0]) if rows else None
            if following is None:
                break
            entity, entity_id = following, following.id
        return entity

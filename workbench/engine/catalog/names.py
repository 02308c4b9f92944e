"""Finds the entities that a name may mean, and compares names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.engine.catalog.records import EntityMatch, EntityRecord
from workbench.engine.catalog.terms import acronyms, fold, name_key

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog


NEAR = 0.82
_PART = 0.85
_NUMBER = re.compile(r"\d+[a-z]*")
_VERSION = re.compile(
    r"\b(?:alpha|beta|dev|lite|lts|max|mini|nano|nightly|plus|preview|pro|rc|turbo|ultra)\b"
)
_ROMAN = re.compile(r"\b(?:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})\b")
_SYMBOL = re.compile(r"[+#]+")
_MARKS = (_NUMBER, _VERSION, _ROMAN, _SYMBOL)
_SMALL = 3

_DIGITS = re.compile(r"\d+")
_SYMBOLS = re.compile(r"[+#*&%$!]+")

_MOST_NEAR = 5
_MOST_CANDIDATES = 60
_MOST_KEY = 100
_MOST_MERGES = 16
# Two initials form a word in many languages; only capitals make them an acronym.
_SURE_ACRONYM = 3
_RANKS = {"exact": 0, "alias": 1, "acronym": 2}


@dataclass(frozen=True, slots=True)
class _Name:
    """A parsed name: its marks, its key, and its key without them."""

    marks: tuple[str, ...]
    key: str
    bare: str


def similarity(one: str, other: str, *, least: float = 0.0) -> float:
    """Return how similar two names are, ignoring case, accents and punctuation.

    Args:
        one: A name.
        other: Another one.
        least: The least useful similarity; lower ones may be returned as 0, which is much faster.

    Returns:
        0–1; 0 if they differ in a number, a Roman numeral or a mark as in “C++”, or only by one.
    """
    first, second = _parse(one), _parse(other)
    a, b = first.key, second.key
    if first.marks != second.marks:
        if first.marks and second.marks:
            return 0.0
        a, b = first.bare, second.bare
        if a == b:
            return 0.0
    words, more = set(a.split()), set(b.split())
    if (words < more and _has_long_word(words)) or (more < words and _has_long_word(more)):
        return _PART
    compared = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if compared.real_quick_ratio() < least or _most_alike(a, b) < least:
        return 0.0
    return compared.ratio()


@lru_cache(maxsize=1024)
def _parse(name: str) -> _Name:
    key = name_key(name)
    return _Name(_version_marks(name), key, _without_marks(key))


def _most_alike(a: str, b: str) -> float:
    """Return an upper bound of the ratio of two texts: that of their sorted characters."""
    common = sum(min(a.count(character), b.count(character)) for character in set(a))
    return 2 * common / (len(a) + len(b)) if a or b else 1.0


def _version_marks(name: str) -> tuple[str, ...]:
    """Return the numbers with suffixes, version words and symbols that keep similar names apart: “4o”, “mini”."""
    folded = fold(name)
    return tuple(mark for kind in _MARKS for mark in kind.findall(folded))


def _without_marks(key: str) -> str:
    for kind in _MARKS:
        key = kind.sub(" ", key)
    return " ".join(key.split())


def _has_long_word(words: set[str]) -> bool:
    return any(len(word) >= _SMALL for word in words)


def _exact_marks(name: str) -> tuple[str, ...]:
    """Return the numbers, Roman numerals and symbols that equal keys may hide: “&” of “AT&T”."""
    lowered = name.casefold()
    return (*_DIGITS.findall(lowered), *_ROMAN.findall(lowered), *_SYMBOLS.findall(lowered))


def same_name(one: str, other: str) -> bool:
    """Return True if two names are equal, ignoring case, accents, punctuation and spacing, but not symbols."""
    key = name_key(one)
    return bool(key) and key == name_key(other) and _exact_marks(one) == _exact_marks(other)


def may_be_same(one: str, other: str) -> bool:
    """Return True if similar names are worth a question; not if they differ in a number, version or symbol.

    If only one of them has a number (“OAuth PKCE”, “OAuth2 PKCE flow”), words must differ as well.
    """
    marks, others = _exact_marks(one), _exact_marks(other)
    if marks == others:
        return True
    if marks and others:
        return False
    return _key_without_exact_marks(one) != _key_without_exact_marks(other)


def _key_without_exact_marks(name: str) -> str:
    return " ".join(_SYMBOLS.sub(" ", _DIGITS.sub(" ", name_key(name))).split())


class NameIndex:
    """The names of entities in the catalog.

    Args:
        catalog: The catalog.
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
        """Return the one entity with this label or alias, or None."""
        matches = self._matches(self._by_name(name_key(name)), None)
        return matches[0].entity if len(matches) == 1 else None

    def _by_name(self, key: str) -> list[tuple[str, str, float]]:
        rows = self._catalog.rows(
            "SELECT entity, how FROM names WHERE folded = ? AND how <> 'acronym' ORDER BY entity", (key,)
        )
        return [(entity, how, 1.0) for entity, how in sorted(rows, key=lambda row: _RANKS[row[1]])]

    def _by_acronym(self, name: str, key: str) -> list[tuple[str, str, float]]:
        """Return entities whose long name this abbreviates, else those whose short name abbreviates this."""
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
            entity = self._final_entity(entity_id)
            if entity is not None and entity.id not in found and entity_type in (None, entity.type):
                found[entity.id] = EntityMatch(entity, how, likeness)
        return tuple(found.values())

    def _final_entity(self, entity_id: str) -> EntityRecord | None:
        """Follow merges to the final entity; the last existing one if the chain is broken."""
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

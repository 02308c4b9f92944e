"""Versions of files: their contents and what stands in them, by git's name of the content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from workbench.engine.catalog.extract import FileRows, extract, moment_of
from workbench.engine.identifiers import entity_name, linked_entity
from workbench.engine.past.heads import MERGED, plain_head

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from workbench.engine.history.git_store import GitStore

# Neighbouring moments share nearly all of what was read for the one before.
_MOST_BYTES = 64_000_000
_MOST_ROWS = 4_000
_LINK = re.compile(rb"\[\[([^\[\]|#]+)")


class Named(NamedTuple):
    """An entity in a version of its file, without what is known about it."""

    id: str
    label: str
    moment: datetime | None
    pinned: bool


class Versions:
    """Reads each version once for as long as it is remembered.

    Args:
        store: The history.
        zone: The zone that days and times of the files are in.
    """

    def __init__(self, store: GitStore, zone: ZoneInfo) -> None:
        self._store = store
        self._zone = zone
        self._contents: dict[str, bytes] = {}
        self._bytes = 0
        self._rows: dict[tuple[str, str], FileRows] = {}
        self._linked: dict[str, tuple[str, ...]] = {}
        self._merged: dict[tuple[str, str], dict[str, str]] = {}
        self._named: dict[tuple[str, str], Named | None] = {}

    def content(self, blob: str) -> bytes:
        """Return a version's bytes.

        Raises:
            HistoryDamaged: It is missing or broken.
        """
        known = self._contents.get(blob)
        if known is None:
            known = self._store.read_blob(blob)
            if self._bytes + len(known) > _MOST_BYTES:
                self._contents, self._bytes = {}, 0
            self._contents[blob] = known
            self._bytes += len(known)
        return known

    def rows(self, path: str, blob: str) -> FileRows:
        """Return what stands in a version of a file."""
        known = self._rows.get((path, blob))
        if known is None:
            if len(self._rows) >= _MOST_ROWS:
                self._rows = {}
            known = self._rows[path, blob] = extract(path, self.content(blob), self._zone)
        return known

    def linked(self, blob: str) -> tuple[str, ...]:
        """Return the entities (`type--slug`) that a version's `[[wikilinks]]` lead to, each once."""
        known = self._linked.get(blob)
        if known is None:
            names = set(_LINK.findall(self.content(blob)))
            known = self._linked[blob] = tuple(linked_entity(name.decode(errors="replace")) for name in names)
        return known

    def merged(self, path: str, blob: str) -> dict[str, str]:
        """Return what the entity of a version of its file was merged into, by its id; nothing where it was not."""
        known = self._merged.get((path, blob))
        if known is None:
            is_merged = MERGED.search(self.content(blob)) is not None
            known = self._merged[path, blob] = self.rows(path, blob).merged_into if is_merged else {}
        return known

    def named(self, path: str, blob: str) -> Named | None:
        """Return the entity in a version of its file; None where it was merged into another."""
        try:
            return self._named[path, blob]
        except KeyError:
            pass
        stem = path.rsplit("/", 1)[1].removesuffix(".md")
        name = entity_name(stem)
        # What a note says in its front matter or in its name counts too.
        head = plain_head(self.content(blob), name) if name == stem else None
        if head is not None:
            found: Named | None = Named(
                f"entity:{name}", head.label, moment_of(head.created, "00:00", self._zone), head.pinned
            )
        else:
            records = self.rows(path, blob).memories
            found = next((Named(one.id, one.title, one.moment, one.pinned) for one in records), None)
        self._named[path, blob] = found
        return found

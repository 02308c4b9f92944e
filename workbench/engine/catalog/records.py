"""Rows of the catalog: the properties of each memory without opening its file."""

from __future__ import annotations

from datetime import datetime

from workbench.engine.errors import StorageError
from workbench.engine.markdown.statements import WrittenAccesses, has_ended
from workbench.engine.values import dataclass

# Merges followed from one entity to the next; more are a circle.
MOST_MERGES = 16


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory in the catalog.

    Args:
        id: Its identifier (see `engine.identifiers`).
        store: core, episodic, semantic, procedural, vault or file.
        path: Workspace-relative file.
        start_line: First line, 1-based.
        end_line: Last line, inclusive.
        title: A line that names it: the first sentence of an episode, an entity's label, a note's title.
        text: The memory's own text as in the file; only the beginning if it is very long.
        type: An episode's or entity's type, else the empty string.
        confidence: high, medium, low or the empty string.
        source: `conversation`, `user-explicit`, `reflection` or another word; empty if unknown.
        tags: Topical tags.
        moment: When it happened or was made, aware; None if the file does not say.
        pinned: Whether the text itself marks it as pinned.
        text_line: The first line of `text` in the file; None if it is `start_line`.
        used: The accesses that the text itself tells of, or None.
    """

    id: str
    store: str
    path: str
    start_line: int
    end_line: int
    title: str
    text: str
    type: str = ""
    confidence: str = ""
    source: str = ""
    tags: tuple[str, ...] = ()
    moment: datetime | None = None
    pinned: bool = False
    text_line: int | None = None
    used: WrittenAccesses | None = None


@dataclass(frozen=True)
class EntityRecord:
    """An entity of the graph: id (`entity:type--slug`), label, other names, and location."""

    id: str
    type: str
    label: str
    path: str
    aliases: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class EntityStory:
    """The content of an entity's file other than names, facts and relations.

    Args:
        events: Its timeline: (date as written or empty, text, source ids).
        questions: Its open questions.
        days: ISO days in the file, newest first.
        files: Number of files that claim this entity.
    """

    events: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    questions: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    files: int = 1


@dataclass(frozen=True)
class FactRecord:
    """One fact of an entity; `id` is `entity:type--slug#^block`, or the entity's id without a block id."""

    id: str
    entity: str
    text: str
    line: int
    since: str | None = None
    until: str | None = None
    superseded_by: str | None = None
    provenance: tuple[str, ...] = ()
    retired: bool = False

    def holds(self, today: str) -> bool:
        """Return whether it is still true on an ISO day: not retired, and its end not passed."""
        return not (self.retired or has_ended(self.until, today))


@dataclass(frozen=True)
class EdgeRecord:
    """A relation in the file of its source entity."""

    from_: str
    relation: str
    to: str
    confidence: str = ""
    since: str | None = None
    block: str | None = None


@dataclass(frozen=True)
class EntityMatch:
    """A candidate for a name.

    Args:
        entity: The candidate.
        how: `exact`, `alias` or `acronym` resolve it; `near` is a question for a person.
    """

    entity: EntityRecord
    how: str


class CatalogLost(StorageError):
    """The catalog was deleted, damaged or out of reach during a change; the next query rebuilds it from the files."""

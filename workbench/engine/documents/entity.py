"""Entity files, `memory/graph/entities/type--slug.md`: what is known about one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.documents.statement import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Args:
        text: The sentence, without provenance and block id.
        block_id: Without `^`; None for an item that has none.
        retired: Whether it stands under `## Superseded`.
        span: Its lines.
    """

    text: str
    provenance: Provenance
    block_id: str | None
    retired: bool
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Relation:
    """One line of `## Relations`.

    Args:
        name: As written: `develops`, `Inspired by`.
        targets: Entity ids (`type--slug`) of its wikilinks, one for a line that the engine wrote.
    """

    name: str
    targets: tuple[str, ...]
    provenance: Provenance
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Dated:
    """One line of `## Timeline`: a date (or None) and what happened."""

    date: str | None
    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Question:
    """One line of `## Open Questions`."""

    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True)
class EntityFile:
    """One entity's file. Edits return a new one.

    Args:
        id: `type--slug`, from the file's name.
        type: From the header comment, else from the id.
        label: The header's label, else a title that is not the id, else the first alias, else the slug in words.
        header: What the header comments say, keys in lower case (`type`, `created`, `decay score`, `pinned` …).
            Read, never rewritten.
        aliases: From `## Aliases`, the header and front matter.
        facts: Those that hold.
        retired: Those under `## Superseded`.
        others: Headings of sections that are none of the known ones.
    """

    path: str
    id: str
    type: str
    label: str
    source: SourceText
    header: tuple[tuple[str, str], ...]
    aliases: tuple[str, ...]
    summary: str
    facts: tuple[Fact, ...]
    retired: tuple[Fact, ...]
    timeline: tuple[Dated, ...]
    questions: tuple[Question, ...]
    relations: tuple[Relation, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> EntityFile:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    @classmethod
    def create(cls, path: str, *, label: str, created: str) -> EntityFile:
        """Return a new entity's file with title, header, and nothing known yet.

        Args:
            path: `memory/graph/entities/type--slug.md`.
            label: Its name for people.
            created: ISO date.
        """
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    @property
    def block_ids(self) -> frozenset[str]:
        """Every block id in the file, of whatever section."""
        raise NotImplementedError

    @property
    def created(self) -> str | None:
        """The date of the header, or None."""
        raise NotImplementedError

    @property
    def pinned(self) -> bool:
        """Whether the header says so."""
        raise NotImplementedError

    def add_fact(
        self, text: str, provenance: Provenance = Provenance(), *, block_id: str | None = None
    ) -> EntityFile:
        """Add a fact (it is `facts[-1]` of the result); a missing section is made. Makes a block id where none is given."""
        raise NotImplementedError

    def replace_fact(self, block_id: str, text: str) -> EntityFile:
        """Change what a fact says; provenance and block id stay. Raises `NotFound`."""
        raise NotImplementedError

    def set_provenance(self, block_id: str, provenance: Provenance) -> EntityFile:
        """Change what is known about a fact or relation. Raises `NotFound`."""
        raise NotImplementedError

    def retire_fact(
        self, fact: Fact, *, until: str | None = None, superseded_by: str | None = None
    ) -> EntityFile:
        """Move a fact under `## Superseded`, keeping its text, sources and block id. Raises `NotFound`."""
        raise NotImplementedError

    def restore_fact(self, block_id: str) -> EntityFile:
        """Move a retired fact back under `## Facts`, without `until` and `superseded by`. Raises `NotFound`."""
        raise NotImplementedError

    def add_relation(
        self,
        name: str,
        target: str,
        provenance: Provenance = Provenance(),
        *,
        block_id: str | None = None,
    ) -> EntityFile:
        """Add a relation to the entity `target` (`type--slug`); it is `relations[-1]` of the result."""
        raise NotImplementedError

    def remove_relation(self, name: str, target: str) -> EntityFile:
        """Remove a relation; of a line with several targets only that one. Raises `NotFound`."""
        raise NotImplementedError

    def add_timeline(self, date: str, text: str) -> EntityFile:
        """Add a line to the timeline, kept in the order of its dates where it is in order."""
        raise NotImplementedError

    def add_question(self, text: str) -> EntityFile:
        """Add an open question."""
        raise NotImplementedError

    def add_alias(self, alias: str) -> EntityFile:
        """Add another name under `## Aliases`; one that is there already changes nothing."""
        raise NotImplementedError

    def remove_alias(self, alias: str) -> EntityFile:
        """Remove a name from `## Aliases`. Raises `NotFound` where it is not listed there."""
        raise NotImplementedError

    def set_summary(self, text: str) -> EntityFile:
        """Replace the summary; a missing section is made."""
        raise NotImplementedError

    def remove_block(self, block_id: str) -> EntityFile:
        """Remove the item with this block id, of whatever section. Raises `NotFound`."""
        raise NotImplementedError

    def remove_item(self, span: LineSpan) -> EntityFile:
        """Remove an item that has no block id, by the lines it stands on."""
        raise NotImplementedError

    def item_source(self, block_id: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the section heading and the very lines of an item, for taking it back exactly; None if absent."""
        raise NotImplementedError

    def insert_lines(self, section: str, lines: Iterable[str]) -> EntityFile:
        """Put lines at the end of a section as they are (the counterpart of `item_source`)."""
        raise NotImplementedError

"""`memory/meta/pending-reflection.md`: what a reflection proposes, with a person's decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText

Decision = Literal["undecided", "approved", "rejected", "deferred"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory's id and what it says, word for word (empty where nothing is quoted)."""

    id: str
    quote: str


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One proposed change.

    Args:
        id: `r-012.1`.
        kind: The operation in lower-case words: `fact`, `relation`, `archive`, `core change` …
        target: The id of what it changes, `person--alex` or `core:identity:name`; empty where it has none.
        text: What shall stand there.
        before: What stands there now; empty where it adds.
        confidence: high, medium, low or empty.
        reason: Why; empty where none is given.
        needs: Ids of items that must be applied before this one.
        fields: Further `- label: text` lines, in their order.
        section: The heading it stands under.
    """

    id: str
    kind: str
    text: str
    target: str = ""
    before: str = ""
    confidence: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    needs: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    decision: Decision = "undecided"
    section: str = ""
    span: LineSpan | None = None


@dataclass(frozen=True, slots=True)
class ReviewSection:
    """A section as it is to be written: its heading, items, and free text (escaped so that it forges nothing)."""

    heading: str
    items: tuple[ReviewItem, ...] = ()
    prose: str = ""


@dataclass(frozen=True)
class PendingReflection:
    """The proposal. Edits return a new one and raise `NotFound` for an unknown item.

    Args:
        reflection: `r-012`, or empty in an empty file.
        created: ISO 8601 time, or empty.
        meta: The `**Key**: value` lines at the end (design document §10.5), keys as written.
        sections: Headings in the file's order.
    """

    path: str
    source: SourceText
    reflection: str
    created: str
    items: tuple[ReviewItem, ...]
    meta: tuple[tuple[str, str], ...]
    sections: tuple[str, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/pending-reflection.md") -> PendingReflection:
        """Read the file. Any bytes will do; two items with one id are a problem, and the first counts."""
        raise NotImplementedError

    @classmethod
    def create(
        cls,
        reflection: str,
        created: str,
        sections: Iterable[ReviewSection],
        meta: Iterable[tuple[str, str]] = (),
        path: str = "memory/meta/pending-reflection.md",
    ) -> PendingReflection:
        """Write a proposal, so that a parse gives the items back, whatever their texts hold."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def item(self, item_id: str) -> ReviewItem | None:
        """Find an item by its id."""
        raise NotImplementedError

    def decide(self, decisions: Iterable[tuple[str, Decision]]) -> PendingReflection:
        """Tick the boxes of several items; nothing else changes."""
        raise NotImplementedError

    def reword(self, item_id: str, text: str) -> PendingReflection:
        """Replace what an item proposes; its evidence stays."""
        raise NotImplementedError

    def remove(self, item_ids: Iterable[str]) -> PendingReflection:
        """Remove items with their evidence."""
        raise NotImplementedError

"""`memory/meta/audit-archive.md`: monthly digests of pruned audit lines (design document §12.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True, slots=True)
class MonthlyDigest:
    """One month.

    Args:
        month: `2026-01`.
        summary: The lines of `## Summary`.
        events: ISO date and text of each line of `## Notable Events`; the date is empty where a line has none.
    """

    month: str
    summary: tuple[str, ...]
    events: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AuditArchive:
    """The digests in the file's order; `spans` are their lines."""

    path: str
    source: SourceText
    digests: tuple[MonthlyDigest, ...]
    spans: tuple[LineSpan, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/audit-archive.md") -> AuditArchive:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def digest(self, month: str) -> MonthlyDigest | None:
        """Find a month, `2026-01`."""
        raise NotImplementedError

    def put(self, digest: MonthlyDigest) -> AuditArchive:
        """Add a month at the end, or replace it where it is."""
        raise NotImplementedError

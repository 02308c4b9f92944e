"""`memory/meta/reflection-log.md`: one record for each decided reflection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True, slots=True)
class ReflectionRecord:
    """One reflection, headed `## r-012 | 2026-02-03T03:00:00Z | approved | key:value …`.

    Args:
        id: `r-012`.
        time: ISO 8601 as written.
        outcome: approved, partial, rejected or another word.
        fields: Further `key:value` fields of the heading, for example `("items", "7/8")`.
        body: The summary, any Markdown; escapes undone.
    """

    id: str
    time: str
    outcome: str
    body: str
    fields: tuple[tuple[str, str], ...] = ()
    span: LineSpan | None = None


@dataclass(frozen=True)
class ReflectionLog:
    """All records in the file's order."""

    path: str
    source: SourceText
    records: tuple[ReflectionRecord, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/reflection-log.md") -> ReflectionLog:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def record(self, reflection_id: str) -> ReflectionRecord | None:
        """Find a record by its id."""
        raise NotImplementedError

    def append(self, record: ReflectionRecord) -> ReflectionLog:
        """Append a record; `span` of the given one is of no account."""
        raise NotImplementedError

    def remove(self, reflection_id: str) -> ReflectionLog:
        """Take a record out again. Raises `NotFound`."""
        raise NotImplementedError

"""`memory/meta/evolution.md`: how the agent's understanding has changed over its reflections (§10.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True, slots=True)
class Insight:
    """One item of a section, for example of `Active Threads`; nested lines included."""

    section: str
    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True)
class Evolution:
    """The sections and their insights in the file's order."""

    path: str
    source: SourceText
    sections: tuple[str, ...]
    insights: tuple[Insight, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/evolution.md") -> Evolution:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def add(self, section: str, text: str) -> Evolution:
        """Add an insight with a block id at the end of a section, which is made where it is missing."""
        raise NotImplementedError

    def remove(self, block_id: str) -> Evolution:
        """Remove an insight. Raises `NotFound`."""
        raise NotImplementedError

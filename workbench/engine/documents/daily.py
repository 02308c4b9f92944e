"""Flat daily logs, `memory/YYYY-MM-DD[-slug].md`, as stretches to show on a timeline; never written.

What makes one entry of a long conversation: a heading starts one; where a stretch under one heading runs
on, a pause of more than 30 minutes between two of its timestamps starts another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText

PAUSE_MINUTES: Final = 30


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said: `- 13:56 Caroline: …` or `## 09:00 user` with what follows.

    Args:
        time: `13:56`, or None.
        speaker: As written; empty where none is named.
        text: What was said.
        span: Its lines.
    """

    time: str | None
    speaker: str
    text: str
    span: LineSpan


@dataclass(frozen=True, slots=True)
class DailyEntry:
    """One stretch of a day.

    Args:
        time: When it starts, `13:56`, or None where the log does not say.
        title: Its heading, or its first line where it has none.
        span: All its lines, without blank lines at the end.
        turns: What was said in it, where it is a conversation.
        text: Its lines joined by `\\n`.
    """

    time: str | None
    title: str
    span: LineSpan
    turns: tuple[Turn, ...]
    text: str


@dataclass(frozen=True)
class DailyLog:
    """One flat log."""

    path: str
    date: str
    slug: str
    title: str
    source: SourceText
    entries: tuple[DailyEntry, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> DailyLog:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

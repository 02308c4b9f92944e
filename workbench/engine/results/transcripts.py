"""Answers about one transcript that somebody reads page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.results.sessions import SessionLine, SessionProblem


@dataclass(frozen=True)
class TranscriptPage:
    """Some lines of a transcript.

    Args:
        first: First line asked for, 1-based.
        lines: Those that could be read, in order.
        problems: Those that could not, and why.
        memories: Ids of the memories that were drawn from a line, by its number.
    """

    first: int
    lines: tuple[SessionLine, ...]
    problems: tuple[SessionProblem, ...] = ()
    memories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionPlace:
    """Where another program keeps sessions on this machine.

    Args:
        place: A state folder; it is only ever read.
        world: `files`, `database`, `both`, or `claude-code`.
        agents: Whose sessions it has; of Claude Code the projects.
    """

    place: str
    world: str
    agents: tuple[str, ...]

"""Answers about what became of memory since a moment, and about notes that nobody has read."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from workbench.engine.results.decay import Fall
from workbench.engine.values import dataclass


@dataclass(frozen=True, slots=True)
class SinceChange:
    """What became of one memory since a moment, by whom last; of what was added, by whom first.

    Args:
        change: added, changed, removed, archived, restored, pinned or unpinned.
        owner: Whose action it was, as undo sees it: `person`, `main`, `agent:NAME`, `reflection:r-012`, or a tag.
    """

    id: str
    store: str
    path: str
    title: str
    change: str
    timestamp: datetime
    actor: str
    owner: str
    commit: str


@dataclass(frozen=True)
class Since:
    """What became of memory since a moment, the newest first.

    Args:
        since: The moment, in the workspace's zone.
        now: When this was asked.
        commit: What memory held then; None where there was no history yet.
        learned: What came.
        changed: What reads differently, was pinned, unpinned or brought back.
        forgotten: What was deleted or archived.
        faded: What dropped out of recall by itself, each with the day.
        by: How many of what came, changed and went are whose, by owner, most first.
    """

    since: datetime
    now: datetime
    commit: str | None
    learned: tuple[SinceChange, ...] = ()
    changed: tuple[SinceChange, ...] = ()
    forgotten: tuple[SinceChange, ...] = ()
    faded: tuple[Fall, ...] = ()
    by: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class NotedLine:
    """What one voice says in a note.

    Args:
        id: By which it is cited, `file:PATH#L3-L5`, or the id of an episode.
        speaker: As the note says it; empty where it does not.
        moment: None where nothing says when.
    """

    id: str
    speaker: str
    text: str
    moment: datetime | None = None


@dataclass(frozen=True)
class Notes:
    """What the notes of a folder hold, before anybody has read them.

    Args:
        files: How many have passages.
        passages: Episodes, turns of logs and stretches of notes.
        size: Of the files, in bytes.
        first: The earliest moment that they name; None where they name none.
        last: The latest.
        named: Names with how often they are said or speak, most first.
        opening: The first of the passages.
        whole: Whether all of them were looked at; else the numbers are of those that were.
    """

    files: int = 0
    passages: int = 0
    size: int = 0
    first: datetime | None = None
    last: datetime | None = None
    named: tuple[tuple[str, int], ...] = ()
    opening: tuple[NotedLine, ...] = ()
    whole: bool = True

"""Takes texts out of the own sessions for good: out of transcripts, copies of them that mending left, and the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.errors import WorkbenchError
from workbench.engine.private_files import replacing
from workbench.engine.sessions.events import render_event
from workbench.engine.sessions.lines import FileLines, Lines
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.store import NAME, SessionStore

Erase = Callable[[str], str]


@dataclass(frozen=True)
class PurgedSessions:
    """What a purge did to sessions.

    Args:
        lines: Lines from which something was taken, 1-based, by the name of the transcript, `sessions/ID.jsonl`.
        left: Why a file could not be purged, by its name as above.
    """

    lines: dict[str, tuple[int, ...]]
    left: dict[str, str]


def purge_sessions(folder: Path, erase: Erase) -> PurgedSessions:
    """Take texts out of every transcript of a folder and out of its store; each line keeps its number.

    Args:
        folder: Of the own store; need not exist.
        erase: Returns a text without what has to go.
    """
    purged: dict[str, tuple[int, ...]] = {}
    left: dict[str, str] = {}
    for place in sorted(folder.glob("*.jsonl*")):
        if place.name.endswith(".lock") or not place.is_file():
            continue
        name = f"sessions/{place.name}"
        try:
            numbers = _purge_transcript(place, erase)
        except WorkbenchError as error:
            left[name] = str(error)
            continue
        if numbers:
            purged[name] = numbers
    if (folder / NAME).exists():
        try:
            SessionStore(folder).rewrite(lambda raw: without(raw, erase))
        except WorkbenchError as error:
            left[f"sessions/{NAME}"] = str(error)
    return PurgedSessions(purged, left)


def lines_with(lines: Lines, erase: Erase) -> Iterator[int]:
    """Give the numbers of the lines from which something would have to go; nothing is written."""
    for number, content in lines.read():
        if _purged(content, erase) is not None:
            yield number


def without(value: Any, erase: Erase) -> Any:
    """Return what JSON says without what has to go, in whatever text of it that stands."""
    if isinstance(value, str):
        return erase(value)
    if isinstance(value, dict):
        return {erase(key): without(item, erase) for key, item in value.items()}
    if isinstance(value, list):
        return [without(item, erase) for item in value]
    return value


def _purge_transcript(place: Path, erase: Erase) -> tuple[int, ...]:
    lines = FileLines(place)
    if next(lines_with(lines, erase), None) is None:
        return ()
    numbers = []
    with transcript_lock(place), replacing(place, "The transcript cannot be purged") as file:
        for number, content in lines.read():
            purged = _purged(content, erase)
            if purged is not None:
                numbers.append(number)
            file.write((content if purged is None else purged) + b"\n")
    return tuple(numbers)


def _purged(content: bytes, erase: Erase) -> bytes | None:
    """Return a line without what has to go, empty where it cannot be read; None where nothing has to."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
        return b"" if erase(text) != text else None
    left = without(said, erase)
    return render_event(left).rstrip(b"\n") if left != said else None

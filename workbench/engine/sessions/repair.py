"""Mends a transcript's file: what cannot be read is emptied, every line keeps its number, and a copy stays."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.engine.errors import StorageError
from workbench.engine.private_files import replacing
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions.events import read_event
from workbench.engine.sessions.lines import FileLines
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.tree import MOST_PROBLEMS


@dataclass(frozen=True)
class Mended:
    """What was done to a transcript.

    Args:
        repairs: One sentence each.
        problems: Lines that could not be read.
        copy: The file as it was; None where nothing was replaced.
    """

    repairs: tuple[str, ...]
    problems: tuple[SessionProblem, ...]
    copy: Path | None


def repair_transcript(place: Path, now: datetime) -> Mended:
    """Empty the lines of a transcript that cannot be read, and give its last line its end.

    Args:
        place: The file.
        now: Names the copy.

    Raises:
        Locked: Another program writes it.
        StorageError: The disk does not take it; the file is as it was.
    """
    lines = FileLines(place)
    if not lines.size():
        return Mended((), (), None)
    with transcript_lock(place):
        bad = dict(_unreadable(lines))
        torn = _is_torn(place)
        if not bad and not torn:
            return Mended((), (), None)
        copy = place.with_name(f"{place.name}.bak-{now:%Y%m%dT%H%M%S%f}")
        try:
            shutil.copy2(place, copy, follow_symlinks=False)
        except OSError as error:
            raise StorageError(
                f"The transcript cannot be mended: {error.strerror}.", where=str(place), remedy="Make room."
            ) from error
        with replacing(place, "The transcript cannot be mended") as file:
            for number, content in lines.read():
                file.write((b"" if number in bad else content) + b"\n")
    problems = tuple(
        SessionProblem(number, f"This line {why}; it was emptied.")
        for number, why in list(bad.items())[:MOST_PROBLEMS]
    )
    repairs = [f"Lines that could not be read were emptied ({len(bad):,})."] if bad else []
    if torn:
        repairs.append("The last line got its end.")
    return Mended(tuple(repairs), problems, copy)


def _unreadable(lines: FileLines) -> Iterator[tuple[int, str]]:
    for number, content in lines.read():
        event = read_event(number, content)
        if isinstance(event, str) and event:
            yield number, event


def _is_torn(place: Path) -> bool:
    with place.open("rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read(1) != b"\n"

"""Sessions of OpenClaw, Moltbot, Clawdbot and Claude Code: files line by line, databases event by event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.errors import WorkbenchError
from workbench.engine.importing.conversations import episodes_of
from workbench.engine.importing.opening import FoundFile, shown, single, walk
from workbench.engine.importing.pieces import Item, Place, Reading, Said, Skipped
from workbench.engine.importing.words import slug
from workbench.engine.sessions.foreign_database import DATABASE, DatabaseHome, DatabaseLines
from workbench.engine.sessions.lines import FileLines, Lines
from workbench.engine.sessions.said import turn_of

TRANSCRIPT = ".jsonl"
_TOLD_LINES = 20


@dataclass(frozen=True)
class Transcripts:
    """The transcripts in a folder, or one of them.

    Args:
        place: A state folder, a folder of transcripts, a transcript, or a database.
        form: `sessions` or `claude-code`.
    """

    place: Path
    form: str = "sessions"

    @property
    def name(self) -> str:
        return slug(self.place.stem if self.place.is_file() else self.place.name)

    def read(self, reading: Reading) -> Iterator[Item]:
        found: list[FoundFile] = []
        every = (
            [single(self.place)]
            if self.place.is_file()
            else walk(self.place, _is_transcript, own=reading.own)
        )
        for each in every:
            if isinstance(each, Skipped):
                yield each
            elif not each.relative.endswith(DATABASE) or each.size:
                found.append(each)
        total = reading.done + sum(each.size for each in found)
        reading.total = max(reading.total, total)
        for each in found:
            start = reading.done
            if each.relative.endswith(TRANSCRIPT):
                yield from self._transcript(each, reading)
            else:
                yield from self._database(each, reading)
            reading.done = start + each.size

    def _transcript(self, found: FoundFile, reading: Reading) -> Iterator[Item]:
        where = shown(found.relative)
        tags = tuple(tag for tag in (_owner(found.relative),) if tag)
        yield from conversation_in(FileLines(found.place), Place(where), reading, tags=tags)

    def _database(self, found: FoundFile, reading: Reading) -> Iterator[Item]:
        home = DatabaseHome(found.place)
        where = shown(found.relative)
        try:
            content, windows = home.read(), home.windows()
        except WorkbenchError as error:
            yield Skipped(where, error.told)
            return
        for problem in content.problems:
            yield Skipped(where, problem.message)
        for key, entry in content.entries.items():
            ids = dict.fromkeys((*windows.get(key, ()), entry.session_id))
            for session_id in filter(None, ids):
                lines = DatabaseLines(found.place, session_id)
                yield from conversation_in(lines, Place(f"{where}/{session_id}"), reading, tags=())


def conversation_in(lines: Lines, place: Place, reading: Reading, *, tags: tuple[str, ...]) -> Iterator[Item]:
    """Read one transcript; lines that are no JSON are told by their numbers, the first twenty of them.

    Args:
        lines: Of the transcript.
        place: As it is cited.
        reading: Told how far it is.
        tags: Of each episode.
    """
    broken: list[int] = []

    def turns() -> Iterator[Said]:
        for number, line in lines.read():
            reading.done += len(line) + 1
            turn = turn_of(number, line)
            if turn is not None:
                speaker, _, text = turn.text.partition(": ")
                yield Said(speaker, text, turn.moment, number)
            elif line.strip() and not _is_object(line):
                broken.append(number)

    try:
        yield from episodes_of(turns(), place, reading.zone, tags=tags)
    except WorkbenchError as error:
        yield Skipped(str(place), error.told)
    for number in broken[:_TOLD_LINES]:
        yield Skipped(f"{place}#L{number}", "This line is torn or no JSON.")
    if len(broken) > _TOLD_LINES:
        yield Skipped(str(place), f"{len(broken) - _TOLD_LINES:,} more lines are torn or no JSON.")


def _is_object(line: bytes) -> bool:
    stripped = line.strip()
    return stripped.startswith(b"{") and stripped.endswith(b"}")


def _is_transcript(relative: str) -> bool:
    return relative.endswith((TRANSCRIPT, DATABASE))


def _owner(relative: str) -> str:
    """Return the project or agent that a transcript is of."""
    parts = relative.split("/")
    for folder in ("projects", "agents"):
        if folder in parts[:-2]:
            return parts[parts.index(folder) + 1].strip("-").rpartition("-")[2]
    return ""

"""Session transcripts as an opt-in source of the index, reread in larger steps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from zoneinfo import ZoneInfo

from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.clock import Clock, in_zone
from workbench.engine.file_access import open_regular_file
from workbench.engine.markdown.source import Problem
from workbench.engine.search.chunks import FileRecords
from workbench.engine.search.outside_files import (
    OutsideFile,
    OutsideMask,
    SeenFile,
    SeenFiles,
    UnmaskedOutside,
    absolute,
    files_below,
    has_link,
    is_file,
    is_folder,
    single_file,
)
from workbench.engine.sessions.events import TranscriptTurn, turn_of
from workbench.engine.sessions.lines import masked_line
from workbench.engine.settings.sections import SearchSettings

STORE = "session"
FOLDER = "sessions/"
MOST_FILES = 20_000
# Images and tool results make lines of many megabytes; speech does not.
MOST_LINE_BYTES = 2_000_000
# A quiet conversation is read to its end, however little is new.
QUIET_SECONDS = 600
_PIECE_CHARACTERS = 20_000
_PIECE_LINES = 400
_TITLE_CHARACTERS = 60
_BLOCK = 1 << 20


class SessionTranscripts:
    """The transcripts of a user's sessions; empty unless `search.sessions` is set.

    A transcript is shown as `sessions/` and its path below the configured folder. A growing one is reread once
    enough was added (`search.session_delta_bytes`, `search.session_delta_messages`), or after ten quiet minutes.

    Args:
        root: The workspace folder, base of relative paths.
        settings: Whether, which and in what steps.
        zone: Of the day in titles.
        clock: Measures how long a transcript has been quiet.
        memory: File that keeps what was seen between runs, or None.
        eager: Read everything new, however little.
        mask: Masks secrets in transcripts.
    """

    def __init__(
        self,
        root: Path,
        settings: SearchSettings,
        zone: ZoneInfo,
        clock: Clock,
        memory: Path | None = None,
        *,
        eager: bool = False,
        mask: OutsideMask | None = None,
    ) -> None:
        self._root = root
        self._settings = settings
        self._zone = zone
        self._clock = clock
        self._eager = eager
        self._mask = mask or UnmaskedOutside()
        self._remembered = SeenFiles(memory if settings.sessions else None, self._mask.policy)
        self._problems: tuple[Problem, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Settings that could not be followed when transcripts were last listed."""
        return self._problems

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every transcript by shown path, the latest first."""
        found, self._problems = self._list()
        policy = self._mask.policy()
        seen: dict[str, SeenFile] = {}
        for shown, file in sorted(found.items(), key=lambda item: -item[1].stamp.mtime_ns):
            known = self._remembered.get(shown)
            if known is None or not self._may_wait(file, known):
                known = _taken(file, policy) or known
            if known is not None and known.size:
                seen[shown] = known
        self._remembered.replace(seen)
        return {shown: each.digest for shown, each in seen.items()}

    def read(self, paths: Sequence[str]) -> Iterable[FileRecords]:
        """Read and split these transcripts as far as their digest covers; skip others and lost ones."""
        found, _ = self._list()
        for path in paths:
            known = self._remembered.get(path)
            if path not in found or known is None:
                continue
            taken = _turns(found[path], known.size, self._mask)
            if taken is not None:
                digest, turns = taken
                yield FileRecords(path, digest, tuple(self._records(path, turns)))

    def _may_wait(self, file: OutsideFile, known: SeenFile) -> bool:
        """Return whether what was read of a transcript is enough for now."""
        if file.stamp == known.stamp:
            return True
        grown = file.stamp.size - known.size
        if self._eager or grown < 0 or file.stamp.inode != known.stamp.inode or grown == 0:
            return False
        quiet = self._clock.now().timestamp() - file.stamp.mtime_ns / 1e9
        if quiet >= QUIET_SECONDS or grown >= self._settings.session_delta_bytes:
            return False
        return _new_lines(file, known.size) < self._settings.session_delta_messages

    def _list(self) -> tuple[dict[str, OutsideFile], tuple[Problem, ...]]:
        if not self._settings.sessions:
            return {}, ()
        if not self._settings.session_paths:
            return {}, (
                Problem(
                    "search.session_paths",
                    None,
                    "Transcripts are to be searched, and no folder of transcripts is named.",
                    "Name it in your own config.toml, for example ~/.openclaw/agents/main/sessions.",
                ),
            )
        found: dict[str, OutsideFile] = {}
        problems = []
        for number, path in enumerate(self._settings.session_paths, 1):
            place = absolute(path, self._root)
            if has_link(place) or not (is_folder(place) or is_file(place)):
                problems.append(
                    Problem(
                        path[:200],
                        None,
                        "No transcripts are found here: the path does not exist, or a symbolic link stands on it.",
                        "Correct search.session_paths.",
                    )
                )
                continue
            for file in islice(_transcripts(place), MOST_FILES):
                name = _plain(file.relative)
                shown = FOLDER + name if FOLDER + name not in found else f"{FOLDER}{number}/{name}"
                found.setdefault(shown, file)
        return found, tuple(problems)

    def _records(self, shown: str, turns: Sequence[TranscriptTurn]) -> Iterator[MemoryRecord]:
        for piece in _pieces(turns):
            first, last = piece[0], piece[-1]
            moment = next((turn.moment for turn in piece if turn.moment), None)
            yield MemoryRecord(
                id=f"file:{shown}#L{first.line}-L{last.line}",
                store=STORE,
                path=shown,
                start_line=first.line,
                end_line=last.line,
                title=self._title(moment, turns[0]),
                text=_text(piece),
                type=STORE,
                source="conversation",
                moment=in_zone(moment, self._zone) if moment else None,
            )

    def _title(self, moment: datetime | None, opening: TranscriptTurn) -> str:
        day = f" of {in_zone(moment, self._zone):%Y-%m-%d}" if moment else ""
        words = opening.text.partition(": ")[2]
        short = words if len(words) <= _TITLE_CHARACTERS else words[: _TITLE_CHARACTERS - 1] + "…"
        return f"Session{day}: {short}"


def _transcripts(place: Path) -> Iterator[OutsideFile]:
    if is_folder(place):
        yield from files_below(place, lambda relative: relative.endswith(".jsonl"))
    elif place.name.endswith(".jsonl") and (file := single_file(place)):
        yield file


def _plain(relative: str) -> str:
    return "".join(each if each.isprintable() else "\ufffd" for each in relative).replace("#", "%23")


def _pieces(turns: Sequence[TranscriptTurn]) -> Iterator[Sequence[TranscriptTurn]]:
    """Split a long conversation, by characters or by lines of the file."""
    piece: list[TranscriptTurn] = []
    size = 0
    for turn in turns:
        if piece and (size > _PIECE_CHARACTERS or turn.line - piece[0].line >= _PIECE_LINES):
            yield piece
            piece, size = [], 0
        piece.append(turn)
        size += len(turn.text)
    if piece:
        yield piece


def _text(turns: Sequence[TranscriptTurn]) -> str:
    """Return turns each on its own line of the transcript, so that lines can be cited; other lines are blank."""
    lines = [""] * (turns[-1].line - turns[0].line + 1)
    for turn in turns:
        lines[turn.line - turns[0].line] = turn.text
    return "\n".join(lines)


def _taken(file: OutsideFile, policy: str) -> SeenFile | None:
    """Digest a transcript up to its last whole line; None if unreadable."""
    digest, whole = _digest_under(policy), 0
    try:
        with open_regular_file(file.place) as opened:
            for line, size in _lines(opened, None):
                digest.update(line)
                whole += size
    except OSError:
        return None
    return SeenFile(file.stamp, digest.digest(), whole)


def _turns(file: OutsideFile, most: int, mask: OutsideMask) -> tuple[bytes, list[TranscriptTurn]] | None:
    digest, turns = _digest_under(mask.policy()), []
    try:
        with open_regular_file(file.place) as opened:
            for number, (line, size) in enumerate(_lines(opened, most), 1):
                digest.update(line)
                if len(line) == size and (turn := turn_of(number, masked_line(line, mask.text))):
                    turns.append(turn)
    except OSError:
        return None
    return digest.digest(), turns


def _digest_under(policy: str) -> hashlib.blake2b:
    """Return a hash seeded with the masking policy."""
    return hashlib.blake2b(digest_size=16, salt=policy.encode())


def _lines(opened: BinaryIO, most: int | None) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines and their sizes in bytes; an overlong line is cut, a torn last line skipped.

    Args:
        opened: At its beginning.
        most: Maximum bytes to read; None reads all.
    """
    left = most
    while left is None or left > 0:
        line = opened.readline(MOST_LINE_BYTES)
        size = len(line)
        last = line
        while last and not last.endswith(b"\n"):
            last = opened.readline(_BLOCK)
            size += len(last)
        if not last:
            return
        yield line, size
        if left is not None:
            left -= size


def _new_lines(file: OutsideFile, start: int) -> int:
    count = 0
    try:
        with open_regular_file(file.place) as opened:
            opened.seek(start)
            while block := opened.read(_BLOCK):
                count += block.count(b"\n")
    except OSError:
        return 0
    return count

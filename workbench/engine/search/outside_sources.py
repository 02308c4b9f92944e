"""Sources of the index beside memory: Markdown files that the settings name, and transcripts of sessions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.file_rows import MOST_BYTES, extract
from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.clock import Clock, in_zone
from workbench.engine.errors import OutsideWorkspace
from workbench.engine.file_access import open_regular_file, replace_file
from workbench.engine.markdown.source import Problem
from workbench.engine.search.chunks import FileRecords
from workbench.engine.search.outside_files import (
    OutsideFile,
    OutsideMask,
    SeenFile,
    SeenFiles,
    absolute,
    files_below,
    has_link,
    is_file,
    is_folder,
    matches_glob,
    single_file,
    split_glob,
)
from workbench.engine.sessions.events import TranscriptTurn, masked_line, turn_of
from workbench.engine.settings.sections import SearchSettings
from workbench.engine.values import dataclass

PREFIX = "extra:"
_STORE = "extra"
MOST_FILES = 20_000
_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True)
class _Listed:
    shown: str
    file: OutsideFile


class ExtraPaths:
    """The extra Markdown files of a workspace, as a source of the index.

    A file is shown as `extra:` and its path as the settings write it, for example `extra:~/notes/team/deploy.md`.

    Args:
        root: The workspace folder, absolute.
        paths: Files, folders and globs, absolute or relative to the workspace. The settings ensure that the
            workspace's own file names only occur inside it.
        zone: Time zone of days in file names.
        memory: File that keeps what was seen between runs, or None.
        mask: Masks secrets in the files.

    Attributes:
        problems: Settings that could not be followed at the last listing, and files that were cut.
    """

    def __init__(
        self,
        root: Path,
        paths: Sequence[str],
        zone: ZoneInfo,
        memory: Path | None,
        mask: OutsideMask,
    ) -> None:
        self._root = root
        self._paths = tuple(paths)
        self._zone = zone
        self._mask = mask
        self._remembered = SeenFiles(memory, self._mask.policy)
        self.problems: tuple[Problem, ...] = ()

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by shown path; only files with a changed stamp are read."""
        found, problems = self._list()
        seen: dict[str, SeenFile] = {}
        for shown, listed in found.items():
            known = self._remembered.get(shown)
            if known is None or known.stamp != listed.file.stamp:
                content = self._masked(listed.file)
                if content is None:
                    continue
                known = SeenFile(listed.file.stamp, _digest(content), len(content))
            seen[shown] = known
            if listed.file.stamp.size > MOST_BYTES:
                problems.append(_cut(shown))
        self._remembered.replace(seen)
        self.problems = tuple(problems)
        return {shown: each.digest for shown, each in seen.items()}

    def read(self, paths: Sequence[str]) -> Iterable[FileRecords]:
        """Read and split these files, skipping those that are gone or not listed."""
        found, _ = self._list()
        for path in paths:
            if path in found and (content := self._masked(found[path].file)) is not None:
                yield FileRecords(path, _digest(content), self._records(path, content))

    def read_extra(self, shown_path: str) -> bytes:
        """Return one file by its shown path, unmasked, up to 4 MiB.

        Raises:
            OutsideWorkspace: The settings list no such file, or it cannot be read.
        """
        found, _ = self._list()
        listed = found.get(shown_path)
        content = _content(listed.file) if listed else None
        if content is None:
            raise OutsideWorkspace(
                "This is none of the extra files that search reads.",
                where=shown_path[:200],
                remedy="Take a path as search gives it; search.extra_paths says which files these are.",
            )
        return content

    def _masked(self, file: OutsideFile) -> bytes | None:
        content = _content(file)
        return None if content is None else self._mask.elsewhere(content)

    def _list(self) -> tuple[dict[str, _Listed], list[Problem]]:
        """Return the files by shown path, each once, and the settings that could not be followed."""
        found: dict[str, _Listed] = {}
        places: set[Path] = set()
        problems: list[Problem] = []
        for path in filter(None, self._paths):
            try:
                files = list(islice(self._files(path), MOST_FILES + 1))
            except _NotFollowed as error:
                problems.append(Problem(path[:200], None, str(error), error.remedy))
                continue
            for listed in files:
                if listed.file.place in places or self._is_memory(listed.file.place):
                    continue
                if len(found) == MOST_FILES:
                    problems.append(
                        Problem(
                            path[:200],
                            None,
                            f"There are more than {MOST_FILES:,} extra files; the rest is not searched.",
                            "Name fewer folders in search.extra_paths.",
                        )
                    )
                    return found, problems
                places.add(listed.file.place)
                found.setdefault(listed.shown, listed)
        return found, problems

    def _files(self, path: str) -> Iterator[_Listed]:
        fixed, pattern = split_glob(path)
        place = absolute(fixed or ".", self._root)
        if has_link(place, self._root if place.is_relative_to(self._root) else None):
            raise _NotFollowed(
                "This path leads over a symbolic link, and links are not followed.", "Name the real path."
            )
        shown = fixed.rstrip("/")
        if is_file(place):
            if not _is_markdown(place.name):
                raise _NotFollowed("This is no Markdown file.", "Name files that end in .md.")
            file = single_file(place)
            if file:
                yield _Listed(_shown(shown), file)
            return
        if not is_folder(place):
            raise _NotFollowed("There is no such file or folder.", "Correct search.extra_paths.")
        for file in files_below(
            place, lambda relative: _is_markdown(relative) and matches_glob(relative, pattern)
        ):
            yield _Listed(_shown(f"{shown}/{file.relative}" if fixed else file.relative), file)

    def _is_memory(self, place: Path) -> bool:
        """Return whether the catalog already has the file, or it is the engine's own."""
        if not place.is_relative_to(self._root):
            return False
        relative = place.relative_to(self._root).as_posix()
        return layout.is_tracked(relative) or relative in layout.PROJECTIONS

    def _records(self, shown: str, content: bytes) -> tuple[MemoryRecord, ...]:
        moment = _moment(shown, self._zone)
        # Seen from a neutral folder, the file's name gives it no special kind.
        found = extract(f"extra/{_name(shown).rpartition('.')[0]}.md", content, self._zone).memories
        return tuple(
            replace(
                record,
                id=f"file:{shown}#L{record.start_line}-L{record.end_line}",
                store=_STORE,
                path=shown,
                moment=moment,
            )
            for record in found
        )


class _NotFollowed(Exception):
    """A configured path that leads to no file; the text says why."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def _is_markdown(relative: str) -> bool:
    return relative.lower().endswith(_SUFFIXES)


def _shown(path: str) -> str:
    """Return a file's name for results: one line, without the character that separates line numbers."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in path)
    return PREFIX + plain.replace("#", "%23")


def _name(shown: str) -> str:
    return shown.rpartition("/")[2].removeprefix(PREFIX)


def _moment(shown: str, zone: ZoneInfo) -> datetime | None:
    day = layout.day_in_name(shown)
    return datetime.combine(day, time(), zone) if day else None


def _content(file: OutsideFile) -> bytes | None:
    try:
        with open_regular_file(file.place) as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError:
        return None
    if len(content) <= MOST_BYTES:
        return content
    return content[: content.rfind(b"\n", 0, MOST_BYTES) + 1 or MOST_BYTES]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _cut(shown: str) -> Problem:
    return Problem(
        shown,
        None,
        "This file is larger than 4 MiB; what comes after that is not searched.",
        "Part it into several files.",
    )


STORE = "session"
FOLDER = "sessions/"
# Images and tool results make lines of many megabytes; speech does not.
MOST_LINE_BYTES = 2_000_000
# A quiet conversation is read to its end, however little is new.
QUIET_SECONDS = 600
_PIECE_CHARACTERS = 20_000
_PIECE_LINES = 400
_TITLE_CHARACTERS = 60
_BLOCK = 1 << 20


class SessionTranscripts:
    """The transcripts of the workspace's own sessions and of a user's others; empty unless `search.sessions` is set.

    A transcript is shown as `sessions/` and its path below its folder. A growing one is reread once
    enough was added (`search.session_delta_bytes`, `search.session_delta_messages`), or after ten quiet minutes.

    Args:
        root: The workspace folder, base of relative paths.
        settings: Whether, which and in what steps.
        zone: Of the day in titles.
        clock: Measures how long a transcript has been quiet.
        memory: File that keeps what was seen between runs, or None.
        mask: Masks secrets in transcripts.
        own: Returns the folder of the workspace's own sessions, which need not exist.

    Attributes:
        problems: Settings that could not be followed at the last listing.
    """

    def __init__(
        self,
        root: Path,
        settings: SearchSettings,
        zone: ZoneInfo,
        clock: Clock,
        memory: Path | None,
        mask: OutsideMask,
        own: Callable[[], Path],
    ) -> None:
        self._root = root
        self._settings = settings
        self._own = own
        self._zone = zone
        self._clock = clock
        self._mask = mask
        self._remembered = SeenFiles(memory if settings.sessions else None, self._mask.policy)
        self.problems: tuple[Problem, ...] = ()

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every transcript by shown path, the latest first."""
        found, self.problems = self._list()
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
        if grown < 0 or file.stamp.inode != known.stamp.inode or grown == 0:
            return False
        quiet = self._clock.now().timestamp() - file.stamp.mtime_ns / 1e9
        if quiet >= QUIET_SECONDS or grown >= self._settings.session_delta_bytes:
            return False
        return _new_lines(file, known.size) < self._settings.session_delta_messages

    def _list(self) -> tuple[dict[str, OutsideFile], tuple[Problem, ...]]:
        if not self._settings.sessions:
            return {}, ()
        # These come first, so that `sessions/ID.jsonl` is the transcript that memories cite by this name.
        own = self._own()
        found = {FOLDER + _plain(file.relative): file for file in islice(_transcripts(own), MOST_FILES)}
        problems = []
        for number, path in enumerate(self._settings.session_paths, 1):
            place = absolute(path, self._root)
            if place == own:
                continue
            if has_link(place) or not (is_folder(place) or is_file(place)):
                problems.append(
                    Problem(
                        path[:200],
                        None,
                        "No transcripts are found here: the path does not exist, or leads over a symbolic link.",
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


class TranscriptCopies:
    """Copies of transcripts as Markdown, for a program that searches files: what was said, masked, and nothing else.

    Args:
        transcripts: Those that are copied.
        days: For how many days after its last word one is copied; 0 for ever.
        clock: Says what day it is.
    """

    def __init__(self, transcripts: SessionTranscripts, days: int, clock: Clock) -> None:
        self._transcripts = transcripts
        self._days = days
        self._clock = clock

    def bring_up_to_date(self, folder: Path) -> None:
        """Copy what is new or changed into a folder of this class's own, and delete what is gone or too old.

        Raises:
            OSError: The folder cannot be made.
            StorageError: A copy cannot be written.
        """
        manifest = folder / ".copied.json"
        digests = {path: digest.hex() for path, digest in self._transcripts.digests().items()}
        copied = _copied(manifest)
        kept = {
            path: (digest, last)
            for path, (digest, last) in copied.items()
            if digest == digests.get(path) and (self._is_over(last) or _copy_of(folder, path).exists())
        }
        for file in self._transcripts.read([path for path in digests if path not in kept]):
            moments = [record.moment for record in file.records if record.moment]
            last = max(moments).timestamp() if moments else 0.0
            kept[file.path] = (file.digest.hex(), last)
            if file.records and not self._is_over(last):
                place = _copy_of(folder, file.path)
                place.parent.mkdir(parents=True, exist_ok=True)
                lines = (line for record in file.records for line in record.text.split("\n") if line.strip())
                text = f"# {file.records[0].title}\n\n" + "\n\n".join(lines) + "\n"
                with replace_file(place, "A transcript cannot be copied for QMD") as copy:
                    copy.write(text.encode())
        for path in copied.keys() | kept.keys():
            if path not in kept or self._is_over(kept[path][1]):
                _copy_of(folder, path).unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(manifest, "The list of copied transcripts cannot be written") as listed:
            listed.write(json.dumps(kept).encode())

    def _is_over(self, last: float) -> bool:
        return bool(self._days and last) and self._clock.now().timestamp() - last > self._days * 86_400


def _copied(manifest: Path) -> dict[str, tuple[str, float]]:
    try:
        known = json.loads(manifest.read_text("utf-8"))
        return {str(path): (str(digest), float(last)) for path, (digest, last) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _copy_of(folder: Path, shown: str) -> Path:
    return folder / (shown.removeprefix(FOLDER).removesuffix(".jsonl") + ".md")


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

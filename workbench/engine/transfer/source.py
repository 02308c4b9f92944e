"""What an import reads: files opened with limits, and the pieces, notes and stored files found in them."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, tzinfo
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, StorageError
from workbench.engine.file_access import open_outside_file, printable_path
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_KEY_BYTES = 8
_DAY = lazy_pattern(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_CLOCK = lazy_pattern(r"(?<![\d:])([01]?\d|2[0-3])[:：]([0-5]\d)(?![\d])")
_NAME = lazy_pattern(r"[^a-z0-9]+")
_LONGEST_NAME = 40
MOST_FILES = 50_000
MOST_DEPTH = 40
MOST_DOCUMENT_BYTES = 8 << 20
"""Maximum size; a longer document is a book or an attack."""
LINK = "It is a symbolic link; links are never followed."
MANIFEST = "workbench-export.json"
"""Marks an exported folder."""
_OWN = "It is already this workspace’s own."
_WHOLE = "It is a workspace of Workbench, or an export of one; import it by itself."
_PASSED_OVER = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Position of an item in the imported data.

    Args:
        file: Its path below the named folder, or the named file's own name; in an archive, the member's.
        first: Its first line, 1-based; None if the form has no lines.
        part: Named part, such as a conversation's id.
    """

    file: str
    first: int | None = None
    last: int | None = None
    part: str = ""

    def __str__(self) -> str:
        if self.part:
            return f"{self.file}#{self.part}"
        if self.first is None:
            return self.file
        end = f"-L{self.last}" if self.last not in (None, self.first) else ""
        return f"{self.file}#L{self.first}{end}"


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """One turn of a conversation.

    Args:
        speaker: `User` or `Assistant`.
        line: 1-based line of the file; None if the form has no lines.
    """

    speaker: str
    text: str
    moment: datetime | None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to remember: an episode, or a proposal.

    Args:
        text: Its text; for a conversation, what precedes the turns.
        moment: When it happened; None if unknown.
        is_dated: Whether the data states the moment, rather than the file's age.
        turns: Turns of a conversation, complete.
        store: Store for a proposal; None lets its wording decide.
        confidence: high, medium or low.
    """

    text: str
    place: SourcePlace
    moment: datetime | None = None
    is_dated: bool = False
    turns: tuple[ImportedTurn, ...] = ()
    store: str | None = None
    type: str = "event"
    confidence: str = "high"
    tags: tuple[str, ...] = ()

    @property
    def body(self) -> str:
        """Return the text to store."""
        if not self.turns:
            return self.text
        said = "\n\n".join(map(str, self.turns))
        return f"{self.text}\n\n{said}" if self.text else said

    @property
    def key(self) -> str:
        """Return the piece's identity, stable across imports and moved files.

        A conversation may grow: it is identified by its first turn.
        """
        if self.turns:
            return digest("turn", *_identity(self.turns[0]))
        day = self.moment.date().isoformat() if self.moment and self.is_dated else ""
        return digest("text", day, text_key(self.text))

    def standing(self, count: int | None = None) -> str:
        """Return how far a conversation goes: the number of its turns, and their digest.

        Args:
            count: Count only this many first turns; all by default.
        """
        turns = self.turns if count is None else self.turns[:count]
        return f"{len(turns)}:{digest(*(part for turn in turns for part in _identity(turn)))}"

    def after(self, count: int) -> Piece:
        """Return the rest of a conversation."""
        rest = self.turns[count:]
        first = next((turn.line for turn in rest if turn.line is not None), self.place.first)
        moment = next((turn.moment for turn in rest if turn.moment is not None), self.moment)
        return replace(self, turns=rest, moment=moment, place=replace(self.place, first=first))


@dataclass(frozen=True, slots=True)
class Note:
    """A document to keep verbatim.

    Args:
        path: POSIX path below the import's folder; ends with `.md`.
        moment: Its last change, or the day it states itself.
    """

    path: str
    text: str
    place: SourcePlace
    moment: datetime | None

    @property
    def key(self) -> str:
        """Return the document's identity, stable across imports."""
        return digest("note", self.text)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a workspace, to be restored at its path.

    Args:
        path: Workspace-relative, as in the export; not checked yet.
    """

    path: str
    content: bytes
    place: SourcePlace

    @property
    def key(self) -> str:
        """Return the file's identity, stable across imports."""
        return digest("file", self.path, hashlib.sha256(self.content).hexdigest())


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something skipped, and why.

    Args:
        where: File with line, or part.
        reason: One sentence.
    """

    where: str
    reason: str


Item = Piece | Note | StoredFile | Skipped


@dataclass
class ReadingProgress:
    """Progress of reading a source.

    Args:
        zone: Default zone for days and times without one.
        own: The open workspace, skipped if it lies inside the source.
        total: Total bytes; 0 if unknown.
    """

    zone: tzinfo
    own: Path | None = None
    total: int = 0
    done: int = 0


class Source(Protocol):
    """Something to import, its format known."""

    @property
    def form(self) -> str:
        """Return its format."""
        ...

    @property
    def name(self) -> str:
        """Return a short name for folders and actors: letters, digits, `-`."""
        ...

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        """Yield its items.

        Args:
            reading: Updated with progress.
        """
        ...


def digest(*parts: str) -> str:
    """Return the digest of several texts."""
    made = hashlib.blake2b(digest_size=_KEY_BYTES)
    for part in parts:
        encoded = part.encode("utf-8", "replace")
        made.update(len(encoded).to_bytes(8, "big") + encoded)
    return made.hexdigest()


def _identity(turn: ImportedTurn) -> Sequence[str]:
    return (turn.moment.isoformat() if turn.moment else "", turn.speaker, turn.text)


def day_in(text: str) -> date | None:
    """Return the first day, `YYYY-MM-DD`, in a text, or None."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[1])
        except ValueError:
            continue
    return None


def clock_in(text: str) -> tuple[int, int] | None:
    """Return the first time of day in a text as hour and minute, or None."""
    found = _CLOCK.search(text)
    return (int(found[1]), int(found[2])) if found else None


def moment_of(value: object) -> datetime | None:
    """Parse ISO 8601 text, or seconds or milliseconds since 1970; None if invalid."""
    try:
        if isinstance(value, str) and value:
            moment = datetime.fromisoformat(value)
            return _in_every_zone(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return _in_every_zone(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _in_every_zone(moment: datetime) -> datetime | None:
    """Return a moment representable in every zone; None at the ends of the calendar."""
    return moment if MINYEAR < moment.year < MAXYEAR else None


def slug(name: str) -> str:
    """Return a name as one word of lower-case letters and digits, for folders and actors."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _NAME.sub("-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "import"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file.

    Args:
        relative: Its POSIX path below the named folder, or its own name if named directly.
    """

    place: Path
    relative: str
    size: int
    changed: datetime


def named_place(source: Path) -> Path:
    """Return the path a person named, following links in it.

    Raises:
        NotFound: It does not exist.
        InvalidInput: It is neither file nor folder.
        StorageError: It is not readable.
    """
    try:
        place = source.expanduser().resolve()
        kind = place.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFound(
            "There is nothing to import here.",
            where=str(source)[:300],
            remedy="Name a file or folder that exists.",
        ) from error
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise InvalidInput(
            "This is neither a file nor a folder.", where=str(source)[:300], remedy="Name a file or a folder."
        )
    if not os.access(place, os.R_OK | (os.X_OK if stat.S_ISDIR(kind) else 0)):
        raise StorageError(
            "This cannot be read.",
            where=printable_path(str(source)),
            remedy="Give yourself the right to read it.",
        )
    return place


def list_files(
    place: Path,
    wanted: Callable[[str], bool],
    *,
    own: Path | None,
    hidden: frozenset[str] = frozenset(),
) -> tuple[list[FoundFile], list[Skipped]]:
    """Return a named file, or the files below a folder, and what was passed over; see `walk_files`."""
    if place.is_file():
        return [_found(place, place.name, place.stat())], []
    found: list[FoundFile] = []
    skipped: list[Skipped] = []
    for each in walk_files(place, wanted, own=own, hidden=hidden):
        if isinstance(each, Skipped):
            skipped.append(each)
        else:
            found.append(each)
    return found, skipped


def walk_files(
    folder: Path,
    wanted: Callable[[str], bool],
    *,
    own: Path | None = None,
    hidden: frozenset[str] = frozenset(),
) -> Iterator[FoundFile | Skipped]:
    """Yield the files below a folder in order of names; links are reported, never followed.

    Args:
        wanted: Selects files by their path below it.
        own: The open workspace, which is reported and skipped.
        hidden: Names of hidden folders to enter; others are skipped.
    """
    count = 0
    waiting = [(os.fspath(folder), "", 0)]
    while waiting:
        place, prefix, depth = waiting.pop()
        try:
            if own is not None and own.samefile(place):
                yield Skipped(printable_path(prefix) or ".", _OWN)
                continue
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(printable_path(prefix) or ".", f"The folder cannot be read: {error.strerror}.")
            continue
        if prefix and any(entry.name in (MANIFEST, layout.HISTORY) for entry in entries):
            yield Skipped(printable_path(prefix), _WHOLE)
            continue
        folders = []
        for entry in entries:
            relative = prefix + entry.name
            if entry.name in _PASSED_OVER or (entry.name.startswith(".") and entry.name not in hidden):
                continue
            if entry.is_symlink():
                yield Skipped(printable_path(relative), LINK)
            elif entry.is_dir(follow_symlinks=False):
                if depth < MOST_DEPTH:
                    folders.append((entry.path, relative + "/", depth + 1))
                else:
                    yield Skipped(
                        printable_path(relative), f"Folders are nested more than {MOST_DEPTH} deep here."
                    )
            elif wanted(relative) and entry.is_file(follow_symlinks=False):
                count += 1
                if count > MOST_FILES:
                    yield Skipped(
                        printable_path(relative),
                        f"There are more than {MOST_FILES:,} files; the rest was left.",
                    )
                    return
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    yield Skipped(
                        printable_path(relative), f"The file cannot be looked at: {error.strerror}."
                    )
                    continue
                yield _found(Path(entry.path), relative, status)
        waiting.extend(reversed(folders))


def open_file(place: Path) -> BinaryIO:
    """Open a file that was found.

    Raises:
        OutsideWorkspace: By now it is a symlink, or not a regular file.
        StorageError: It is gone or cannot be read.
    """
    opened = open_outside_file(place)
    if opened is None:
        raise StorageError("The file is gone.", where=printable_path(str(place)), remedy="Import again.")
    return opened


def read_text(found: FoundFile) -> str:
    r"""Return a document's text with line ends `\n`.

    Raises:
        DocumentError: It is too long, or not certainly text.
        OutsideWorkspace, StorageError: As `open_file`.
    """
    with open_file(found.place) as opened:
        content = opened.read(MOST_DOCUMENT_BYTES + 1)
    return as_text(content, found.relative)


def as_text(content: bytes, where: str, most: int = MOST_DOCUMENT_BYTES) -> str:
    r"""Decode bytes as text with line ends `\n`.

    Raises:
        DocumentError: They are too many, or not text.
    """
    if len(content) > most:
        raise DocumentError(
            f"It is longer than {most >> 20} MB.",
            where=printable_path(where),
            remedy="Part it into several documents.",
        )
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            f"It is no UTF-8 text (line {line}).", where=printable_path(where), remedy="Save it as UTF-8."
        ) from error
    if "\0" in text:
        raise DocumentError("It is no text.", where=printable_path(where), remedy="Export it as text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_beginning(place: Path) -> bytes:
    """Return the first page of a file."""
    with open_file(place) as opened:
        return opened.read(4096)


def place_of(found: FoundFile, first: int | None = None, last: int | None = None) -> SourcePlace:
    """Return the position of some lines of a file."""
    return SourcePlace(printable_path(found.relative), first, last)


def _found(place: Path, relative: str, status: os.stat_result) -> FoundFile:
    return FoundFile(place, relative, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))

"""What an import reads: files opened with limits, and the pieces, notes and stored files found in them."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, tzinfo
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, OutsideWorkspace, StorageError
from workbench.engine.memory.wording import text_key

_KEY_BYTES = 8


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where something stands in what is imported.

    Args:
        file: Its path below what was named, or that one's own name; in an archive, the member's.
        first: Its first line, 1-based; None where the form has no lines.
        last: Its last line.
        part: A part that has a name of its own, such as a conversation's id.
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
        text: What was said.
        moment: When, aware; None where nothing tells.
        line: Of the file, 1-based; None where the form has no lines.
    """

    speaker: str
    text: str
    moment: datetime | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to be remembered: an episode, or a proposal.

    Args:
        text: What it says; of a conversation, what stands above its turns.
        place: Where it stands.
        moment: When it happened; None where nothing tells.
        is_dated: Whether the moment is said by what was read, rather than by the age of a file.
        turns: Of a conversation, whole.
        store: Where it would belong as a proposal; None lets its words decide.
        type: What kind of episode it is.
        confidence: high, medium or low.
        tags: Topical tags.
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
        """Return the text as it is stored."""
        if not self.turns:
            return self.text
        said = "\n\n".join(map(str, self.turns))
        return f"{self.text}\n\n{said}" if self.text else said

    @property
    def key(self) -> str:
        """Return what the same piece has again at the next import, wherever its file lies by then.

        A conversation may go on: it is known by its first turn.
        """
        if self.turns:
            return digest("turn", *_identity(self.turns[0]))
        day = self.moment.date().isoformat() if self.moment and self.is_dated else ""
        return digest("text", day, text_key(self.text))

    def standing(self, count: int | None = None) -> str:
        """Return how far a conversation goes: the number of its turns, and their digest.

        Args:
            count: Of the first turns that are meant; all by default.
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
    """A document to be kept as it is.

    Args:
        path: Where it goes below the import's folder; POSIX, ends with `.md`.
        text: All of it.
        place: Where it stands.
        moment: Of its last change, or the day that it names itself.
    """

    path: str
    text: str
    place: SourcePlace
    moment: datetime | None = None

    @property
    def key(self) -> str:
        """Return what the same document has again."""
        return digest("note", self.text)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a workspace, to stand where it stood.

    Args:
        path: Workspace-relative, as the export names it; not checked yet.
        content: All of it.
        place: Where it stands.
    """

    path: str
    content: bytes
    place: SourcePlace

    @property
    def key(self) -> str:
        """Return what the same file has again."""
        return digest("file", self.path, hashlib.sha256(self.content).hexdigest())


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left aside, and why.

    Args:
        where: File with line, or part.
        reason: One sentence.
    """

    where: str
    reason: str


Item = Piece | Note | StoredFile | Skipped


@dataclass
class ReadingProgress:
    """How far a source was read.

    Args:
        zone: Of days and times in what is read that name none.
        own: The open workspace: where it lies in what is read, it is left out.
        total: Bytes there are; 0 where nobody knows.
        done: Bytes that were read.
    """

    zone: tzinfo
    own: Path | None = None
    total: int = 0
    done: int = 0


class Source(Protocol):
    """Something that can be imported, once it is known what it is."""

    @property
    def form(self) -> str:
        """Return the name of its form."""
        ...

    @property
    def name(self) -> str:
        """Return a short name for folders and actors: letters, digits, `-`."""
        ...

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        """Give everything in it, one by one.

        Args:
            reading: Told how far it is.
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


_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3])[:：]([0-5]\d)(?![\d])")
_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 40


def day_in(text: str) -> date | None:
    """Return the first day, `YYYY-MM-DD`, in a text; None where there is none."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[1])
        except ValueError:
            continue
    return None


def clock_in(text: str) -> tuple[int, int] | None:
    """Return the first time of day in a text as hour and minute; None where there is none."""
    found = _CLOCK.search(text)
    return (int(found[1]), int(found[2])) if found else None


def moment_of(value: object) -> datetime | None:
    """Return the moment that ISO 8601 text, or seconds or milliseconds since 1970, mean; None where they mean none."""
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
    """Return a moment that every zone has a day for; None for one at the ends of the calendar."""
    return moment if MINYEAR < moment.year < MAXYEAR else None


def slug(name: str) -> str:
    """Return a name as one word of lower-case letters and digits, for folders and actors."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _NAME.sub("-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "import"


MOST_FILES = 50_000
MOST_DEPTH = 40
MOST_DOCUMENT_BYTES = 8 << 20
"""A longer document is a book or an attack; nobody remembers it in one piece."""
LINK = "It is a symbolic link; links are never followed."
MANIFEST = "workbench-export.json"
"""Lies in a folder that was exported."""
_OWN = "It is already this workspace’s own."
_WHOLE = "It is a workspace of Workbench, or an export of one; import it by itself."
_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file.

    Args:
        place: Where it is.
        relative: Its POSIX path below the folder that was named; its own name where it was named itself.
        size: Bytes.
        changed: When its content was changed last.
    """

    place: Path
    relative: str
    size: int
    changed: datetime


def named_place(source: Path) -> Path:
    """Return the place that a person named; links in what they named are theirs and are followed.

    Raises:
        NotFound: There is nothing.
        InvalidInput: It is neither file nor folder.
        StorageError: It may not be read.
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
        raise InvalidInput("This is neither a file nor a folder.", where=str(source)[:300])
    if not os.access(place, os.R_OK | (os.X_OK if stat.S_ISDIR(kind) else 0)):
        raise StorageError(
            "This cannot be read.", where=shown(str(source)), remedy="Give yourself the right to read it."
        )
    return place


def single_file(place: Path) -> FoundFile:
    """Return the file that was named."""
    return _found(place, place.name, place.stat())


def walk_files(
    folder: Path,
    wanted: Callable[[str], bool] = lambda _: True,
    *,
    own: Path | None = None,
    hidden: frozenset[str] = frozenset(),
) -> Iterator[FoundFile | Skipped]:
    """Give the files below a folder in the order of their names; links are told and never followed.

    Args:
        folder: Where to look.
        wanted: Tells of a path below it whether it is asked for.
        own: The open workspace, which is told and not looked into.
        hidden: Names of hidden folders to look into all the same; others are passed over.
    """
    count = 0
    waiting = [(os.fspath(folder), "", 0)]
    while waiting:
        place, prefix, depth = waiting.pop()
        try:
            if own is not None and own.samefile(place):
                yield Skipped(shown(prefix) or ".", _OWN)
                continue
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(shown(prefix) or ".", f"The folder cannot be read: {error.strerror}.")
            continue
        if prefix and any(entry.name in (MANIFEST, layout.HISTORY) for entry in entries):
            yield Skipped(shown(prefix), _WHOLE)
            continue
        folders = []
        for entry in entries:
            relative = prefix + entry.name
            if entry.name in _PASSED_OVER or (entry.name.startswith(".") and entry.name not in hidden):
                continue
            if entry.is_symlink():
                yield Skipped(shown(relative), LINK)
            elif entry.is_dir(follow_symlinks=False):
                if depth < MOST_DEPTH:
                    folders.append((entry.path, relative + "/", depth + 1))
                else:
                    yield Skipped(shown(relative), f"Folders are nested more than {MOST_DEPTH} deep here.")
            elif wanted(relative) and entry.is_file(follow_symlinks=False):
                count += 1
                if count > MOST_FILES:
                    yield Skipped(
                        shown(relative), f"There are more than {MOST_FILES:,} files; the rest was left."
                    )
                    return
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    yield Skipped(shown(relative), f"The file cannot be looked at: {error.strerror}.")
                    continue
                yield _found(Path(entry.path), relative, status)
        waiting.extend(reversed(folders))


def open_file(place: Path) -> BinaryIO:
    """Open a file that was found.

    Raises:
        OutsideWorkspace: A link stands there by now, or something that is no file.
        StorageError: It cannot be read.
    """
    try:
        handle = os.open(place, _FLAGS)
    except OSError as error:
        if place.is_symlink():
            raise OutsideWorkspace(
                "A symbolic link stands here; links are never followed.",
                where=shown(str(place)),
                remedy="Name the file itself.",
            ) from error
        raise StorageError(
            f"The file cannot be read: {error.strerror}.",
            where=shown(str(place)),
            remedy="Give yourself the right to read it.",
        ) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OutsideWorkspace("This is no plain file.", where=shown(str(place)), remedy="Name a file.")
    return os.fdopen(handle, "rb")


def read_text(found: FoundFile, most: int = MOST_DOCUMENT_BYTES) -> str:
    """Return a document's text, its line ends as `\\n`.

    Raises:
        DocumentError: It is too long, or no text that can be told for sure.
        OutsideWorkspace, StorageError: As `open_file`.
    """
    with open_file(found.place) as opened:
        content = opened.read(most + 1)
    return as_text(content, found.relative, most)


def as_text(content: bytes, where: str, most: int = MOST_DOCUMENT_BYTES) -> str:
    """Return bytes as text, its line ends as `\\n`.

    Raises:
        DocumentError: They are too many, or no text.
    """
    if len(content) > most:
        raise DocumentError(
            f"It is longer than {most >> 20} MB.",
            where=shown(where),
            remedy="Part it into several documents.",
        )
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            f"It is no UTF-8 text (line {line}).", where=shown(where), remedy="Save it as UTF-8."
        ) from error
    if "\0" in text:
        raise DocumentError("It is no text.", where=shown(where), remedy="Export it as text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_beginning(place: Path, most: int = 65_536) -> bytes:
    """Return the beginning of a file."""
    with open_file(place) as opened:
        return opened.read(most)


def shown(path: str) -> str:
    """Return a path as it can be told: printable, and not too long."""
    text = "".join(each if each.isprintable() else "\ufffd" for each in path)
    return text if len(text) <= 300 else text[:299] + "…"


def place_of(found: FoundFile, first: int | None = None, last: int | None = None) -> SourcePlace:
    """Return the place of some lines of a file."""
    return SourcePlace(shown(found.relative), first, last)


def _found(place: Path, relative: str, status: os.stat_result) -> FoundFile:
    return FoundFile(place, relative, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))

"""What every foreign form is read into: pieces of memory, notes, files of a workspace, and what was left aside."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Protocol

from workbench.engine.stores.wording import text_key

_KEY_BYTES = 8


@dataclass(frozen=True, slots=True)
class Place:
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
class Said:
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
    place: Place
    moment: datetime | None = None
    is_dated: bool = False
    turns: tuple[Said, ...] = ()
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
    place: Place
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
    place: Place

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
class Reading:
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

    def read(self, reading: Reading) -> Iterator[Item]:
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


def _identity(turn: Said) -> Sequence[str]:
    return (turn.moment.isoformat() if turn.moment else "", turn.speaker, turn.text)

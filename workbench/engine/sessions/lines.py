"""The numbered lines of a transcript, read a few at a time, with secrets masked if the reader may not see them."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from workbench.engine.errors import NotFound
from workbench.engine.file_access import open_outside_file

# A longer line is an image or an attack; only its beginning is read, and it counts as unreadable.
MOST_LINE_BYTES = 16 * 1024 * 1024
STEP = 256
_BLOCK = 1 << 20
# By device and inode, so that reading the next page continues where the last one ended.
_MOST_INDEXES = 16


class Lines(Protocol):
    @property
    def name(self) -> str:
        """Return the name used in citations: `sessions/ID.jsonl`."""
        ...

    @property
    def where(self) -> str:
        """Return the file they are read from."""
        ...

    def size(self) -> int:
        """Return their size in bytes."""
        ...

    def stamp(self) -> tuple[int, ...] | None:
        """Return a value that changes whenever they do, or None if there is none."""
        ...

    def count(self) -> int:
        """Return the number of lines, including a torn last one."""
        ...

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield lines with their numbers, in order, without line ends.

        Args:
            first: First line, 1-based.
            most: Maximum number of lines, or None.
        """
        ...


@dataclass
class _Index:
    """Line offsets of one file: of every 256th line, and the number of lines up to a size."""

    offsets: array[int] = field(default_factory=lambda: array("q", [0]))
    size: int = 0
    count: int = 0


_indexes: dict[tuple[int, int], _Index] = {}


class FileLines:
    """The lines of a JSONL file; remembers the offset of every 256th line passed.

    Args:
        place: The file; if missing, there are no lines.
    """

    def __init__(self, place: Path) -> None:
        self.place = place

    @property
    def name(self) -> str:
        return f"sessions/{self.place.name}"

    @property
    def where(self) -> str:
        return str(self.place)

    def size(self) -> int:
        try:
            return os.lstat(self.place).st_size
        except OSError:
            return 0

    def stamp(self) -> tuple[int, ...] | None:
        try:
            status = os.lstat(self.place)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def count(self) -> int:
        opened = open_outside_file(self.place)
        if opened is None:
            return 0
        with opened:
            size = os.fstat(opened.fileno()).st_size
            index = _index_of(opened)
            if index.size == size:
                return index.count
            count, last = index.count if _ends_line(opened, index.size) else 0, b"\n"
            opened.seek(index.size if count else 0)
            left = size - opened.tell()
            while left > 0 and (block := opened.read(min(_BLOCK, left))):
                count += block.count(b"\n")
                left -= len(block)
                last = block[-1:]
            if last == b"\n":
                index.size, index.count = size, count
            return count + (last != b"\n")

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        opened = open_outside_file(self.place)
        if opened is None:
            return
        with opened:
            if most == 0:
                return
            index = _index_of(opened)
            number = _seek(opened, index, first)
            last = None if most is None else first + most - 1
            for line in _lines(opened, index, number):
                if number >= first:
                    yield number, line
                if last is not None and number >= last:
                    return
                number += 1


def _index_of(opened: BinaryIO) -> _Index:
    status = os.fstat(opened.fileno())
    key = (status.st_dev, status.st_ino)
    index = _indexes.pop(key, None)
    if index is None or index.offsets[-1] > status.st_size or index.size > status.st_size:
        index = _Index()
    _indexes[key] = index
    while len(_indexes) > _MOST_INDEXES:
        with suppress(StopIteration, KeyError):
            del _indexes[next(iter(_indexes))]
    return index


def _seek(opened: BinaryIO, index: _Index, first: int) -> int:
    """Seek to the nearest known line before; return its 1-based number."""
    at = min((max(first, 1) - 1) // STEP, len(index.offsets) - 1)
    if not _ends_line(opened, index.offsets[at]):
        # The file was rewritten.
        del index.offsets[1:]
        index.size = index.count = at = 0
    opened.seek(index.offsets[at])
    return at * STEP + 1


def _ends_line(opened: BinaryIO, offset: int) -> bool:
    if offset == 0:
        return True
    opened.seek(offset - 1)
    return opened.read(1) == b"\n"


def _lines(opened: BinaryIO, index: _Index, number: int) -> Iterator[bytes]:
    offset = opened.tell()
    while True:
        if (number - 1) % STEP == 0 and (number - 1) // STEP == len(index.offsets):
            index.offsets.append(offset)
        line = opened.readline(MOST_LINE_BYTES)
        if not line:
            return
        offset += len(line)
        rest = line
        while not rest.endswith(b"\n") and (rest := opened.readline(_BLOCK)):
            offset += len(rest)
        number += 1
        yield line.rstrip(b"\r\n")


@contextmanager
def random_access(lines: Lines) -> Iterator[LineReader]:
    """Open lines for random access."""
    reader = LineReader(lines)
    try:
        yield reader
    finally:
        reader.close()


class LineReader:
    """Reads single lines, caching those around the last one read.

    Args:
        lines: What to read.
        kept: Lines per read.
    """

    def __init__(self, lines: Lines, kept: int = STEP) -> None:
        self._lines = lines
        self._kept = kept
        self._first = 1
        self._block: list[bytes] = []

    def line(self, number: int) -> bytes:
        """Return one line.

        Raises:
            NotFound: There are fewer lines.
        """
        if not self._first <= number < self._first + len(self._block):
            self._first = max(1, (number - 1) // self._kept * self._kept + 1)
            self._block = [line for _, line in self._lines.read(self._first, self._kept)]
        at = number - self._first
        if not 0 <= at < len(self._block):
            raise NotFound(
                f"There is no line {number:,}.",
                where=self._lines.where,
                remedy="It became shorter meanwhile.",
            )
        return self._block[at]

    def lines(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        for number in numbers:
            yield number, self.line(number)

    def close(self) -> None:
        """Drop the cache."""
        self._block = []


Mask = Callable[[str], str]


class MaskedLines:
    """A masked transcript; its lines keep their numbers and stay JSON.

    Args:
        lines: The original lines.
        mask: Masks the secrets in a text.
    """

    def __init__(self, lines: Lines, mask: Mask) -> None:
        self.unmasked: Final = lines
        self._mask = mask

    @property
    def name(self) -> str:
        return self.unmasked.name

    @property
    def where(self) -> str:
        return self.unmasked.where

    def size(self) -> int:
        return self.unmasked.size()

    def stamp(self) -> tuple[int, ...] | None:
        return self.unmasked.stamp()

    def count(self) -> int:
        return self.unmasked.count()

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        for number, line in self.unmasked.read(first, most):
            yield number, masked_line(line, self._mask)


def masked_line(line: bytes, mask: Mask) -> bytes:
    """Return one transcript line, masked; the same object if it holds no secret.

    Args:
        line: JSON or anything else, with or without line end.
        mask: Masks the secrets in a text.
    """
    text = line.decode("utf-8", "surrogateescape")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        masked = mask(text)
        return line if masked == text else masked.encode("utf-8", "surrogateescape")
    # Most lines have none: one check of all their text is enough.
    everything = "\n\n".join(_texts_in(said))
    if mask(everything) == everything:
        return line
    end = line[len(line.rstrip(b"\r\n")) :]
    return json.dumps(_masked(said, mask), ensure_ascii=True, separators=(",", ":")).encode() + end


def _texts_in(said: Any) -> Iterator[str]:
    waiting = [said]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, Mapping):
            for name, value in each.items():
                if isinstance(value, str):
                    yield f"{name}: {value}"
                else:
                    yield name
                    waiting.append(value)


def _masked(said: Any, mask: Mask) -> Any:
    if isinstance(said, str):
        return mask(said)
    if isinstance(said, list):
        return [_masked(each, mask) for each in said]
    if isinstance(said, Mapping):
        return {mask(name): _named(name, each, mask) for name, each in said.items()}
    return said


def _named(name: str, value: Any, mask: Mask) -> Any:
    """Mask a value; its key may make it a secret, as in `"password": "…"`."""
    if not isinstance(value, str):
        return _masked(value, mask)
    label = f"{name}: "
    told = mask(label + value)
    return told.removeprefix(label) if told.startswith(label) else mask(value)

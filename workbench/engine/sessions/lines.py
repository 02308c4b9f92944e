"""The numbered lines of a transcript, wherever they are kept, read a few at a time."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.engine.errors import NotFound
from workbench.engine.sessions.opening import open_plain

# A longer line is a picture or an attack; of it only the beginning is read, and it counts as unreadable.
MOST_LINE_BYTES = 16 * 1024 * 1024
STEP = 256
_BLOCK = 1 << 20


class Lines(Protocol):
    """Lines by number, 1-based."""

    @property
    def name(self) -> str:
        """Return the name by which lines are cited: `sessions/ID.jsonl`."""
        ...

    @property
    def where(self) -> str:
        """Return the file that they are read from."""
        ...

    def size(self) -> int:
        """Return how many bytes they take."""
        ...

    def count(self) -> int:
        """Return how many lines there are, a torn last one included."""
        ...

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Give lines with their numbers, in order, without their ends.

        Args:
            first: Where to begin, 1-based.
            most: How many at most; None for all.
        """
        ...


class FileLines:
    """The lines of a JSONL file; of every 256th the offset is known once it was passed.

    Args:
        place: The file; one that does not exist has no lines.
        most_bytes: Nothing beyond is read; None for all there is.
    """

    def __init__(self, place: Path, most_bytes: int | None = None) -> None:
        self.place = place
        self._most = most_bytes
        self._offsets = array("q", [0])
        self._count: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        return f"sessions/{self.place.name}"

    @property
    def where(self) -> str:
        return str(self.place)

    def exists(self) -> bool:
        """Tell whether there is such a file."""
        return self.place.is_file()

    def size(self) -> int:
        try:
            size = os.lstat(self.place).st_size
        except OSError:
            return 0
        return size if self._most is None else min(size, self._most)

    def count(self) -> int:
        size = self.size()
        if self._count is None or self._count[0] != size:
            self._count = (size, self._counted(size))
        return self._count[1]

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        opened = open_plain(self.place)
        if opened is None or most == 0:
            if opened is not None:
                opened.close()
            return
        with opened:
            number = self._seek(opened, first)
            last = None if most is None else first + most - 1
            for line in self._lines(opened, number):
                if number >= first:
                    yield number, line
                if last is not None and number >= last:
                    return
                number += 1

    def _seek(self, opened: BinaryIO, first: int) -> int:
        """Go to the nearest known line before; return its number, 1-based."""
        at = min((max(first, 1) - 1) // STEP, len(self._offsets) - 1)
        opened.seek(self._offsets[at])
        return at * STEP + 1

    def _lines(self, opened: BinaryIO, number: int) -> Iterator[bytes]:
        offset = opened.tell()
        limit = self.size() if self._most is not None else None
        while limit is None or offset < limit:
            if (number - 1) % STEP == 0 and (number - 1) // STEP == len(self._offsets):
                self._offsets.append(offset)
            line = opened.readline(MOST_LINE_BYTES)
            if not line:
                return
            offset += len(line)
            rest = line
            while not rest.endswith(b"\n") and (rest := opened.readline(_BLOCK)):
                offset += len(rest)
            number += 1
            yield line.rstrip(b"\r\n")

    def _counted(self, size: int) -> int:
        opened = open_plain(self.place)
        if opened is None:
            return 0
        with opened:
            known = len(self._offsets) - 1
            opened.seek(self._offsets[known])
            left, count, last = size - self._offsets[known], known * STEP, b"\n"
            while left > 0 and (block := opened.read(min(_BLOCK, left))):
                count += block.count(b"\n")
                left -= len(block)
                last = block[-1:]
        return count + (last != b"\n")


@contextmanager
def random_access(lines: Lines) -> Iterator[LineReader]:
    """Open lines for reading in any order."""
    reader = LineReader(lines)
    try:
        yield reader
    finally:
        reader.close()


class LineReader:
    """Reads single lines, and keeps those around the last one read.

    Args:
        lines: What to read.
        kept: How many lines are read at once.
    """

    def __init__(self, lines: Lines, kept: int = STEP) -> None:
        self._lines = lines
        self._kept = kept
        self._first = 1
        self._block: list[bytes] = []

    def line(self, number: int) -> bytes:
        """Return one line.

        Raises:
            NotFound: There are not so many.
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
        """Give several lines, each with its number."""
        for number in numbers:
            yield number, self.line(number)

    def close(self) -> None:
        """Let go of what is kept."""
        self._block = []

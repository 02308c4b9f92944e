"""Objects read out of git's packs, for a start that needs a few of them.

libgit2, which reads many of them fast, takes 50 ms to load.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# An index of version 2: a mark, 256 counts of names, the names, their checksums, their places, the places beyond 2 GB.
_MARK = b"\377tOc\0\0\0\2"
_COUNTS = len(_MARK)
_NAMES = _COUNTS + 256 * 4
_NAME, _CHECKSUM, _PLACE = 20, 4, 4
_FAR = 1 << 31
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_DELTA_BY_OFFSET, _DELTA_BY_NAME = 6, 7
_LONGEST_CHAIN = 4_096
_PIECE = 65_536


def packed_object(folder: Path, oid: str) -> bytes:
    """Return an object that a pack holds, with the header that it would have in a file of its own.

    Nothing where no pack has it, or where what has it is damaged or of another form: libgit2 tells which.

    Args:
        folder: Of the packs.
        oid: The object's name, 40 hex digits.
    """
    try:
        name = bytes.fromhex(oid)
        for each in folder.glob("*.idx"):
            with _opened(each) as index:
                place = _place_of(index, name)
                if place is not None:
                    with _opened(each.with_suffix(".pack")) as pack:
                        return _whole(pack, index, place)
    except (OSError, ValueError, LookupError, struct.error, zlib.error):
        pass
    return b""


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _place_of(index: int, name: bytes) -> int | None:
    """Return where an object begins in the pack of an index; None where it is not there."""
    if os.pread(index, len(_MARK), 0) != _MARK:
        return None
    counts = struct.unpack(">256I", os.pread(index, 256 * 4, _COUNTS))
    total = counts[-1]
    low, high = counts[name[0] - 1] if name[0] else 0, counts[name[0]]
    while low < high:
        middle = (low + high) // 2
        found = os.pread(index, _NAME, _NAMES + middle * _NAME)
        if found == name:
            places = _NAMES + total * (_NAME + _CHECKSUM)
            (place,) = struct.unpack(">I", os.pread(index, _PLACE, places + middle * _PLACE))
            if place >= _FAR:
                at = places + total * _PLACE + (place - _FAR) * 8
                (place,) = struct.unpack(">Q", os.pread(index, 8, at))
            return int(place)
        low, high = (middle + 1, high) if found < name else (low, middle)
    return None


def _whole(pack: int, index: int, place: int) -> bytes:
    """Return the object that begins at a place, which may be told as changes to another.

    Raises:
        ValueError: It cannot be read.
    """
    changes: list[bytes] = []
    while len(changes) < _LONGEST_CHAIN:
        head = os.pread(pack, _PIECE, place)
        kind, size, at = head[0] >> 4 & 7, head[0] & 15, 1
        if head[0] & 128:
            size, at = _number(head, at, size, 4)
        base = place
        if kind == _DELTA_BY_OFFSET:
            back = head[at] & 127
            while head[at] & 128:
                at += 1
                back = (back + 1) << 7 | head[at] & 127
            base, at = place - back, at + 1
        elif kind == _DELTA_BY_NAME:
            found = _place_of(index, head[at : at + _NAME])
            if found is None:
                raise ValueError("what it is told by is elsewhere")
            base, at = found, at + _NAME
        content = _inflated(pack, head[at:], place + len(head), size)
        if kind in _KINDS:
            for change in reversed(changes):
                content = _changed(content, change)
            return b"%s %d\0%s" % (_KINDS[kind], len(content), content)
        if base == place:
            raise ValueError("no such kind")
        changes.append(content)
        place = base
    raise ValueError("told by too many others")


def _inflated(pack: int, piece: bytes, place: int, size: int) -> bytes:
    """Return what a stream holds that begins with a piece and goes on at a place.

    Raises:
        ValueError: It is of another size.
    """
    stream = zlib.decompressobj()
    parts = [stream.decompress(piece, size + 1)]
    while not stream.eof and sum(map(len, parts)) <= size:
        piece = stream.unconsumed_tail
        if not piece:
            piece = os.pread(pack, _PIECE, place)
            place += len(piece)
        if not piece:
            break
        parts.append(stream.decompress(piece, size + 1))
    content = b"".join(parts)
    if not stream.eof or len(content) != size:
        raise ValueError("its stream is of another size")
    return content


def _number(content: bytes, at: int, number: int, shift: int) -> tuple[int, int]:
    """Return a number told in sevens of bits, and where it ends.

    Args:
        number: What is known of it.
        shift: How many bits that is.
    """
    while True:
        byte = content[at]
        number |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if not byte & 128:
            return number, at


def _changed(base: bytes, change: bytes) -> bytes:
    """Return an object told as pieces of another one and new ones.

    Raises:
        ValueError: The sizes do not fit.
    """
    known, at = _number(change, 0, 0, 0)
    size, at = _number(change, at, 0, 0)
    if known != len(base):
        raise ValueError("its base is of another size")
    parts = []
    while at < len(change):
        order = change[at]
        at += 1
        if order & 128:
            numbers = []
            for bits in (order & 15, order >> 4 & 7):
                number, shift = 0, 0
                while bits:
                    if bits & 1:
                        number |= change[at] << shift
                        at += 1
                    bits, shift = bits >> 1, shift + 8
                numbers.append(number)
            offset, length = numbers
            parts.append(base[offset : offset + (length or 65_536)])
        else:
            parts.append(change[at : at + order])
            at += order
    content = b"".join(parts)
    if len(content) != size:
        raise ValueError("it is of another size than it says")
    return content

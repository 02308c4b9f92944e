"""What passes between a model's process and the one that asks it: frames of a JSON object and bytes."""

from __future__ import annotations

import array
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

_HEAD: Final = struct.Struct("!4sII")
_MAGIC: Final = b"WbLm"

Read = Callable[[int], bytes]
Reply = tuple[dict[str, Any], bytes]


def packed(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a frame."""
    told = json.dumps(header).encode()
    return _HEAD.pack(_MAGIC, len(told), len(body)) + told + body


def unpacked(read: Read) -> Reply:
    """Return the next frame's object and bytes.

    Args:
        read: Returns exactly so many bytes.

    Raises:
        ValueError: What is read is no frame.
    """
    magic, told, size = _HEAD.unpack(read(_HEAD.size))
    if magic != _MAGIC:
        raise ValueError("no frame")
    header = json.loads(read(told))
    if not isinstance(header, dict):
        raise ValueError("no object")
    return header, read(size)


def pack_ids(sequences: Sequence[Sequence[int]]) -> Reply:
    """Return token sequences as their lengths and 32-bit numbers."""
    joined = array.array("i", [token for sequence in sequences for token in sequence])
    return {"lengths": [len(sequence) for sequence in sequences]}, joined.tobytes()


def unpack_ids(header: dict[str, Any], body: bytes) -> list[list[int]]:
    """Return the token sequences of `pack_ids`."""
    joined = array.array("i")
    joined.frombytes(body)
    ids, at = joined.tolist(), 0
    sequences = []
    for length in header["lengths"]:
        sequences.append(ids[at : at + length])
        at += length
    return sequences

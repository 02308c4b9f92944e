"""A JSON array read one element at a time, however long it is."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from workbench.engine.errors import DocumentError

_BLOCK = 1 << 20
MOST_ELEMENT = 256 << 20
"""Characters of one element; no conversation is so long."""
_BEGINNING = re.compile(r"\ufeff?\s*(?:\{\s*\"conversations\"\s*:\s*)?\[\s*")
_BETWEEN = re.compile(r"\s*(?:(,)|(\]))\s*")
_OF_NUMBERS = frozenset("0123456789.eE+-")
_BLANK = re.compile(r"\s*")


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


def elements(
    source: Readable, where: str, *, tell: Callable[[int], None] = lambda _: None, block: int = _BLOCK
) -> Iterator[Any]:
    """Give each element of an array, or of the array `conversations` of an object.

    Args:
        source: UTF-8; bytes that are none become replacement characters.
        where: Its name, for errors.
        tell: Told how many bytes were read, block by block.
        block: Bytes to read at once.

    Raises:
        DocumentError: It is no such array, is cut off or damaged, nested too deep, or one element is too long.
    """
    decoder, parser = codecs.getincrementaldecoder("utf-8")("replace"), json.JSONDecoder()
    buffer, at, ended = "", 0, False

    def more() -> bool:
        nonlocal buffer, at, ended
        if ended:
            return False
        # What an element takes doubles, so that a long one is not tried again for every block.
        content = source.read(max(block, len(buffer) - at))
        tell(len(content))
        ended = not content
        buffer = buffer[at:] + decoder.decode(content, final=ended)
        at = 0
        return True

    more()
    start = _BEGINNING.match(buffer)
    if start is None:
        raise DocumentError(
            "This is no list in JSON.", where=where, remedy="Name the file as it was exported."
        )
    at, number = start.end(), 0
    while True:
        at = _past_blanks(buffer, at)
        if at >= len(buffer) and more():
            continue
        if buffer[at : at + 1] == "]" and number == 0:
            return
        try:
            element, end = parser.raw_decode(buffer, at)
            if (end >= len(buffer) or buffer[end] in _OF_NUMBERS) and more():
                # A number could go on, and what follows tells whether this is the last one.
                continue
        except RecursionError as error:
            raise DocumentError(
                f"Element {number + 1} is nested too deep.", where=where, remedy="Leave it out of the file."
            ) from error
        except ValueError as error:
            if len(buffer) - at > MOST_ELEMENT:
                raise DocumentError(
                    f"Element {number + 1} is longer than {MOST_ELEMENT >> 20} MB, or damaged.",
                    where=where,
                    remedy="Leave it out of the file.",
                ) from error
            if more():
                continue
            raise DocumentError(
                f"The file is damaged or cut off in element {number + 1}.",
                where=where,
                remedy="Export it once more; what stands before is read.",
            ) from error
        number += 1
        at = end
        yield element
        between = _BETWEEN.match(buffer, at)
        while between is None and more():
            between = _BETWEEN.match(buffer, at)
        if between is None:
            raise DocumentError(
                f"The file is damaged or cut off behind element {number}.",
                where=where,
                remedy="Export it once more; what stands before is read.",
            )
        if between[2]:
            return
        at = between.end()


def _past_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at

"""Gives each proposal a number that none had before it, and that no edit of the file makes free again.

Every commit that concerns proposals names the highest number ever given, in a trailer. So a proposal that was decided,
undone or deleted by hand keeps its number for good; what somebody numbered by hand counts while it stands in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.documents.pending_memories import written_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HIGHEST: Final = "Highest-Proposal"
_TRAILER: Final = f"\n{HIGHEST}: "
# What a hand wrote beyond this is passed over, so that it cannot use all numbers up.
_BEYOND: Final = 100_000_000


def highest_given(messages: Iterable[str]) -> int:
    """Return the highest number that history knows of, 0 where it knows none.

    Args:
        messages: Of the commits, newest first; read up to the first that concerns proposals.
    """
    for message in messages:
        _, trailer, rest = message.rpartition(_TRAILER)
        word = rest.partition("\n")[0].strip()
        if trailer and word.isdecimal():
            return int(word)
    return 0


def highest_in(content: bytes, given: int) -> int:
    """Return the highest number that counts: of those in the file, and of those that history knows.

    Args:
        content: The file.
        given: As `highest_given` says.
    """
    return max([given, *(number for number in written_numbers(content) if number < _BEYOND)])


def free_numbers(content: bytes, given: int) -> Iterator[int]:
    """Yield numbers that no proposal has or had, lowest first."""
    taken = set(written_numbers(content))
    number = highest_in(content, given)
    while True:
        number += 1
        if number not in taken:
            yield number


def is_doubled(content: bytes) -> bool:
    """Tell whether two proposals bear one number."""
    numbers = written_numbers(content)
    return len(numbers) != len(set(numbers))


def trailers(highest: int) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a commit that concerns proposals."""
    return ((HIGHEST, str(highest)),)

"""What a reflection tells of itself in the last lines of its proposal, as it is read back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

SPENT: Final = "Token budget used"
DROPPED: Final = "Dropped"
HELD_BACK: Final = "Held back"
LEFT: Final = "Left for the next"
READ: Final = "Read"
"""The line with the `ReadMark`; once all is decided it stands in the record, as the field `READ_FIELD`."""
READ_FIELD: Final = "read"

_NUMBER: Final = lazy_pattern(r"\d[\d,.\u2009\u202f ]*")


@dataclass(frozen=True, slots=True)
class Account:
    """What the lines say; a line that is missing counts as nothing.

    Args:
        spent: Output tokens of the cycle.
        cap: Its budget of them; None where the file does not say.
        dropped: Items whose quotes were not found.
        held_back: Items that were rejected before.
        left: Items for which there was no room.
        mark: How far was read, as `ReadMark` renders it.
    """

    spent: int = 0
    cap: int | None = None
    dropped: int = 0
    held_back: int = 0
    left: int = 0
    mark: str = ""


def read_account(meta: Iterable[tuple[str, str]]) -> Account:
    """Read the lines `**Key**: value` of a proposal, in whatever case a person left their keys."""
    said = {_folded(key): value for key, value in meta}

    def numbers(key: str) -> list[int]:
        return _numbers(said.get(_folded(key), ""))

    def count(key: str) -> int:
        return next(iter(numbers(key)), 0)

    spent, *caps = numbers(SPENT) or [0]
    return Account(
        spent,
        caps[0] if caps else None,
        count(DROPPED),
        count(HELD_BACK),
        count(LEFT),
        said.get(_folded(READ), ""),
    )


def _folded(key: str) -> str:
    return " ".join(key.split()).casefold().rstrip(" .:")


def _numbers(text: str) -> list[int]:
    """Return the whole numbers of a text, whatever marks its thousands."""
    found = (re.sub(r"\D", "", match[0]) for match in _NUMBER.finditer(text))
    return [int(digits) for digits in found if digits and len(digits) <= 12]

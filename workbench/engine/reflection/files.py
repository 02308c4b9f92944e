"""The files that reflection keeps, read out of a view: proposal, log, rejections and evolution.

The last lines of a proposal give an account of its reflection.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.history.spent_ids import is_spent
from workbench.engine.markdown.reflection_records import Evolution, ReflectionLog, RejectedClaims
from workbench.engine.markdown.review import PendingReflection
from workbench.engine.markdown.source import load_template
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.history.plan import FileView

_REFLECTION: Final = lazy_pattern(r"r-\d+")
# People may write anything into these files; what is longer is nobody's count.
_NUMBERED: Final = lazy_pattern(r"r-([0-9]{1,9})")
SPENT: Final = "Token budget used"
DROPPED: Final = "Dropped"
HELD_BACK: Final = "Held back"
LEFT: Final = "Left for the next"
READ: Final = "Read"
"""The line with the `ReadMark`; once all is decided it stands in the record, as the field `READ_FIELD`."""
READ_FIELD: Final = "read"

_NUMBER: Final = lazy_pattern(r"\d[\d,.\u2009\u202f ]*")


def read_pending(view: FileView) -> PendingReflection:
    """Return the proposal that waits; one without items where none does."""
    return _pending(view.read(layout.PENDING_REFLECTION) or b"")


@lru_cache(maxsize=2)
def _pending(content: bytes) -> PendingReflection:
    # What waits, what is due and every count ask for it in turn.
    return PendingReflection.parse(content, layout.PENDING_REFLECTION)


def is_of_another_tool(pending: PendingReflection) -> bool:
    """Return whether the file says something that we did not write (design document §10.5 has its own form)."""
    template = load_template(layout.PENDING_REFLECTION).decode().strip()
    text = pending.source.text.strip()
    return text not in ("", template) and not pending.items and not reflection_of(pending)


def reflection_of(pending: PendingReflection) -> str:
    """Return which reflection a proposal is of, by its header or else by its first item; empty where neither says."""
    named = (pending.reflection, *(item.id.partition(".")[0] for item in pending.items))
    return next((name for name in named if _REFLECTION.fullmatch(name)), "")


def next_reflection(log: ReflectionLog, pending: PendingReflection, spent: bytes | None) -> str:
    """Return the id of the next reflection, which none has or ever had.

    Args:
        log: The record of reflections.
        pending: The proposal that waits.
        spent: What the file `layout.SPENT_IDS` holds.
    """
    names = [record.id for record in log.records] + [item.id.partition(".")[0] for item in pending.items]
    names.append(pending.reflection)
    numbers = [int(match[1]) for name in names if (match := _NUMBERED.fullmatch(name))]
    number = max(numbers, default=0) + 1
    while is_spent(spent, f"r-{number:03}"):
        number += 1
    return f"r-{number:03}"


def read_log(view: FileView) -> ReflectionLog:
    """Return the record of reflections."""
    return ReflectionLog.parse(view.read(layout.REFLECTION_LOG) or b"", layout.REFLECTION_LOG)


def read_rejected(view: FileView) -> RejectedClaims:
    """Return what a person rejected."""
    return RejectedClaims.parse(view.read(layout.REJECTED) or b"", layout.REJECTED)


def read_evolution(view: FileView) -> Evolution:
    """Return how the agent's understanding has changed."""
    return Evolution.parse(view.read(layout.EVOLUTION) or b"", layout.EVOLUTION)


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

"""What the parts of a proposed item say, as a person may have left them: its id, target, text and dates."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import BLOCK_ID, MemoryId, parse_memory_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.items import field_of

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem

_ITEM_ID: Final = lazy_pattern(r"r-[A-Za-z0-9]+\.\d+")
_DATE: Final = lazy_pattern(r"\d{4}(?:-\d{2}){0,2}")


def is_item_id(text: str) -> bool:
    """Return whether a text is the id of an item, by which history can take it back: `r-012.3`."""
    return _ITEM_ID.fullmatch(text) is not None


def block_of(item: ReviewItem) -> str:
    """Return the block that the target `core:block` names; empty where it names an item of one."""
    kind, _, name = item.target.strip().partition(":")
    return name.strip() if kind == "core" and name.strip() and ":" not in name else ""


def core_item_of(item: ReviewItem) -> str:
    """Return the item `core:block:item` of the target.

    Raises:
        InvalidInput: It names none.
    """
    memory = parsed_id(item, item.target)
    if memory.kind != "core":
        raise wrong(
            item,
            f"“{item.target[:60]}” is no item of core memory.",
            "Name it as core:block:item; `workbench core --json` lists them.",
        )
    return str(memory)


def subject_of(item: ReviewItem) -> tuple[str, str | None]:
    """Return the entity (`type--slug`) of the target, and the fact's id where it names one.

    Raises:
        InvalidInput: It names no entity.
    """
    memory = parsed_id(item, item.target)
    if memory.kind != "entity":
        raise wrong(item, f"“{item.target[:60]}” is no entity.", "Write it as [[type--name]].")
    return memory.name, str(memory) if memory.block else None


def memory_of(item: ReviewItem) -> str:
    """Return the id of the memory that is the target. Raises `InvalidInput` where it names none."""
    return str(parsed_id(item, item.target))


def entity_in(item: ReviewItem, text: str) -> str:
    """Return the entity (`type--slug`) that a text names. Raises `InvalidInput` where it names none."""
    memory = parsed_id(item, text)
    if memory.kind != "entity" or memory.block:
        raise wrong(item, f"“{text[:60]}” is no entity.", "Write it as [[type--name]].")
    return memory.name


def parsed_id(item: ReviewItem, text: str) -> MemoryId:
    """Return the id that a text is. Raises `InvalidInput` where it is none."""
    if not text.strip():
        raise wrong(item, "It does not say what it is for.", "Write “for” and an id before the colon.")
    whole, _, block = text.strip().partition("#^")
    try:
        memory = parse_memory_id(whole)
    except InvalidInput as error:
        raise wrong(item, error.message, error.remedy or "") from error
    if not block:
        return memory
    if memory.kind != "entity" or not BLOCK_ID.match(block):
        raise wrong(item, f"“{text[:60]}” is not the id of a fact.", "Write it as entity:type--name#^id.")
    return MemoryId(memory.kind, memory.name, block)


def proposed_text(item: ReviewItem) -> str:
    """Return what an item proposes. Raises `InvalidInput` where it is empty."""
    if not item.text.strip():
        raise wrong(item, "It has no text.", "Write what it shall say behind the colon.")
    return item.text


def date_of(item: ReviewItem, label: str) -> str | None:
    """Return the date of a field, or its month or year alone; None without one. Raises `InvalidInput`."""
    text = field_of(item, label)
    if text and not is_date(text):
        raise wrong(item, f"“{text[:40]}” is no date.", f"Write {label} as 2026-02-03, 2026-02 or 2026.")
    return text or None


def is_date(text: str) -> bool:
    """Return whether a text is a day, a month or a year: 2026-02-03, 2026-02 or 2026."""
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:
        return False
    return True


def wrong(item: ReviewItem, message: str, remedy: str) -> InvalidInput:
    """Return the error that says what is wrong with an item."""
    return InvalidInput(message, where=item.id, remedy=remedy)

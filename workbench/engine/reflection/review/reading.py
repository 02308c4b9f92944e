"""What an item of the proposal asks, read back from the file that people may have edited.

The reverse of `reflection/items.py`. What makes no sense is refused
with a sentence that says what is wrong; nobody's reading of it is guessed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import BLOCK_ID, ENTITY_TYPES, MemoryId, parse_memory_id, slug
from workbench.engine.reflection import items
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.review.asked import (
    Answering,
    Archiving,
    CoreAddition,
    CoreWording,
    Deciding,
    Demoting,
    Merging,
    NewEntity,
    NewFact,
    NewInsight,
    NewProcedure,
    NewRelation,
    OtherSteps,
    OtherWording,
    Pinning,
    Restoring,
    Superseding,
)

if TYPE_CHECKING:
    from workbench.engine.documents import ReviewItem
    from workbench.engine.reflection.review.asked import Asked

UNANSWERED: Final = frozenset({"", "…", "...", "?"})
RESOLUTIONS: Final = ("ask", "this", "that", "both")
CRITICAL_FACTS: Final = "critical-facts"
EVOLUTION: Final = "evolution:"
_ITEM_ID: Final = re.compile(r"r-[A-Za-z0-9]+\.\d+")
_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_RELATION: Final = re.compile(r"\s*([^\[\]:]+?)\s*:?\s*\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]\s*\.?\s*")
_LINK: Final = re.compile(r"\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]")
_NUMBER: Final = re.compile(r"\s*\d{1,9}[.)]\s+")
_BULLET: Final = re.compile(r"\s*[-*+]\s+")


def read_item(item: ReviewItem) -> Asked:
    """Return what an item asks.

    Raises:
        InvalidInput: It makes no sense as it stands; the message says why.
    """
    if not is_item_id(item.id):
        raise _wrong(item, "This is no number of an item.", "Number items like r-012.3.")
    kind = kind_of(item.kind)
    match kind:
        case Kind.FACT:
            return _fact(item)
        case Kind.ENTITY:
            return _new_entity(item)
        case Kind.RELATION:
            return _relation(item)
        case Kind.MERGE:
            return _merge(item)
        case Kind.SUPERSESSION:
            return _supersession(item)
        case Kind.CONTRADICTION:
            return _contradiction(item)
        case Kind.ARCHIVE:
            return Archiving(_memory(item, item.target))
        case Kind.RESTORE:
            return Restoring(_memory(item, item.target))
        case Kind.VAULT_PIN:
            return Pinning(_memory(item, item.target))
        case Kind.PROCEDURE:
            return _procedure(item)
        case Kind.CORE_CHANGE:
            return _core_change(item)
        case Kind.PROMOTION:
            return CoreAddition(_block(item) or CRITICAL_FACTS, _text(item), field_of(item, items.OF))
        case Kind.DEMOTION:
            return Demoting(_core_item(item))
        case Kind.INSIGHT:
            return _insight(item)
        case Kind.QUESTION:
            return _question(item)
        case None:
            raise _wrong(
                item,
                f"“{item.kind[:60]}” is no kind of change.",
                f"Use one of: {', '.join(Kind)}.",
            )


def is_item_id(text: str) -> bool:
    """Tell whether a text is the id of an item, by which history can take it back: `r-012.3`."""
    return _ITEM_ID.fullmatch(text) is not None


def field_of(item: ReviewItem, label: str) -> str:
    """Return what an item says under a label, in any case of the label; empty where it says nothing."""
    wanted = label.casefold()
    found = (value for key, value in item.fields if " ".join(key.split()).casefold() == wanted)
    return next(found, "").strip()


def _fact(item: ReviewItem) -> Asked:
    entity, fact = _subject(item)
    if item.before:
        if fact is None:
            raise _wrong(
                item,
                "It rewords a fact but does not say which.",
                "Name the fact, as entity:type--name#^id, or delete the line “was”.",
            )
        return OtherWording(fact, _text(item))
    return NewFact(entity, _text(item), _date(item, items.SINCE))


def _new_entity(item: ReviewItem) -> NewEntity:
    entity, fact = _subject(item)
    if fact is not None:
        raise _wrong(item, "A fact’s id stands where an entity’s should.", "Write it as [[type--name]].")
    _require_fresh_name(item, entity)
    aliases = (" ".join(alias.split()) for alias in field_of(item, items.ALIASES).split(";"))
    return NewEntity(
        entity,
        _text(item),
        tuple(dict.fromkeys(alias for alias in aliases if alias)),
        field_of(item, items.SUMMARY),
    )


def _require_fresh_name(item: ReviewItem, entity: str) -> None:
    """Make sure that the id of a new entity is one that the engine could have given."""
    kind, _, name = entity.partition("--")
    if kind not in ENTITY_TYPES:
        raise _wrong(item, f"“{kind[:40]}” is no type of entity.", f"Types are {', '.join(ENTITY_TYPES)}.")
    if slug(name) != name:
        raise _wrong(
            item, f"“{entity[:60]}” cannot name a new entity.", f"Write it as [[{kind}--{slug(name)}]]."
        )


def _relation(item: ReviewItem) -> NewRelation:
    entity, _ = _subject(item)
    found = _RELATION.fullmatch(item.text)
    if found is None:
        raise _wrong(
            item,
            f"“{item.text[:60]}” is no relation.",
            "Write it as: relation [[type--name]], for example: develops [[project--apollo]].",
        )
    return NewRelation(entity, found[1].strip(), _entity(item, found[2]), _date(item, items.SINCE))


def _merge(item: ReviewItem) -> Merging:
    entity, _ = _subject(item)
    link = _LINK.search(item.text)
    if link is None:
        raise _wrong(
            item,
            "It does not say which entity goes into the other.",
            "Write it as: [[type--name]] is the same.",
        )
    return Merging(entity, _entity(item, link[1]))


def _supersession(item: ReviewItem) -> Superseding:
    entity, fact = _subject(item)
    if fact is None and not item.before:
        raise _wrong(item, "It does not say what was so before.", "Add a line: - was: the old statement.")
    held_since, until, since = (_date(item, each) for each in (items.HELD_SINCE, items.UNTIL, items.SINCE))
    return Superseding(entity, fact, item.before, _text(item), held_since, until, since)


def _contradiction(item: ReviewItem) -> Deciding:
    entity, fact = _subject(item)
    resolve = field_of(item, items.RESOLVE).casefold() or "ask"
    if resolve not in RESOLUTIONS:
        raise _wrong(item, f"“{resolve[:60]}” does not resolve it.", f"Say one of: {', '.join(RESOLUTIONS)}.")
    this, that = field_of(item, items.THIS), field_of(item, items.THAT)
    for label, said in ((items.THIS, this), (items.THAT, that)):
        if not said and resolve in (label, "both"):
            raise _wrong(item, f"There is nothing under “{label}”.", f"Add a line: - {label}: the statement.")
    return Deciding(entity, fact, this, that, resolve)


def _procedure(item: ReviewItem) -> Asked:
    memory = _parsed(item, item.target)
    if memory.kind != "procedure":
        raise _wrong(item, "It does not name a procedure.", "Write it as `procedure:name-of-it`.")
    steps = split_steps(field_of(item, items.STEPS))
    if not steps:
        raise _wrong(
            item, "There are no steps.", "Add a line “- steps: 1. …” and the others, numbered, below it."
        )
    when = field_of(item, items.WHEN)
    if item.before:
        return OtherSteps(str(memory), when, steps)
    if slug(memory.name) != memory.name:
        raise _wrong(
            item,
            f"“{memory.name[:60]}” cannot name a new procedure.",
            f"Write `procedure:{slug(memory.name)}`.",
        )
    return NewProcedure(str(memory), _text(item), when, steps)


def split_steps(text: str) -> tuple[str, ...]:
    """Return the steps of a list, without numbers; lines without a number belong to the step before them.

    Where nothing is numbered, every line is a step.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    numbered = any(_NUMBER.match(line) for line in lines)
    steps: list[str] = []
    for line in lines:
        mark = _NUMBER.match(line) if numbered else _BULLET.match(line)
        words = " ".join(line[mark.end() if mark else 0 :].split())
        if numbered and mark is None and steps:
            steps[-1] += f" {words}"
        else:
            steps.append(words)
    return tuple(step for step in steps if step)


def _core_change(item: ReviewItem) -> Asked:
    block = _block(item)
    return CoreAddition(block, _text(item)) if block else CoreWording(_core_item(item), _text(item))


def _block(item: ReviewItem) -> str:
    """Return the block that the target `core:block` names; empty where it names an item of one."""
    kind, _, name = item.target.strip().partition(":")
    return name.strip() if kind == "core" and name.strip() and ":" not in name else ""


def _core_item(item: ReviewItem) -> str:
    memory = _parsed(item, item.target)
    if memory.kind != "core":
        raise _wrong(
            item,
            f"“{item.target[:60]}” is no item of core memory.",
            "Name it as core:block:item; `workbench core --json` lists them.",
        )
    return str(memory)


def _insight(item: ReviewItem) -> NewInsight:
    section = item.target.strip().removeprefix(EVOLUTION).strip()
    if not item.target.strip().startswith(EVOLUTION) or not section:
        raise _wrong(item, "It names no section of evolution.md.", "Write it as `evolution:Insights`.")
    return NewInsight(section, _text(item))


def _question(item: ReviewItem) -> Answering:
    about = _subject(item)[0] if item.target.strip() else ""
    answer = field_of(item, items.ANSWER)
    return Answering(_text(item), "" if answer in UNANSWERED else answer, about)


def _subject(item: ReviewItem) -> tuple[str, str | None]:
    """Return the entity (`type--slug`) of the target, and the fact's id where it names one."""
    memory = _parsed(item, item.target)
    if memory.kind != "entity":
        raise _wrong(item, f"“{item.target[:60]}” is no entity.", "Write it as [[type--name]].")
    return memory.name, str(memory) if memory.block else None


def _entity(item: ReviewItem, text: str) -> str:
    memory = _parsed(item, text)
    if memory.kind != "entity" or memory.block:
        raise _wrong(item, f"“{text[:60]}” is no entity.", "Write it as [[type--name]].")
    return memory.name


def _memory(item: ReviewItem, text: str) -> str:
    return str(_parsed(item, text))


def _parsed(item: ReviewItem, text: str) -> MemoryId:
    if not text.strip():
        raise _wrong(item, "It does not say what it is for.", "Write “for” and an id before the colon.")
    whole, _, block = text.strip().partition("#^")
    try:
        memory = parse_memory_id(whole)
    except InvalidInput as error:
        raise _wrong(item, error.message, error.remedy or "") from error
    if not block:
        return memory
    if memory.kind != "entity" or not BLOCK_ID.match(block):
        raise _wrong(item, f"“{text[:60]}” is not the id of a fact.", "Write it as entity:type--name#^id.")
    return MemoryId(memory.kind, memory.name, block)


def _text(item: ReviewItem) -> str:
    if not item.text.strip():
        raise _wrong(item, "It has no text.", "Write what it shall say behind the colon.")
    return item.text


def _date(item: ReviewItem, label: str) -> str | None:
    text = field_of(item, label)
    if text and _DATE.fullmatch(text) is None:
        raise _wrong(item, f"“{text[:40]}” is no date.", f"Write {label} as 2026-02-03, 2026-02 or 2026.")
    return text or None


def _wrong(item: ReviewItem, message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, where=item.id, remedy=remedy)

"""What an item of the proposal asks, read back from the file that people may have edited.

The reverse of `reflection/items.py`. What makes no sense is refused with a sentence that says what is wrong; nobody's
reading of it is guessed.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS, fold, index_terms
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import BLOCK_ID, ENTITY_TYPES, MemoryId, entity_type, parse_memory_id, slug
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.items import field_of
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.review import item_changes as ask

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem

_UNANSWERED: Final = frozenset({"", "…", "...", "?"})
_CRITICAL_FACTS: Final = "critical-facts"
_EVOLUTION: Final = "evolution:"
_RELATION: Final = lazy_pattern(r"\s*([^\[\]:]+?)\s*:?\s*\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]\s*\.?\s*")
_LINK: Final = lazy_pattern(r"\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]")
_I_AM: Final = lazy_pattern(r"(?:i['’]m|i am|my name is|call me)\s+|我叫|我是", re.IGNORECASE)
_SAID_AGAIN: Final = r"it(?:['’]s|\s+is)?|that(?:['’]s|\s+is)?|still|so|is|true|the\s+case|right|correct"
_END: Final = r"[\s.!。！]*"
_NO: Final = lazy_pattern(
    rf"(?:no|nope|n|not|false|wrong|nothing|neither|none|不是了?|不再?了?|不对|不對|没有了?|沒有了?|否)"
    rf"(?:[\s,]+(?:{_SAID_AGAIN}|(?:is|do(?:es)?)n['’]t|not|any\s?more|longer))*{_END}",
    re.IGNORECASE,
)
_NEITHER: Final = lazy_pattern(r"(?:no|none|neither|not|nobody)\b|都不|不是", re.IGNORECASE)
_YES: Final = lazy_pattern(
    r"(?:yes|yep|yeah|y|true|right|correct|still|it\s+is|unchanged|no\s+change|nothing\s+(?:has\s+)?changed|是的?|对的?|對的?"
    rf"|没有?变化?|沒有?變化?|不变|不變)(?:[\s,]+(?:{_SAID_AGAIN}))*{_END}",
    re.IGNORECASE,
)
_YES_AND: Final = lazy_pattern(r"(?:yes|yep|yeah|是的?|对的?|對的?)\s*[,.;:!，。；：！–—-]", re.IGNORECASE)
_LIMITING: Final = lazy_pattern(
    r"\b(?:but|except|only|though|although|however|unless|until)\b|但|不过|不過|只|除了", re.IGNORECASE
)
# What may follow a yes and says nothing more.
_ASSENT: Final = lazy_pattern(
    rf"\b(?:{_SAID_AGAIN}|sure(?:ly)?|thanks|thank\s+you|absolutely|definitely|certainly|indeed|exactly|of\s+course"
    r"|unchanged|no\s+changes?|nothing\s+(?:has\s+|have\s+)?changed|(?:the\s+)?same|as\s+before|relevant)\b",
    re.IGNORECASE,
)
_HAN_ASSENT: Final = lazy_pattern(
    r"[和跟与與]?以前一[样樣]|(?<![不没沒未非])(?:[没沒]有?(?:[变變]化?|改[变變]?)|不[变變]|[没沒][错錯]|[没沒]有?[问問][题題]"
    r"|[还還][\u3400-\u9fff]{1,2}[着著]|[还還](?:是|在)?|仍然?|依然|依[旧舊]|照[旧舊]|[现現]在|目前|一[样樣]|老[样樣]子"
    r"|[这這][样樣]|如此|[当當]然|[确確][实實]|[谢謝]{2}|[对對是][的啊]?|好的|嗯|[的了我你他她们們在])"
)
_HAN: Final = lazy_pattern(r"[\u3400-\u9fff]+")
# In answer to whether something is so now, these say that it no longer is.
_PAST: Final = frozenset({"was", "were", "had", "did"})
_NO_BUT: Final = lazy_pattern(r"(?:no|nope|不是?了?|否)\s*[,.;:!，。；：！–—-]+\s*", re.IGNORECASE)
_UNSURE: Final = lazy_pattern(
    r"(?:i\s+)?(?:(?:do\s+not|don['’]?t)\s+know|not\s+sure|unsure|no\s+idea|不知道|不清楚)\b.*", re.IGNORECASE
)
_WORD: Final = lazy_pattern(r"[\u3400-\u9fff]|[^\W\d_][\w'’-]*|\d+")
_FEWEST_WORDS: Final = 3
_NUMBER: Final = lazy_pattern(r"\s*\d{1,9}[.)]\s+")
_BULLET: Final = lazy_pattern(r"\s*[-*+]\s+")
_ITEM_ID: Final = lazy_pattern(r"r-[A-Za-z0-9]+\.\d+")
_DATE: Final = lazy_pattern(r"\d{4}(?:-\d{2}){0,2}")


def read_item(item: ReviewItem) -> ask.ItemChange:
    """Return what an item asks.

    Raises:
        InvalidInput: It makes no sense as it is; the message says why.
    """
    if not is_item_id(item.id):
        raise wrong(item, "This is no number of an item.", "Number items like r-012.3.")
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
            return ask.Archiving(memory_of(item))
        case Kind.RESTORE:
            return ask.Restoring(memory_of(item))
        case Kind.VAULT_PIN:
            return ask.Pinning(memory_of(item))
        case Kind.PROCEDURE:
            return _procedure(item)
        case Kind.CORE_CHANGE:
            return _core_change(item)
        case Kind.PROMOTION:
            return ask.CoreAddition(
                block_to_add_to(item) or _CRITICAL_FACTS, proposed_text(item), items.field_of(item, items.OF)
            )
        case Kind.DEMOTION:
            return ask.Demoting(core_item_of(item))
        case Kind.INSIGHT:
            return _insight(item)
        case Kind.QUESTION:
            return _question(item)
        case None:
            raise wrong(
                item,
                f"“{item.kind[:60]}” is no kind of change.",
                f"Use one of: {', '.join(Kind)}.",
            )


def _still_so(item: ReviewItem, answer: str) -> ask.ItemChange:
    """Return what is to become of an item of core memory after which was asked."""
    yes = _YES_AND.match(answer)
    if _YES.fullmatch(answer) or (yes and not _says_more(answer[yes.end() :], item.text)):
        return ask.Confirming(core_item_of(item))
    if yes:
        raise wrong(
            item,
            f"“{answer[:60]}” says yes and something else.",
            "Answer yes alone, or with the whole line that holds now.",
        )
    if _NO.fullmatch(answer):
        return ask.Demoting(core_item_of(item))
    no = _NO_BUT.match(answer)
    said = answer[no.end() if no else 0 :].strip()
    if _UNSURE.fullmatch(said) or len(_WORD.findall(said)) < _FEWEST_WORDS:
        raise wrong(
            item,
            f"“{said[:60]}” cannot stand alone in core memory.",
            "Answer yes, no, or with the whole line that holds now.",
        )
    return ask.CoreWording(core_item_of(item), said)


def _says_more(rest: str, question: str) -> bool:
    """Return whether what follows a yes limits it, or says what the question does not."""
    if _LIMITING.search(rest):
        return True
    told = _HAN_ASSENT.sub(" ", _ASSENT.sub(" ", rest))
    if any(run not in question for run in _HAN.findall(told)):
        return True
    known = frozenset(index_terms(question))
    words = (fold(word) for word in _WORD.findall(_HAN.sub(" ", told)))
    return any(
        known.isdisjoint(index_terms(word)) for word in words if word not in STOP_WORDS or word in _PAST
    )


def asked_core_item(item: ReviewItem) -> str:
    """Return the item of core memory that the answer to a question changes; empty for all else."""
    is_asked = kind_of(item.kind) is Kind.QUESTION and item.target.strip().startswith("core:")
    return "" if not is_asked or block_to_add_to(item) else core_item_of(item)


def _fact(item: ReviewItem) -> ask.ItemChange:
    entity, fact = subject_of(item)
    if item.before:
        if fact is None:
            raise wrong(
                item,
                "It rewords a fact but does not say which.",
                "Name the fact, as entity:type--name#^id, or delete the line “was”.",
            )
        return ask.OtherWording(fact, proposed_text(item))
    return ask.NewFact(entity, proposed_text(item), date_of(item, items.SINCE))


def _new_entity(item: ReviewItem) -> ask.NewEntity:
    entity, fact = subject_of(item)
    if fact is not None:
        raise wrong(item, "A fact’s id is given where an entity’s is needed.", "Write it as [[type--name]].")
    _require_fresh_name(item, entity)
    aliases = (" ".join(alias.split()) for alias in items.field_of(item, items.ALIASES).split(";"))
    return ask.NewEntity(
        entity,
        proposed_text(item),
        tuple(dict.fromkeys(alias for alias in aliases if alias)),
        items.field_of(item, items.SUMMARY),
    )


def _require_fresh_name(item: ReviewItem, entity: str) -> None:
    """Make sure that the id of a new entity is one that the engine could have given."""
    kind, _, name = entity.partition("--")
    if entity_type(kind) != kind:
        raise wrong(
            item,
            f"“{kind[:40]}” is no type of entity.",
            f"Use {', '.join(ENTITY_TYPES)}, or another short word.",
        )
    if slug(name) != name:
        raise wrong(
            item, f"“{entity[:60]}” cannot name a new entity.", f"Write it as [[{kind}--{slug(name)}]]."
        )


def _relation(item: ReviewItem) -> ask.NewRelation:
    entity, _ = subject_of(item)
    found = _RELATION.fullmatch(item.text)
    if found is None:
        raise wrong(
            item,
            f"“{item.text[:60]}” is no relation.",
            "Write it as: relation [[type--name]], for example: develops [[project--apollo]].",
        )
    return ask.NewRelation(entity, found[1].strip(), entity_in(item, found[2]), date_of(item, items.SINCE))


def _merge(item: ReviewItem) -> ask.Merging:
    entity, _ = subject_of(item)
    link = _LINK.search(item.text)
    if link is None:
        raise wrong(
            item,
            "It does not say which entity goes into the other.",
            "Write it as: [[type--name]] is the same.",
        )
    return ask.Merging(entity, entity_in(item, link[1]))


def _supersession(item: ReviewItem) -> ask.Superseding:
    entity, fact = subject_of(item)
    if fact is None and not item.before:
        raise wrong(item, "It does not say what was so before.", "Add a line: - was: the old statement.")
    held_since, until, since = (date_of(item, each) for each in (items.HELD_SINCE, items.UNTIL, items.SINCE))
    return ask.Superseding(entity, fact, item.before, proposed_text(item), held_since, until, since)


def _contradiction(item: ReviewItem) -> ask.Deciding:
    entity, fact = subject_of(item)
    resolve = items.field_of(item, items.RESOLVE).casefold() or "ask"
    if resolve not in items.RESOLUTIONS:
        raise wrong(
            item, f"“{resolve[:60]}” does not resolve it.", f"Say one of: {', '.join(items.RESOLUTIONS)}."
        )
    this, that = items.field_of(item, items.THIS), items.field_of(item, items.THAT)
    for label, said in ((items.THIS, this), (items.THAT, that)):
        if not said and resolve in (label, "both"):
            raise wrong(item, f"There is nothing under “{label}”.", f"Add a line: - {label}: the statement.")
    return ask.Deciding(entity, fact, this, that, resolve)


def _procedure(item: ReviewItem) -> ask.ItemChange:
    memory = parsed_id(item, item.target)
    if memory.kind != "procedure":
        raise wrong(item, "It does not name a procedure.", "Write it as `procedure:name-of-it`.")
    steps = split_steps(items.field_of(item, items.STEPS))
    if not steps:
        raise wrong(
            item, "There are no steps.", "Add a line “- steps: 1. …” and the others, numbered, below it."
        )
    when = items.field_of(item, items.WHEN)
    if item.before:
        return ask.OtherSteps(str(memory), when, steps)
    if slug(memory.name) != memory.name:
        raise wrong(
            item,
            f"“{memory.name[:60]}” cannot name a new procedure.",
            f"Write `procedure:{slug(memory.name)}`.",
        )
    return ask.NewProcedure(str(memory), proposed_text(item), when, steps)


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


def _core_change(item: ReviewItem) -> ask.ItemChange:
    block = block_to_add_to(item)
    return (
        ask.CoreAddition(block, proposed_text(item))
        if block
        else ask.CoreWording(core_item_of(item), proposed_text(item))
    )


def _insight(item: ReviewItem) -> ask.NewInsight:
    section = item.target.strip().removeprefix(_EVOLUTION).strip()
    if not item.target.strip().startswith(_EVOLUTION) or not section:
        raise wrong(item, "It names no section of evolution.md.", "Write it as `evolution:Insights`.")
    return ask.NewInsight(section, proposed_text(item))


def _question(item: ReviewItem) -> ask.ItemChange:
    answer = items.field_of(item, items.ANSWER)
    if answer in _UNANSWERED:
        return ask.Answering(proposed_text(item), "", "")
    if not item.target.strip().startswith("core:"):
        about = subject_of(item)[0] if item.target.strip() else ""
        return ask.Answering(proposed_text(item), answer, about)
    if not items.field_of(item, items.WRITES) and not block_to_add_to(item):
        return _still_so(item, answer)
    # “I’m Ines.” and “Ines” answer alike.
    said = answer[opening.end() if (opening := _I_AM.match(answer)) else 0 :].rstrip(" .!。")
    if _NEITHER.match(said) or _UNSURE.fullmatch(said):
        remedy = "Answer with what is asked for, or decline the question."
        raise wrong(item, f"“{said[:60]}” is no answer to this.", remedy)
    text = items.field_of(item, items.WRITES).replace(items.UNANSWERED, said) or said
    block = block_to_add_to(item)
    return ask.CoreAddition(block, text) if block else ask.CoreWording(core_item_of(item), text)


def is_item_id(text: str) -> bool:
    """Return whether a text is the id of an item, by which history can take it back: `r-012.3`."""
    return _ITEM_ID.fullmatch(text) is not None


def block_to_add_to(item: ReviewItem) -> str:
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

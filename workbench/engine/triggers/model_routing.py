"""Routing, and what to forget, by a chat model: asked with a schema, checked strictly, else the rules decide."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, cast, get_args

from workbench.engine.errors import ProviderError
from workbench.engine.identifiers import slug
from workbench.engine.triggers.model import (
    Confidence,
    CoreBlockName,
    EntityMention,
    EntityType,
    FactStatement,
    MemoryType,
    ProcedureOutline,
    RelationMention,
    Routing,
    RoutingHints,
    Store,
)
from workbench.engine.triggers.rules import FEWEST_TAGS, LONGEST_SUMMARY, MOST_TAGS, route_by_rules
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.providers.chat import ChatModel

# Design document §6.3; a workspace may know more.
RELATIONS = (
    "develops",
    "uses",
    "used-by",
    "part-of",
    "contains",
    "depends-on",
    "decided-on",
    "supersedes",
    "preceded-by",
    "followed-by",
    "prefers",
    "avoids",
    "confident-about",
    "uncertain-about",
    "relates-to",
)

_MOST_ENTITIES = 20
_MOST_ITEMS = 40
_LONGEST_NAME = 80
_LONGEST_STATEMENT = 1_000
_LONGEST_MEMORY = 20_000
_LONGEST_TARGET = 200


class _BadAnswer(ValueError):
    """Why a model’s answer cannot be used."""


def route_by_model(text: str, chat: ChatModel, hints: RoutingHints | None = None) -> Routing:
    """Tell where a memory belongs by asking a chat model (design document §8.2).

    The document’s own answer is read as well as ours: it has no type, facts, block of core memory or procedure, which
    the rules then tell, and its relations may join ids (`tool--vim`). What else a model adds is passed over.

    Args:
        text: What shall be remembered, without the trigger phrase. The model is handed it as data.
        chat: The model.
        hints: What the caller knows beyond the text. A wish for protection or for a store overrules the model.

    Returns:
        A routing with `router="model"`; where the model is slow, refuses or answers badly, what the rules say,
        with the reason in `fallback`. Never raises for a fault of the model.
    """
    hints = hints or RoutingHints()
    relations = (*RELATIONS, *hints.relations)
    if len(text) > _LONGEST_MEMORY:
        return _by_rules(text, hints, f"the text is longer than {_LONGEST_MEMORY} characters")
    try:
        answer = chat.complete_json(
            _messages(text, hints),
            schema=routing_schema(relations, hints.store),
            schema_name="memory_routing",
        )
        if answer.value is None:
            return _by_rules(text, hints, answer.problem)
        routing = _read_routing(_completed(answer.value, text, hints), relations, hints)
    except ProviderError as error:
        return _by_rules(text, hints, error.message)
    except _BadAnswer as error:
        return _by_rules(text, hints, f"The model’s answer cannot be used: {error}")
    if hints.protect and hints.store is None:
        routing = replace(
            routing, store="vault", core_update=False, core_block=None, facts=(), procedure=None
        )
    return routing


@dataclass(frozen=True)
class ForgetTarget:
    """What a model says that a request to forget means.

    Args:
        query: In words, to be looked for in memory; empty where the model gave none.
        problem: Why there is none, one sentence, or "".
    """

    query: str = ""
    problem: str = ""


def target_by_model(request: str, chat: ChatModel) -> ForgetTarget:
    """Ask a chat model what a request to forget means (design document §8.3, step 1).

    It is handed the request as data and nothing of memory, so that no memory can steer it; it answers words to look
    for, never ids. Never raises for a fault of the model.

    Args:
        request: The part of the message that asks to forget.
        chat: The model.
    """
    from workbench.engine.providers.chat import ChatMessage

    if len(request) > _LONGEST_MEMORY:
        return ForgetTarget(problem=f"The request is longer than {_LONGEST_MEMORY} characters.")
    told = [
        ChatMessage("system", _prompt("forget.md")),
        ChatMessage("user", "The request:\n" + json.dumps(request, ensure_ascii=False)),
    ]
    try:
        answer = chat.complete_json(
            told, schema=_object(target={"type": "string"}), schema_name="forget_target"
        )
        if answer.value is None:
            return ForgetTarget(problem=answer.problem)
        return ForgetTarget(_line(answer.value.get("target"), "target", _LONGEST_TARGET))
    except ProviderError as error:
        return ForgetTarget(problem=error.message)
    except _BadAnswer as error:
        return ForgetTarget(problem=f"The model’s answer cannot be used: {error}")


def routing_schema(relations: Sequence[str] = RELATIONS, store: Store | None = None) -> dict[str, Any]:
    """Return the JSON schema of a model’s routing, with every field required, as strict servers demand.

    Args:
        relations: The vocabulary.
        store: The only store to choose, where one was asked for.
    """
    text = {"type": "string"}
    block = {"type": ["string", "null"], "enum": [*get_args(CoreBlockName), None]}
    procedure = _object(title=text, trigger=text, steps={"type": "array", "items": text})
    return _object(
        store=_one_of([store] if store else get_args(Store)),
        type=_one_of(get_args(MemoryType)),
        entities={"type": "array", "items": _object(name=text, type=_one_of(get_args(EntityType)))},
        relations={
            "type": "array",
            "items": _object(**{"from": text, "relation": _one_of(relations), "to": text}),
        },
        facts={"type": "array", "items": _object(subject={"type": ["string", "null"]}, text=text)},
        tags={"type": "array", "items": text},
        confidence=_one_of(get_args(Confidence)),
        core_update={"type": "boolean"},
        core_block=block,
        procedure={"anyOf": [procedure, {"type": "null"}]},
        summary=text,
    )


def _by_rules(text: str, hints: RoutingHints, reason: str) -> Routing:
    return replace(route_by_rules(text, hints), fallback=reason)


def _messages(text: str, hints: RoutingHints) -> list[Any]:
    from workbench.engine.providers.chat import ChatMessage

    told = f"The user is called {json.dumps(hints.owner, ensure_ascii=False)}."
    if hints.store is not None:
        told += f"\nThe store is decided: {hints.store}."
    if hints.entities:
        names = json.dumps([mention.name for mention in hints.entities], ensure_ascii=False)
        told += f"\nIt is about these, whatever else it names: {names}."
    return [
        ChatMessage("system", f"{_prompt('router.md')}\n{told}"),
        ChatMessage("user", "The memory:\n" + json.dumps(text, ensure_ascii=False)),
    ]


@cache
def _prompt(name: str) -> str:
    folder = resources.files("workbench.engine.triggers")
    return folder.joinpath("prompts", name).read_text("utf-8")


def _completed(answer: dict[str, Any], text: str, hints: RoutingHints) -> dict[str, Any]:
    """Return an answer with what the document’s form of it (§8.2) does not have, told by rules."""
    store = answer.get("store")
    lacks = [key for key in ("type", "facts", "core_block", "procedure") if key not in answer]
    if not lacks or store not in get_args(Store):
        return answer
    by_rules = route_by_rules(text, replace(hints, store=cast("Store", store)))
    entities = answer.get("entities")
    named = (
        [item.get("name") for item in entities if isinstance(item, dict)]
        if isinstance(entities, list)
        else []
    )
    first = next(iter(named), None)
    stated = [fact.text for fact in by_rules.facts] or [text]
    subjects = [fact.subject for fact in by_rules.facts] or [first]
    outline = by_rules.procedure
    told: dict[str, Any] = {
        "type": by_rules.type,
        "facts": [
            {"subject": subject if subject in named else first, "text": fact}
            for subject, fact in zip(subjects, stated, strict=True)
        ],
        # Of what the document lets core memory change by, this is what is neither identity nor for ever.
        "core_block": route_by_rules(text, hints).core_block or "Active Context",
        "procedure": outline
        and {"title": outline.title, "trigger": outline.trigger, "steps": [*outline.steps]},
    }
    return {**answer, **{key: told[key] for key in lacks}}


def _read_routing(answer: dict[str, Any], relations: Sequence[str], hints: RoutingHints) -> Routing:
    wanted = hints.store
    store = cast("Store", _choice(answer, "store", [wanted] if wanted else get_args(Store)))
    mentions = {entity.name: entity for entity in _read_entities(answer)}
    joined = _read_relations(answer, mentions, relations, hints)
    core_update = answer.get("core_update")
    if not isinstance(core_update, bool):
        raise _BadAnswer("“core_update” is neither true nor false.")
    block = answer.get("core_block")
    if block is not None and block not in get_args(CoreBlockName):
        raise _BadAnswer("“core_block” names no block of core memory.")
    in_core = store == "core" or (core_update and wanted is None)
    if in_core and block is None:
        raise _BadAnswer("it changes core memory without naming the block.")
    return Routing(
        store=store,
        type=cast("MemoryType", _choice(answer, "type", get_args(MemoryType))),
        tags=_read_tags(answer),
        confidence=cast("Confidence", _choice(answer, "confidence", get_args(Confidence))),
        summary=_line(answer.get("summary"), "summary", LONGEST_SUMMARY),
        entities=tuple(mentions.values()),
        relations=joined,
        facts=_read_facts(answer, set(mentions)) if store == "semantic" else (),
        core_update=in_core,
        core_block=cast("CoreBlockName", block) if in_core else None,
        procedure=_read_procedure(answer) if store == "procedural" else None,
        router="model",
    )


def _read_entities(answer: dict[str, Any]) -> tuple[EntityMention, ...]:
    entities: dict[str, EntityMention] = {}
    for item in _objects(answer, "entities", _MOST_ENTITIES):
        name = _line(item.get("name"), "name", _LONGEST_NAME)
        kind = cast("EntityType", _choice(item, "type", get_args(EntityType)))
        entities.setdefault(name.casefold(), EntityMention(name, kind))
    return tuple(entities.values())


def _read_relations(
    answer: dict[str, Any], mentions: dict[str, EntityMention], words: Sequence[str], hints: RoutingHints
) -> tuple[RelationMention, ...]:
    """Return the relations; an entity that only an id names joins `mentions`."""
    found: dict[RelationMention, None] = {}
    for item in _objects(answer, "relations", _MOST_ITEMS):
        left, right = (
            _end(_line(item.get(end), end, _LONGEST_NAME), mentions, hints) for end in ("from", "to")
        )
        if left == right:
            raise _BadAnswer("a relation does not join two of its entities.")
        found[RelationMention(left, _choice(item, "relation", words), right)] = None
    return tuple(found)


def _end(written: str, mentions: dict[str, EntityMention], hints: RoutingHints) -> str:
    """Return the name of the entity at one end of a relation, which may be written as an id."""
    if written in mentions:
        return written
    kind, _, name = written.partition("--")
    if kind not in get_args(EntityType) or not name or len(mentions) >= _MOST_ENTITIES:
        raise _BadAnswer("a relation does not join two of its entities.")
    for mention in mentions.values():
        if f"{mention.type}--{slug(mention.name)}" == written:
            return mention.name
    name = name.replace("-", " ")
    known = hints.known(name) if hints.known else None
    found = known if known and known.type == kind else EntityMention(name, cast("EntityType", kind))
    mentions.setdefault(found.name, found)
    return found.name


def _read_facts(answer: dict[str, Any], names: set[str]) -> tuple[FactStatement, ...]:
    facts = []
    for item in _objects(answer, "facts", _MOST_ITEMS):
        subject = item.get("subject")
        if subject is not None and subject not in names:
            raise _BadAnswer("a fact is about none of its entities.")
        facts.append(FactStatement(subject, _line(item.get("text"), "text", _LONGEST_STATEMENT)))
    if not facts:
        raise _BadAnswer("it gives no fact for the semantic store.")
    return tuple(facts)


def _read_tags(answer: dict[str, Any]) -> tuple[str, ...]:
    written = answer.get("tags")
    if not isinstance(written, list):
        raise _BadAnswer("“tags” is no list.")
    # A tag list in Markdown ends at a comma or bracket.
    tags = dict.fromkeys(
        "-".join(tag.lower().replace(",", " ").replace("[", " ").replace("]", " ").replace("|", " ").split())
        for tag in written
        if isinstance(tag, str)
    )
    kept = tuple(tag[:40] for tag in tags if tag)[:MOST_TAGS]
    if len(kept) < FEWEST_TAGS:
        raise _BadAnswer(f"it gives fewer than {FEWEST_TAGS} tags.")
    return kept


def _read_procedure(answer: dict[str, Any]) -> ProcedureOutline:
    item = answer.get("procedure")
    if not isinstance(item, dict):
        raise _BadAnswer("it gives no steps for the procedural store.")
    steps = item.get("steps")
    if not isinstance(steps, list) or not 0 < len(steps) <= _MOST_ITEMS:
        raise _BadAnswer("it gives no steps for the procedural store.")
    return ProcedureOutline(
        _line(item.get("title"), "title", _LONGEST_NAME),
        _line(item.get("trigger"), "trigger", _LONGEST_STATEMENT),
        tuple(_line(step, "steps", _LONGEST_STATEMENT) for step in steps),
    )


def _objects(answer: dict[str, Any], key: str, most: int) -> list[dict[str, Any]]:
    items = answer.get(key)
    if not isinstance(items, list) or len(items) > most or not all(isinstance(item, dict) for item in items):
        raise _BadAnswer(f"“{key}” is no list of at most {most} objects.")
    return items


def _choice(item: dict[str, Any], key: str, allowed: Sequence[str]) -> str:
    value = item.get(key)
    if not isinstance(value, str) or value not in allowed:
        raise _BadAnswer(f"“{key}” is none of {', '.join(allowed)}.")
    return value


def _line(value: object, key: str, longest: int) -> str:
    """Return a text as one line; every blank, line ends included, becomes a single space."""
    if not isinstance(value, str) or not value.strip():
        raise _BadAnswer(f"“{key}” is empty or no text.")
    line = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    if not line:
        raise _BadAnswer(f"“{key}” is empty or no text.")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(values: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}

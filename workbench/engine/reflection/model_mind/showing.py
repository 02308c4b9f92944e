"""What a model is shown, as JSON data with short handles, and what it may answer.

There is one JSON schema for each kind of item and each phase, and a check that it was kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal

from workbench.engine.identifiers import ENTITY_TYPES
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.kinds import Kind
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.catalog.records import FactRecord
    from workbench.engine.reflection.model import Passage
    from workbench.engine.results.decay import DecayEntry
    from workbench.engine.results.memories import CoreItem

What = Literal["passage", "fact", "core", "memory", "archived", "often", "past"]

# Marks by which chat models part turns, thoughts and tools: in JSON, escaped letters read the same.
_TURN_MARKS: Final = lazy_pattern(r"[<>]|\[(?=/?[A-Z_]{3,}\])")
_LEAST_CUT: Final = 200
Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}

INSIGHT_SECTIONS: Final = ("Insights", "Active Threads", "Open Questions", "Milestones")
CORE_BLOCKS: Final = ("identity", "active-context", "persona", "critical-facts")


@dataclass(frozen=True, slots=True)
class Source:
    """What a handle stands for.

    Args:
        id: The memory's.
        text: Its own words, whole.
        what: A new or older passage, a recorded fact, an item of core memory, a faded memory, an archived one, one that
            is often used, or an entry of the books of reflection.
        record: What else is known of it.
    """

    id: str
    text: str
    what: What
    record: Passage | FactRecord | CoreItem | DecayEntry | None = None


@dataclass
class Shown:
    """The handles given so far for one question.

    Args:
        text_of: Gives a memory's own words by id.
        sources: What each handle stands for.
    """

    text_of: Callable[[str], str | None]
    sources: dict[str, Source] = field(default_factory=dict)
    _refs: dict[str, str] = field(default_factory=dict)

    def give(self, prefix: str, source: Source, number: int | None = None) -> str:
        """Give a memory a handle; one that has one keeps it.

        Args:
            prefix: A capital letter.
            source: What it stands for.
            number: By which it goes; the next one free by default.
        """
        known = self._refs.get(source.id)
        if known is not None:
            return known
        ref = f"{prefix}{number or 1 + sum(ref.startswith(prefix) for ref in self.sources)}"
        self.sources[ref] = source
        self._refs[source.id] = ref
        return ref

    def find(self, ref: str) -> Source | None:
        """Return what a handle stands for, as a model writes it; None where it was not shown."""
        return self.sources.get(ref.strip().strip("[]"))

    def fitting(self, rows: Iterable[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
        """Return the rows that fit into so many tokens, in their order; longer ones are passed over.

        Args:
            rows: Made one by one; the handles of one that does not fit are taken back.
            tokens: As the rows take them as data.
        """
        kept: list[dict[str, Any]] = []
        given = len(self.sources)
        for row in rows:
            cost = count_tokens(as_data(row)) + 2
            if cost <= tokens:
                kept.append(row)
                tokens -= cost
                given = len(self.sources)
            for ref in list(self.sources)[given:]:
                del self._refs[self.sources.pop(ref).id]
            if tokens <= 0:
                break
        return kept


def as_data(value: object) -> str:
    """Write what a model is shown as JSON, in which no text can end a string, a message or a turn."""
    written = json.dumps(value, ensure_ascii=False)
    escaped = _TURN_MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", written)
    return escaped.encode("utf-8", "replace").decode()


def clipped(text: str, tokens: int) -> str:
    """Return a text that is too long for so many tokens cut, with “…” at its end."""
    kept = text
    while len(kept) > _LEAST_CUT and count_tokens(kept) > tokens:
        kept = kept[: max(_LEAST_CUT, len(kept) * 4 // 5)]
    return kept if kept is text else kept + "…"


def passage_row(ref: str, passage: Passage, tokens: int) -> dict[str, Any]:
    """Return a passage as data; what it does not say is left out."""
    row = {
        "ref": ref,
        "when": f"{passage.moment:%Y-%m-%d %H:%M}" if passage.moment else "",
        "speaker": passage.speaker,
        "type": passage.type,
        "source": passage.source if passage.source != "conversation" else "",
        "tags": list(passage.tags),
        "text": clipped(passage.text, tokens),
    }
    return {key: value for key, value in row.items() if value}


def record(**properties: Schema) -> Schema:
    """Return the schema of an object with just these keys, all of them required, as strict servers demand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def one_of(values: Iterable[str]) -> Schema:
    """Return the schema of one of some words."""
    return {"type": "string", "enum": list(values)}


def list_of(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


EVIDENCE: Final = list_of(record(ref=_TEXT, quote=_TEXT))
_SURE: Final[dict[str, Schema]] = {"confidence": one_of(("high", "medium", "low"))}


def item_schema(kind: Kind, relations: Sequence[str]) -> Schema:
    """Return the schema of one kind of item.

    No key decides anything: what is not named here has no place in an answer.

    Args:
        kind: Which.
        relations: The workspace's vocabulary.
    """
    own: dict[Kind, dict[str, Schema]] = {
        Kind.ENTITY: {
            "name": _TEXT,
            "type": one_of(ENTITY_TYPES),
            "aliases": _TEXTS,
            "summary": _TEXT,
            **_SURE,
        },
        Kind.FACT: {"about": _TEXT, "text": _TEXT, "since": _TEXT, "replaces": _TEXT, **_SURE},
        Kind.RELATION: {"from": _TEXT, "relation": one_of(relations), "to": _TEXT, "since": _TEXT, **_SURE},
        Kind.MERGE: {"keep": _TEXT, "absorb": _TEXT, **_SURE},
        Kind.SUPERSESSION: {"about": _TEXT, "old": _TEXT, "new": _TEXT, "since": _TEXT, **_SURE},
        Kind.CONTRADICTION: {"about": _TEXT, "question": _TEXT, "this": _TEXT, "that": _TEXT, **_SURE},
        Kind.PROCEDURE: {"title": _TEXT, "when": _TEXT, "steps": _TEXTS, "changes": _TEXT, **_SURE},
        Kind.ARCHIVE: {"memory": _TEXT},
        Kind.RESTORE: {"memory": _TEXT},
        Kind.VAULT_PIN: {"memory": _TEXT},
        Kind.CORE_CHANGE: {"block": one_of(CORE_BLOCKS), "replaces": _TEXT, "text": _TEXT, **_SURE},
        Kind.PROMOTION: {"memory": _TEXT, "text": _TEXT, **_SURE},
        Kind.DEMOTION: {"item": _TEXT, **_SURE},
        Kind.INSIGHT: {"section": one_of(INSIGHT_SECTIONS), "text": _TEXT, **_SURE},
        Kind.QUESTION: {"text": _TEXT, "about": _TEXT},
    }
    return record(kind=one_of([str(kind)]), evidence=EVIDENCE, **own[kind], reason=_TEXT)


def items_schema(kinds: Sequence[Kind], relations: Sequence[str] = ()) -> Schema:
    """Return the schema of a list of items of some kinds."""
    schemas = [item_schema(kind, relations) for kind in kinds if kind != Kind.RELATION or relations]
    return list_of({"anyOf": schemas} if len(schemas) > 1 else schemas[0])


def problem_with(value: object, schema: Mapping[str, Any], name: str = "it") -> str:
    """Check a value as strictly as its schema says.

    Args:
        value: As JSON gives it.
        schema: Of the keywords that this module uses, `anyOf` excepted.
        name: What the value is called in the answer.

    Returns:
        What is wrong, a clause; empty where nothing is.
    """
    match schema["type"]:
        case "string":
            if not isinstance(value, str):
                return f"{name} is no text"
            if "enum" in schema and value not in schema["enum"]:
                return f"{name} is “{value[:40]}”, which is none of those allowed"
        case "integer":
            if not isinstance(value, int) or isinstance(value, bool):
                return f"{name} is no whole number"
        case "array":
            if not isinstance(value, list):
                return f"{name} is no list"
            return next(
                (found for at in value if (found := problem_with(at, schema["items"], f"one of {name}"))), ""
            )
        case "object":
            if not isinstance(value, dict):
                return f"{name} is no object"
            properties = schema["properties"]
            strange = [str(key)[:40] for key in value if key not in properties]
            if strange:
                return f"{name} says “{strange[0]}”, which it has no place for"
            return next(
                (
                    found
                    for key in properties
                    if (
                        found := problem_with(value[key], properties[key], key)
                        if key in value
                        else f"it lacks {key}"
                    )
                ),
                "",
            )
    return ""

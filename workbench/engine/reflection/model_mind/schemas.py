"""What a model may answer: one JSON schema for each kind of item and each phase, and the check that it was kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from workbench.engine.identifiers import ENTITY_TYPES
from workbench.engine.reflection.kinds import Kind

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}

INSIGHT_SECTIONS: Final = ("Insights", "Active Threads", "Open Questions", "Milestones")
CORE_BLOCKS: Final = ("identity", "active-context", "persona", "critical-facts")


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

"""What the engine answers: frozen values, and the one rule that turns them into the JSON of the contracts.

Field names are the JSON's keys in snake case; `to_json` writes them in camel case, times as ISO 8601 in
UTC, absent values as null. A module of results that is asked for by `results.audit` is loaded then: making the
classes of all of them takes a tenth of a second, and most commands answer with few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.clock import render_time

if TYPE_CHECKING:
    from workbench.engine.results import (
        access,
        account,
        audit,
        clients,
        decay,
        graph,
        hub,
        inbox,
        memories,
        recall,
        reviews,
        sessions,
        settings,
        sync,
        transfer,
    )

__all__ = [
    "NOT_IN_JSON",
    "OR_NULL",
    "access",
    "account",
    "audit",
    "clients",
    "decay",
    "graph",
    "hub",
    "inbox",
    "memories",
    "recall",
    "reviews",
    "sessions",
    "settings",
    "sync",
    "to_json",
    "transfer",
]

_MODULES: Final = (
    "access",
    "account",
    "audit",
    "clients",
    "decay",
    "graph",
    "hub",
    "inbox",
    "memories",
    "recall",
    "reviews",
    "sessions",
    "settings",
    "sync",
    "transfer",
)
NOT_IN_JSON = "not in JSON"
"""Marks a field that is for this process alone: a contract says which keys there are."""
OR_NULL = "or null"
"""Marks a text field that becomes null in JSON when empty."""
_AS_THEY_ARE: Final = frozenset({str, int, float, bool, type(None)})


def to_json(value: object) -> Any:
    """Convert a result for `json.dumps`.

    Args:
        value: A result, or anything made of results, mappings, sequences and scalars.
    """
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return render_time(value)
    if is_dataclass(kind):
        shaped = {}
        for name, key, or_null in _shape(kind):
            item = getattr(value, name)
            if or_null:
                item = item or None
            # Large results are mostly scalars: a call for each would take most of the time.
            shaped[key] = item if type(item) in _AS_THEY_ARE else to_json(item)
        return shaped
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool | int | float):
        return value
    return str(value)


@cache
def _shape(kind: type[Any]) -> tuple[tuple[str, str, bool], ...]:
    """Return the name and JSON key of each field, and whether empty means null."""
    shown = (each for each in fields(kind) if NOT_IN_JSON not in each.metadata)
    return tuple((each.name, camel_case(each.name), OR_NULL in each.metadata) for each in shown)


def camel_case(name: str) -> str:
    """Convert `start_line` to `startLine`; a trailing underscore (of a reserved word) is dropped."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

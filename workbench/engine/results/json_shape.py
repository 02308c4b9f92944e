"""The one rule that turns answers into the JSON of the contracts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import Any

from workbench.engine.clock import render_time

OR_NULL = "or null"
"""Marks a field of text whose emptiness means that there is none: the JSON says null then."""


def to_json(value: object) -> Any:
    """Turn a result into what `json.dumps` takes.

    Args:
        value: A result, or anything made of results, mappings, sequences and scalars.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            camel_case(f.name): to_json(
                getattr(value, f.name) or None if OR_NULL in f.metadata else getattr(value, f.name)
            )
            for f in fields(value)
        }
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return render_time(value)
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def camel_case(name: str) -> str:
    """Turn `start_line` into `startLine`; a trailing underscore (of a reserved word) is dropped."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)

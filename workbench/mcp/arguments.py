"""Checking what an agent hands to a tool, so that whatever is wrong with it comes back as a sentence."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

from workbench.engine.errors import InvalidInput
from workbench.engine.results.json_shape import camel_case
from workbench.mcp.declaration import LONGEST_QUERY, MOST_TEXTS, Kind, Parameter, Tool

_SHOWN = 60


def read_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every parameter, None for what was left out.

    Names may also be written in camel case (`maxResults`), as other memory tools have them; a single text will do for a
    list of one.

    Args:
        tool: What was called.
        given: JSON values by name.

    Raises:
        InvalidInput: Something is missing, unknown, of another type or out of its range.
    """
    by_name = {parameter.name: parameter for parameter in tool.parameters}
    names = {**{camel_case(name): name for name in by_name}, **{name: name for name in by_name}}
    unknown = [name for name in given if name not in names]
    if unknown:
        near = difflib.get_close_matches(unknown[0], by_name, 1)
        meant = f"Did you mean “{near[0]}”? " if near else ""
        raise InvalidInput(
            f"{tool.name} takes no “{unknown[0][:_SHOWN]}”.",
            where=tool.name,
            remedy=f"{meant}It takes {', '.join(by_name) or 'nothing'}.",
        )
    values = {names[name]: value for name, value in given.items() if value is not None}
    return {name: _checked(tool, parameter, values.get(name)) for name, parameter in by_name.items()}


def _checked(tool: Tool, parameter: Parameter, value: Any) -> Any:
    where = f"{tool.name}.{parameter.name}"
    if value is None:
        if parameter.required:
            raise InvalidInput(f"“{parameter.name}” is missing.", where=where, remedy=parameter.about)
        return parameter.default
    match parameter.kind:
        case Kind.TEXT if isinstance(value, str):
            return _text(parameter, value, where)
        case Kind.TEXTS if isinstance(value, str):
            return (_text(parameter, value, where),) if value else ()
        case Kind.TEXTS if isinstance(value, list) and all(isinstance(item, str) for item in value):
            if len(value) > MOST_TEXTS:
                raise InvalidInput(
                    f"“{parameter.name}” lists {len(value):,} texts.",
                    where=where,
                    remedy=f"Give at most {MOST_TEXTS} at once.",
                )
            return tuple(_text(parameter, item, where) for item in value)
        case Kind.WHOLE | Kind.NUMBER if isinstance(value, int | float) and not isinstance(value, bool):
            return _number(parameter, value, where)
        case Kind.SWITCH if isinstance(value, bool):
            return value
    raise InvalidInput(
        f"“{parameter.name}” is {_kind_of(value)}.", where=where, remedy=f"Give {_takes(parameter)}."
    )


def _text(parameter: Parameter, value: str, where: str) -> str:
    most = int(parameter.most or LONGEST_QUERY)
    if len(value) > most:
        raise InvalidInput(
            f"“{parameter.name}” has {len(value):,} characters.",
            where=where,
            remedy=f"Give at most {most:,}; split what is longer.",
        )
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidInput(
            f"“{parameter.name}” holds characters that no text has.",
            where=where,
            remedy="Leave out NUL and unpaired surrogates.",
        )
    if parameter.choices and value not in parameter.choices:
        raise InvalidInput(
            f"“{value[:_SHOWN]}” is no {parameter.name}.", where=where, remedy=f"Give {_takes(parameter)}."
        )
    return value


def _number(parameter: Parameter, value: float, where: str) -> float:
    least, most = parameter.least, parameter.most
    whole = parameter.kind is Kind.WHOLE
    fits = (
        math.isfinite(value)
        and (least is None or value >= least)
        and (most is None or value <= most)
        and not (whole and value != int(value))
    )
    if not fits:
        raise InvalidInput(
            f"“{parameter.name}” is {value:g}.", where=where, remedy=f"Give {_takes(parameter)}."
        )
    return int(value) if whole else float(value)


def _takes(parameter: Parameter) -> str:
    if parameter.choices:
        return f"one of {', '.join(parameter.choices)}"
    match parameter.kind:
        case Kind.WHOLE | Kind.NUMBER:
            what = "a whole number" if parameter.kind is Kind.WHOLE else "a number"
            bounds = [
                f"{word} {bound:,g}"
                for word, bound in (("from", parameter.least), ("up to", parameter.most))
                if bound is not None
            ]
            return " ".join((what, *bounds))
        case Kind.TEXTS:
            return "a list of texts"
        case Kind.SWITCH:
            return "true or false"
        case _:
            return "a text"


def _kind_of(value: Any) -> str:
    kinds: dict[type[Any], str] = {
        str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object",
    }  # fmt: skip
    return kinds.get(type(value), "of another type")

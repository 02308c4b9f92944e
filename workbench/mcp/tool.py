"""A tool for agents: its declaration, the check of its arguments, and answers fitted to a budget of tokens."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import InvalidInput
from workbench.engine.results import camel_case
from workbench.engine.roles import Capability
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


LONGEST_QUERY = 10_000
LONGEST_TEXT = 200_000
MOST_LISTED = 200
_SHOWN = 60
ANSWER_TOKENS = 8_000
"""Limit of an answer without a budget; clients warn about or cut more than 10,000 tokens."""


class Kind(StrEnum):
    """The types of arguments, as JSON Schema calls them."""

    TEXT = "string"
    WHOLE = "integer"
    NUMBER = "number"
    SWITCH = "boolean"
    TEXTS = "array"
    WHOLES = "array of integers"
    OBJECT = "object"


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool.

    Args:
        name: As agents write it.
        about: What to put there, for a model to read.
        required: Whether the tool makes no sense without it.
        choices: The words it takes, where it does not take any text.
        most: Largest number; of texts the most characters, where there is another bound than usual.
        default: What holds where it is left out, for a model to know; None where that takes more words.
    """

    name: str
    kind: Kind
    about: str
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    default: str | int | float | bool | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        schema: dict[str, Any] = {"type": self.kind.value.partition(" ")[0], "description": self.about}
        if self.kind in (Kind.TEXTS, Kind.WHOLES):
            schema["items"] = {"type": "string" if self.kind is Kind.TEXTS else "integer"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.kind in (Kind.WHOLE, Kind.NUMBER):
            schema |= {"minimum": self.least} if self.least is not None else {}
            schema |= {"maximum": self.most} if self.most is not None else {}
        if self.default is not None:
            schema["default"] = self.default
        return schema


@dataclass(frozen=True)
class Call:
    """One call of a tool, its arguments checked.

    Args:
        door: The workspace, open in the caller’s role.
        arguments: By the names of the parameters; what was left out is None.
        told: Told how far a long call has come: done, to do (None where that is not known) and a sentence.
        cancelled: Asked by long calls now and then, whether nobody waits for the answer any more.
        sample: Has the client’s own model answer instructions and material, in so many tokens at most, and gives the
            name of that model as well; raises `ProviderError`. None where the client does not offer that.
    """

    door: Workspace
    arguments: Mapping[str, Any]
    told: Callable[[float, float | None, str], None] = lambda _done, _total, _said: None
    cancelled: Callable[[], bool] = lambda: False
    sample: Callable[[str, str, int], tuple[str, str]] | None = None


@dataclass(frozen=True)
class Tool:
    """Something an agent can ask of memory.

    Args:
        name: As agents call it.
        title: For people who are shown what an agent calls.
        about: When to use it and what comes back, for a model to read.
        needs: What the role has to be allowed for the tool to be offered.
        answer: Answers a call with JSON values; run on a thread of its own.
        writes: Whether memory may be different afterwards.
        removes: Whether something may be hidden afterwards.
        repeatable: Whether doing it again changes nothing more.
    """

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    needs: Capability
    answer: Callable[[Call], dict[str, Any]]
    writes: bool = False
    removes: bool = False
    repeatable: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of what it takes."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {parameter.name: parameter.schema for parameter in self.parameters},
            "additionalProperties": False,
        }
        required = [parameter.name for parameter in self.parameters if parameter.required]
        return {**schema, "required": required} if required else schema


def read_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every parameter, None for what was left out.

    Names may also be written in camel case (`maxResults`), as other memory tools have them; a single value will do
    for a list of one.

    Args:
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
            _check_length(parameter, value, "texts", where)
            return tuple(_text(parameter, item, where) for item in value)
        case Kind.WHOLES if _is_number(value):
            return (_number(parameter, value, where),)
        case Kind.WHOLES if isinstance(value, list) and all(map(_is_number, value)):
            _check_length(parameter, value, "numbers", where)
            return tuple(_number(parameter, item, where) for item in value)
        case Kind.WHOLE | Kind.NUMBER if _is_number(value):
            return _number(parameter, value, where)
        case Kind.SWITCH if isinstance(value, bool):
            return value
        case Kind.OBJECT if isinstance(value, dict | str):
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            _text(parameter, written, where)
            return value
    raise InvalidInput(
        f"“{parameter.name}” is {_kind_of(value)}.", where=where, remedy=f"Give {_takes(parameter)}."
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_length(parameter: Parameter, value: list[Any], what: str, where: str) -> None:
    if len(value) > MOST_LISTED:
        raise InvalidInput(
            f"“{parameter.name}” lists {len(value):,} {what}.",
            where=where,
            remedy=f"Give at most {MOST_LISTED} at once.",
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
    whole = parameter.kind is not Kind.NUMBER
    try:
        shown = float(value)
    except OverflowError:
        # JSON knows whole numbers of any length.
        shown = math.inf
    fits = (
        math.isfinite(shown)
        and (least is None or value >= least)
        and (most is None or value <= most)
        and not (whole and value != int(value))
    )
    if not fits:
        raise InvalidInput(
            f"“{parameter.name}” is {shown:.10g}.", where=where, remedy=f"Give {_takes(parameter)}."
        )
    return int(value) if whole else float(value)


def _takes(parameter: Parameter) -> str:
    if parameter.choices:
        return f"one of {', '.join(parameter.choices)}"
    match parameter.kind:
        case Kind.WHOLE | Kind.NUMBER:
            what = "a whole number" if parameter.kind is Kind.WHOLE else "a number"
            bounds = [
                f"{word} {bound:,.10g}"
                for word, bound in (("from", parameter.least), ("up to", parameter.most))
                if bound is not None
            ]
            return " ".join((what, *bounds))
        case Kind.TEXTS:
            return "a list of texts"
        case Kind.WHOLES:
            return "a list of whole numbers"
        case Kind.SWITCH:
            return "true or false"
        case _:
            return "a text"


def _kind_of(value: Any) -> str:
    kinds: dict[type[Any], str] = {
        str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object",
    }  # fmt: skip
    return kinds.get(type(value), "of another type")


def as_text(answer: object) -> str:
    """Write JSON values as they are sent: on one line, in their own script."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def tokens_of(answer: object) -> int:
    """Return the tokens that JSON values take as they are sent."""
    return count_tokens(as_text(answer))


def most_that_fit(build: Callable[[int], dict[str, Any]], length: int, budget: int) -> dict[str, Any]:
    """Return the longest of the answers that fits a budget, or the shortest where none does.

    Args:
        build: Makes the answer with so many parts; with more of them it is longer.
        length: Parts there are.
        budget: Tokens.
    """
    answer = build(length)
    if tokens_of(answer) <= budget:
        return answer
    return build(_largest(lambda parts: tokens_of(build(parts)) <= budget, length))


def _largest(fits: Callable[[int], bool], beyond: int) -> int:
    """Return the largest number below one that does not fit; 0 where none does."""
    fitting = 0
    while beyond - fitting > 1:
        middle = (fitting + beyond) // 2
        if fits(middle):
            fitting = middle
        else:
            beyond = middle
    return fitting


def fitted(answer: dict[str, Any], key: str, budget: int) -> dict[str, Any]:
    """Return an answer with as much of one of its lists as fits; `leftOut` says how much does not.

    Args:
        key: Of the list, the best first.
        budget: Tokens.
    """
    parts: list[Any] = answer[key]

    def build(length: int) -> dict[str, Any]:
        left_out = len(parts) - length
        return {**answer, key: parts[:length], **({"leftOut": left_out} if left_out else {})}

    return most_that_fit(build, len(parts), budget)

"""What a tool for agents is: its name, what it is for, what it takes, whom it is for and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from workbench.engine.agents.roles import Capability

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

LONGEST_QUERY = 10_000
LONGEST_TEXT = 200_000
MOST_TEXTS = 200


class Kind(StrEnum):
    """The types of arguments, by their names in JSON Schema."""

    TEXT = "string"
    WHOLE = "integer"
    NUMBER = "number"
    SWITCH = "boolean"
    TEXTS = "array"


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool.

    Args:
        name: As agents write it.
        kind: Its type.
        about: What to put there, for a model to read.
        required: Whether the tool makes no sense without it.
        choices: The words it takes, where it does not take any text.
        least: Smallest number.
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
        schema: dict[str, Any] = {"type": self.kind.value, "description": self.about}
        if self.kind is Kind.TEXTS:
            schema["items"] = {"type": "string"}
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
        door: The workspace, open in the role of whoever calls.
        arguments: By the names of the parameters; what was left out is None.
        told: Told how far a long call has come: done, to do (None where that is not known) and a sentence.
        cancelled: Asked by long calls now and then, whether nobody waits for the answer any more.
    """

    door: Workspace
    arguments: Mapping[str, Any]
    told: Callable[[float, float | None, str], None] = lambda _done, _total, _said: None
    cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Tool:
    """Something an agent can ask of memory.

    Args:
        name: As agents call it.
        title: For people who are shown what an agent calls.
        about: When to use it and what comes back, for a model to read.
        parameters: What it takes.
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

"""Many memories at once: one JSON object a line comes in, one line of JSON a memory goes out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from workbench.cli.failure import Failure, describe
from workbench.cli.invocation import DONE, FAILED
from workbench.cli.json_output import as_json, print_json
from workbench.cli.printing import safe_line
from workbench.engine.errors import InvalidInput, WorkbenchError

if TYPE_CHECKING:
    from workbench.cli.invocation import Invocation
    from workbench.engine.workspace import Workspace

# The names of the options, and the plurals under which the answers give them back.
_KEYS = {
    "text": "text",
    "store": "store",
    "type": "type",
    "tag": "tags",
    "tags": "tags",
    "entity": "entities",
    "entities": "entities",
    "confidence": "confidence",
    "source": "source",
    "actor": "actor",
    "for": "scope",
    "scope": "scope",
}
_LISTS = ("tags", "entities")


@dataclass(frozen=True)
class Options:
    """What can be said about a memory beside its text; None and empty leave it to the engine."""

    store: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    confidence: str | None = None
    source: str | None = None
    actor: str | None = None
    scope: str | None = None

    def as_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of `Workspace.remember`."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def parse_line(line: str, defaults: Options) -> tuple[str, Options]:
    """Read one line: an object with `text` and any of the options.

    Args:
        line: JSON.
        defaults: What holds where the object does not say.

    Raises:
        InvalidInput: The line is no such object.
    """
    try:
        given = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"This is no JSON: {error}.", remedy='Write {"text":"…"} on one line.') from error
    except RecursionError as error:
        raise InvalidInput("This JSON is nested too deeply.", remedy='Write {"text":"…"}.') from error
    if not isinstance(given, dict):
        raise InvalidInput("This is JSON, but no object.", remedy='Write {"text":"…"} on one line.')
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = _KEYS.get(key)
        if name is None:
            near = difflib.get_close_matches(key, _KEYS, 1)
            meant = f"Perhaps “{near[0]}” is meant." if near else f"Keys are {', '.join(_KEYS)}."
            raise InvalidInput(f"“{key}” is no key of a memory.", remedy=meant)
        if value is not None:
            values[name] = _texts(key, value) if name in _LISTS else _text(key, value)
    text = values.pop("text", "")
    if not text.strip():
        raise InvalidInput("There is no text.", remedy='Give the memory as "text".')
    return text, replace(defaults, **values)


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"“{key}” is no text.", remedy="Put it into quotation marks.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"“{key}” holds half a character.", remedy="Write \\u escapes in pairs."
        ) from error
    return value


def _texts(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(key, value),)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(_text(key, item) for item in value)
    raise InvalidInput(f"“{key}” is neither a text nor a list of texts.", remedy=f'Write "{key}":["…"].')


def read_lines(
    bench: Invocation, workspace: Workspace, stream: TextIO, defaults: Options, *, dry_run: bool
) -> int:
    """Remember every line of a stream; a bad one is reported with its number and stops nothing.

    Returns:
        The exit code: 1 where any line failed.
    """
    code = DONE
    for number, line in enumerate(_decoded(stream), start=1):
        if isinstance(line, str) and not line.strip():
            continue
        try:
            if isinstance(line, InvalidInput):
                raise line
            text, options = parse_line(line, defaults)
            remembered = workspace.remember(text, **options.as_arguments(), dry_run=dry_run)
        except WorkbenchError as error:
            code = FAILED
            failure = describe(error)
            _report(bench, number, failure)
        else:
            print_json(as_json(remembered))
    return code


def _report(bench: Invocation, number: int, failure: Failure) -> None:
    place = f"line {number}" + (f", {failure.where}" if failure.where else "")
    print_json({**failure._replace(where=place).as_json(), "line": number})
    remedy = f" {failure.remedy}" if failure.remedy else ""
    bench.warn([safe_line(f"{place}: {failure.message}{remedy}")])


def _decoded(stream: TextIO) -> Iterable[str | InvalidInput]:
    """Read line by line, so that one that is no UTF-8 spoils only itself."""
    for raw in stream.buffer:
        try:
            yield raw.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            yield InvalidInput(f"This is no UTF-8: {error.reason}.", remedy="Save the lines as UTF-8.")

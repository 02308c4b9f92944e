"""Reads hand-written JSON quickly: comments, bare keys, single quotes, trailing commas."""

from __future__ import annotations

import json
import re
from typing import Any

LONGEST_SLOW = 20_000
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n\r\u2028\u2029]*|/\*(?s:.*?)\*/)
    |"(?P<double>(?:[^"\\\n\r]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*)"
    |'(?P<single>(?:[^'\\\n\r"]|\\[\\/bfnrt]|\\u[0-9A-Fa-f]{4})*)'
    |(?P<number>[+-]?(?:(?:0|[1-9]\d*)\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.$]))
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<mark>[{}\[\]:,])""",
    re.VERBOSE | re.ASCII,
)
_COLON = re.compile(r"\s*:")
_CONSTANTS = frozenset({"true", "false", "null"})


def read_relaxed_json(text: str) -> Any:
    """Parse JSON or JSON5.

    The `json5` package takes 20 ms for a thousand characters, so common forms are first turned into plain JSON token by
    token; only rarer ones go to the package.

    Raises:
        ValueError: The text is neither, or uses rare forms and is too long for the slow parser.
        RecursionError: It is nested too deeply.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    plain = _as_json(text)
    if plain is not None:
        try:
            return json.loads(plain)
        except json.JSONDecodeError:
            pass
    if len(text) > LONGEST_SLOW:
        raise ValueError("neither JSON nor common JSON5")
    import json5

    return json5.loads(text)


def _as_json(text: str) -> str | None:
    """Turn relaxed JSON into JSON, or return None for a rarer form."""
    written: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return None
        place = token.end()
        match token.lastgroup:
            case "double":
                written.append(token[0])
            case "single":
                written.append(f'"{token["single"]}"')
            case "number":
                written.append(_plain_number(token[0]))
            case "name":
                if _COLON.match(text, place):
                    written.append(f'"{token[0]}"')
                elif token[0] in _CONSTANTS:
                    written.append(token[0])
                else:
                    return None
            case "mark":
                if token[0] in "}]" and written and written[-1] == ",":
                    if len(written) < 2 or written[-2] in "{[,":
                        return None
                    written.pop()
                written.append(token[0])
    return " ".join(written)


def _plain_number(text: str) -> str:
    mantissa, exponent, power = text.removeprefix("+").replace("E", "e").partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    return f"{sign}{whole or 0}{'.' + fraction if fraction else ''}{exponent}{power}"

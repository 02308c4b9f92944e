"""How answers become JSON on stdout: one value, a mutation's account first, nothing a terminal obeys."""

from __future__ import annotations

import json
import sys
from typing import Any

from workbench.display.text import unsafe_characters
from workbench.engine.results import to_json
from workbench.engine.results.memories import MessageOutcome

_ACCOUNT = ("ok", "commit", "files", "ids")


def as_json(result: object) -> Any:
    """Turn a result into JSON values; what tells of a mutation begins with its account.

    Args:
        result: A result of the engine, or a mapping.
    """
    value = to_json(result)
    if isinstance(result, MessageOutcome):
        done = value["remembered"] or value["forgotten"] or value["reflected"] or {}
        account: dict[str, Any] = {"ok": True, "commit": None, "files": [], "ids": []}
        return {**account, **{key: done[key] for key in _ACCOUNT if key in done}, **value}
    if isinstance(value, dict) and "ok" in value and "commit" in value:
        return {**{key: value[key] for key in _ACCOUNT if key in value}, **value}
    return value


def render_json(value: Any) -> str:
    """Write JSON values on one line; indented where a person reads it at a terminal."""
    stream = sys.stdout
    ascii_only = (stream.encoding or "utf-8").lower().replace("-", "") != "utf8"
    if stream.isatty():
        text = json.dumps(value, ensure_ascii=ascii_only, indent=2)
    else:
        text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    return _escape(text)


def print_json(value: Any) -> None:
    """Print JSON values and flush, so that a reader at the other end of a pipe has them now."""
    sys.stdout.write(render_json(value) + "\n")
    sys.stdout.flush()


def _escape(text: str) -> str:
    """Escape what `json.dumps` leaves as it is though it controls a terminal; the value stays the same.

    Half characters alone are no text that JSON can tell: they are written out, as names of files are (`layout.shown`).
    """
    parts, end = [], 0
    for match in unsafe_characters(text):
        parts += [text[end : match.start()], _escaped(match[0])]
        end = match.end()
    return "".join([*parts, text[end:]]) if parts else text


def _escaped(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return f"\\\\u{ord(character):04x}"
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]

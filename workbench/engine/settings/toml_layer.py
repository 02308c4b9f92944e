"""One TOML settings file read against the schema, every fault named with its line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.engine.errors import InvalidSetting
from workbench.engine.settings.schema import Kind, Unfit, Value
from workbench.engine.settings.sections import SCHEMA

_HEADER = re.compile(r"^\s*\[\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"^\s*([A-Za-z0-9_\-\"'.]+(?:\s*\.\s*[A-Za-z0-9_\-\"']+)*)\s*=")
_TOML_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")
_SECTIONS = frozenset(key.partition(".")[0] for key in SCHEMA if "." in key)


def read_toml(
    content: bytes, name: str, *, personal: bool, user_file: str = "the user’s own config.toml"
) -> tuple[dict[str, Value], dict[str, str]]:
    """Return a settings file's values and their origins, both by dotted key.

    Args:
        content: The file's bytes.
        name: What the file is called in errors and origins.
        personal: Whether it is the user's own; a workspace's may not set everything.
        user_file: Where what is refused here may be set instead.

    Raises:
        InvalidSetting: It is no TOML; a key is unknown, ill-typed or out of range; or a workspace's file sets
            what only its user may.
    """
    try:
        text = content.decode("utf-8-sig")
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InvalidSetting(
            f"This is no UTF-8 text (byte {error.start}).", where=name, remedy="Save it as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        found = _TOML_PLACE.search(str(error))
        line = found[1] if found and found[1] else str(text.count("\n") + 1)
        message = _TOML_PLACE.sub("", str(error))
        raise InvalidSetting(
            f"This is no TOML: {message}.", where=f"{name}:{line}", remedy="Mend that line."
        ) from error
    except RecursionError as error:
        raise InvalidSetting("It is nested too deeply.", where=name, remedy="Flatten it.") from error
    lines = _lines(text)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for key, value in _flatten(document):
        line_number = lines.get(key)
        where = f"{name}:{line_number}" if line_number else name
        values[key] = checked(key, value, where, personal=personal, user_file=user_file)
        origins[key] = where
    return values, origins


def checked(key: str, value: object, where: str, *, personal: bool, user_file: str) -> Value:
    """Return the value of one key in the form that settings keep it.

    Raises:
        InvalidSetting: The key is unknown, its value unfit, or it is not for this file to set.
    """
    spec = SCHEMA.get(key)
    if spec is None:
        raise unknown(key, where)
    if spec.personal and not personal:
        raise InvalidSetting(
            f"A workspace may not set {key}: {spec.personal}.",
            where=where,
            remedy=f"Take it out here, and set it in {user_file} if you want it.",
        )
    try:
        return spec.check(value, confined=not personal)
    except Unfit as error:
        remedy = f"It says: {spec.about}."
        if spec.kind in (Kind.PATH, Kind.PATHS) and not personal:
            remedy = f"Name a path inside, or set it in {user_file}."
        raise InvalidSetting(f"{key} {error}.", where=where, remedy=remedy) from error


def unknown(key: str, where: str) -> InvalidSetting:
    """Return the error for a key that there is not, with the nearest one that there is."""
    near = nearest(key)
    if key in _SECTIONS:
        remedy = f"{key} is a section: write its settings below a line [{key}]."
    elif near is None:
        remedy = f"There are the sections {', '.join(sorted(_SECTIONS))}."
    else:
        spec = SCHEMA[near]
        remedy = f"Perhaps {near} is meant: {spec.about}; it takes {spec.takes}."
    return InvalidSetting(f"There is no setting {key[:80]}.", where=where, remedy=remedy)


def nearest(key: str, cutoff: float = 0.5) -> str | None:
    """Return the setting whose dotted key, or last part, resembles the text most; None where none does."""
    text = key.casefold().replace("-", "_")
    whole = difflib.get_close_matches(text, SCHEMA, n=1, cutoff=cutoff)
    by_name: dict[str, str] = {}
    for known in SCHEMA:
        by_name.setdefault(known.rpartition(".")[2], known)
    part = difflib.get_close_matches(text.rpartition(".")[2], by_name, n=1, cutoff=max(cutoff, 0.75))
    candidates = [*whole, *(by_name[name] for name in part)]
    if not candidates:
        return None
    return max(candidates, key=lambda known: difflib.SequenceMatcher(None, text, known).ratio())


def _flatten(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if name in _SECTIONS and isinstance(value, dict):
            for inner, item in value.items():
                dotted = f"{name}.{inner}"
                spec = SCHEMA.get(dotted)
                if isinstance(item, dict) and (spec is None or spec.kind is not Kind.TABLE):
                    dotted += "".join(f".{deeper}" for deeper in list(item)[:1])
                yield dotted, item
        else:
            yield name, value


def _lines(text: str) -> dict[str, int]:
    """Find the line (1-based) of each dotted key; keys inside multi-line strings may shadow none."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _plain(header[1])
            found.setdefault(table, number)
        elif assignment := _ASSIGNMENT.match(line):
            found.setdefault(f"{table}.{_plain(assignment[1])}" if table else _plain(assignment[1]), number)
    return found


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))

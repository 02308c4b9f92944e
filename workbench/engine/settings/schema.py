"""How a setting is declared and checked: kind, range, purpose, and who may set it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workbench.engine.values import dataclass

Value = str | int | float | bool | tuple[str, ...] | dict[str, str]
ENDPOINT = "opening somebody’s folder must not send memory anywhere"
PROGRAM = "opening somebody’s folder must not run anything"
OUTSIDE = "a workspace must not choose places outside itself"
TASTE = "the bench looks the way its user wants it, whatever the workspace"


class Kind(StrEnum):
    """The types a setting can have."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    SWITCH = "true or false"
    CHOICE = "choice"
    ZONE = "time zone"
    TIME = "time of day"
    PATH = "path"
    TEXTS = "list of texts"
    PATHS = "list of paths"
    TABLE = "table of texts"


class Unfit(Exception):
    """The value is unfit; the text says what the setting takes instead."""


@dataclass(frozen=True)
class Spec:
    """A setting's declaration, without its name and default.

    Args:
        about: Its purpose, one phrase.
        choices: The words a `CHOICE` takes.
        personal: Why only the environment and the user's own configuration may set it, or None if a workspace
            may.
        secret: Never shown, not even in an error.
    """

    kind: Kind
    about: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    personal: str | None = None
    secret: bool = False

    @property
    def takes(self) -> str:
        """Describe the allowed values in words."""
        match self.kind:
            case Kind.WHOLE | Kind.NUMBER:
                return f"a {self.kind.value} from {self.least:,} to {self.most:,}"
            case Kind.CHOICE:
                return f"one of {', '.join(self.choices)}"
            case Kind.ZONE:
                return "the IANA name of a time zone, such as Europe/Berlin"
            case Kind.TIME:
                return "a time of day, such as 03:00"
            case Kind.SWITCH:
                return "true or false"
            case _:
                return f"a {self.kind.value}"

    def check(self, value: object, *, confined: bool) -> Value:
        """Return the value in its stored form.

        Args:
            value: From TOML or JSON.
            confined: Whether paths must stay inside the workspace.

        Raises:
            Unfit: It is not what the setting takes.
        """
        match self.kind:
            case Kind.WHOLE:
                if isinstance(value, int) and not isinstance(value, bool) and self._in_range(value):
                    return value
            case Kind.NUMBER:
                if isinstance(value, int | float) and not isinstance(value, bool) and self._in_range(value):
                    return float(value)
            case Kind.SWITCH:
                if isinstance(value, bool):
                    return value
            case Kind.CHOICE:
                if isinstance(value, str) and value in self.choices:
                    return value
            case Kind.ZONE:
                if isinstance(value, str) and (value == "" or is_zone(value)):
                    return value
            case Kind.TIME:
                if isinstance(value, str) and _is_time_of_day(value):
                    return value
            case Kind.TEXT:
                if isinstance(value, str):
                    return value
            case Kind.PATH:
                if isinstance(value, str):
                    return _checked_path(value, confined=confined)
            case Kind.TEXTS:
                if (texts := _texts(value)) is not None:
                    return texts
            case Kind.PATHS:
                if (texts := _texts(value)) is not None:
                    return tuple(_checked_path(path, confined=confined) for path in texts)
            case Kind.TABLE:
                if isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
                    return {str(name): str(item) for name, item in value.items()}
        shown = "" if self.secret else f", not {_shown(value)}"
        raise Unfit(f"takes {self.takes}{shown}")

    def read(self, text: str) -> Value:
        """Parse the value of an environment variable.

        Raises:
            Unfit: It is not what the setting takes.
        """
        value: object = text.strip()
        match self.kind:
            case Kind.WHOLE | Kind.NUMBER:
                value = _number(text)
            case Kind.SWITCH:
                words = {"true": True, "1": True, "yes": True, "on": True}
                words |= {"false": False, "0": False, "no": False, "off": False}
                value = words.get(text.strip().lower(), text)
            case Kind.TEXTS | Kind.PATHS:
                value = [part.strip() for part in text.split(",") if part.strip()]
            case Kind.TABLE:
                pairs = [part.partition("=") for part in text.split(",") if part.strip()]
                if not all(equals for _, equals, _ in pairs):
                    raise Unfit("takes name=value pairs with commas between them")
                value = {name.strip(): item.strip() for name, _, item in pairs}
        return self.check(value, confined=False)

    def _in_range(self, value: float) -> bool:
        assert self.least is not None
        assert self.most is not None
        return math.isfinite(value) and self.least <= value <= self.most


def is_zone(name: str) -> bool:
    """Return whether an IANA time zone has this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        return False
    return True


def leads_outside(path: str) -> bool:
    """Return whether a path in a workspace's settings could leave the workspace on any system."""
    windows = PureWindowsPath(path)
    return bool(
        path.startswith(("~", "/", "\\"))
        or "\0" in path
        or windows.drive
        or ".." in PurePosixPath(path).parts
        or ".." in windows.parts
    )


def _checked_path(path: str, *, confined: bool) -> str:
    if confined and leads_outside(path):
        raise Unfit("may name only paths inside the workspace here")
    return path


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    texts = tuple(item for item in value if isinstance(item, str))
    return texts if len(texts) == len(value) else None


def _is_time_of_day(text: str) -> bool:
    hours, colon, minutes = text.partition(":")
    return bool(
        colon
        and len(minutes) == 2
        and (hours + minutes).isascii()
        and (hours + minutes).isdigit()
        and int(hours) < 24
        and int(minutes) < 60
    )


def _number(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _shown(value: object) -> str:
    return f"“{value[:60]}”" if isinstance(value, str) else repr(value)[:60]


def whole(default: int, least: int, most: int, about: str, personal: str | None = None) -> Any:
    """Declare a whole number within bounds, as a field of a section."""
    return _declared(default, Spec(Kind.WHOLE, about, least, most, personal=personal))


def number(default: float, least: float, most: float, about: str, personal: str | None = None) -> Any:
    """Declare a number within bounds."""
    return _declared(default, Spec(Kind.NUMBER, about, least, most, personal=personal))


def choice(default: str, choices: tuple[str, ...], about: str, personal: str | None = None) -> Any:
    """Declare one of some words."""
    return _declared(default, Spec(Kind.CHOICE, about, choices=choices, personal=personal))


def of(kind: Kind, default: Value, about: str, personal: str | None = None, *, secret: bool = False) -> Any:
    """Declare a value of any other kind."""
    return _declared(default, Spec(kind, about, personal=personal, secret=secret))


def _declared(default: Value, spec: Spec) -> Any:
    metadata = {"spec": spec}
    if isinstance(default, dict):
        return field(default_factory=dict, repr=not spec.secret, metadata=metadata)
    return field(default=default, repr=not spec.secret, metadata=metadata)

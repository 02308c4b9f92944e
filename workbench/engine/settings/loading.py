"""The layers of settings: environment over workspace over user over foreign files over defaults."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import InvalidSetting, StorageError
from workbench.engine.settings.directories import user_settings_file
from workbench.engine.settings.foreign import read_foreign
from workbench.engine.settings.regular_file import NotAFile, read_regular_file
from workbench.engine.settings.schema import Unfit, Value
from workbench.engine.settings.sections import SCHEMA, Settings, assemble, default_of, environment_name
from workbench.engine.settings.toml_layer import nearest, read_toml

_NOT_SETTINGS = frozenset({"WORKBENCH_CONFIG", "WORKBENCH_NOW"})
# Settings whose values must fall from each to the next, the rule, and whether equals are refused too.
_FALLING = (
    (
        ("decay.active_threshold", "decay.fading_threshold", "decay.archive_threshold"),
        "each threshold of decay must not be higher than the one before",
        False,
    ),
    (("search.chunk_tokens", "search.chunk_overlap"), "chunks must be longer than what they share", True),
)
_BY_ENVIRONMENT_NAME = {environment_name(key): key for key in SCHEMA}


def load_settings(root: Path | None, *, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that hold for a workspace. Nothing is written.

    Args:
        root: The workspace folder; None where there is none yet.
        environment: The environment variables; the process's own by default.

    Raises:
        InvalidSetting: A key of `workbench.toml`, of the user's file or of the environment is unknown,
            ill-typed, out of range or not for that layer to set.
        OutsideWorkspace: `workbench.toml` is a symbolic link.
        StorageError: A settings file exists and cannot be read.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    warnings: list[str] = []

    def lay(layer: tuple[dict[str, Value], dict[str, str]]) -> None:
        values.update(layer[0])
        origins.update(layer[1])

    user_file = user_settings_file(environment)
    if root is not None:
        foreign_values, foreign_origins, warnings = read_foreign(root)
        lay((foreign_values, foreign_origins))
    content = _content(user_file, str(user_file))
    if content is not None:
        lay(read_toml(content, str(user_file), personal=True))
    elif environment.get("WORKBENCH_CONFIG"):
        raise InvalidSetting(
            "There is no such file.", where=f"WORKBENCH_CONFIG={user_file}", remedy="Create it or unset it."
        )
    if root is not None:
        content = _content(layout.resolve(root, layout.SETTINGS), layout.SETTINGS)
        if content is not None:
            lay(read_toml(content, layout.SETTINGS, personal=False, user_file=str(user_file)))
    lay(_from_environment(environment, warnings))
    if "editor" not in values:
        for name in ("VISUAL", "EDITOR"):
            if environment.get(name):
                values["editor"], origins["editor"] = environment[name], name
                break
    _settle_together(values, origins, warnings)
    settings = assemble(values, origins, ())
    return replace(settings, warnings=(*warnings, *_useless_critical_files(settings)))


def check_settings(content: bytes) -> None:
    """Make sure that a workspace can be opened with these settings.

    Args:
        content: What its `workbench.toml` is to hold.

    Raises:
        InvalidSetting: A key is unknown, ill-typed, out of range or makes no sense beside another.
    """
    values, origins = read_toml(content, layout.SETTINGS, personal=False)
    _settle_together(values, origins, [])


def _content(path: Path, name: str) -> bytes | None:
    try:
        return read_regular_file(path)
    except NotAFile as error:
        raise StorageError(
            "The settings cannot be read: something stands there that is no file.",
            where=name,
            remedy="Take it away, or put a file in its place.",
        ) from error
    except OSError as error:
        raise StorageError(
            f"The settings cannot be read: {error.strerror}.",
            where=name,
            remedy="Give yourself the right to read it.",
        ) from error


def _from_environment(
    environment: Mapping[str, str], warnings: list[str]
) -> tuple[dict[str, Value], dict[str, str]]:
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for name, text in environment.items():
        if not name.startswith("WORKBENCH_") or name in _NOT_SETTINGS or not text:
            continue
        key = _BY_ENVIRONMENT_NAME.get(name)
        if key is None:
            near = nearest(name.removeprefix("WORKBENCH_").lower().replace("_", ".", 1), 0.8)
            if near:
                warnings.append(f"{name} sets nothing; perhaps {environment_name(near)} is meant.")
            continue
        spec = SCHEMA[key]
        try:
            values[key] = spec.read(text)
        except Unfit as error:
            raise InvalidSetting(f"{name} {error}.", where=name, remedy=f"It says: {spec.about}.") from error
        origins[key] = name
    return values, origins


def _settle_together(values: dict[str, Value], origins: dict[str, str], warnings: list[str]) -> None:
    """Refuse values that are fit alone and make no sense beside each other; foreign ones are only dropped."""
    for keys, rule, strict in _FALLING:
        numbers = [float(str(values.get(key, default_of(key)))) for key in keys]
        pairs = list(pairwise(numbers))
        if all(high > low or (high == low and not strict) for high, low in pairs):
            continue
        own = [key for key in keys if key in values and not _is_foreign(origins[key])]
        foreign = [key for key in keys if key in values and _is_foreign(origins[key])]
        if foreign:
            for key in foreign:
                warnings.append(f"{origins.pop(key)} was left aside: {rule}.")
                del values[key]
            _settle_together(values, origins, warnings)
            return
        said = ", ".join(f"{key} = {number:g}" for key, number in zip(keys, numbers, strict=True))
        usual = ", ".join(f"{default_of(key)}" for key in keys)
        raise InvalidSetting(
            f"{rule.capitalize()}, and they are {said}.",
            where=origins[own[0]],
            remedy=f"The defaults are {usual}.",
        )


def _useless_critical_files(settings: Settings) -> Iterator[str]:
    for path in settings.audit.critical_files:
        if not layout.can_be_critical(path):
            yield (
                f"{settings.origin('audit.critical_files')}: audit.critical_files names “{path[:80]}”, which cannot "
                "be critical; name Markdown or JSON below memory/ but not memory/meta/, or a file like USER.md."
            )


def _is_foreign(origin: str) -> bool:
    return origin.startswith(layout.FOREIGN_SETTINGS)

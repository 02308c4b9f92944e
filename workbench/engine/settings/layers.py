"""The layers of settings (environment, workspace, user, foreign, defaults): read, checked, and one changed in its file.

Comments, order and spelling of all else in that file stay.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine import layout
from workbench.engine.errors import InvalidSetting, StorageError, WorkbenchError
from workbench.engine.file_access import NotAFile, read_regular_file, replace_file
from workbench.engine.patterns import lazy_pattern
from workbench.engine.settings.foreign import ForeignSettings, read_foreign, without_key
from workbench.engine.settings.schema import Kind, Unfit, Value
from workbench.engine.settings.sections import (
    SCHEMA,
    Settings,
    assemble,
    default_of,
    environment_name,
    user_settings_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = lazy_pattern(r"^\s*\[\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]\s*(?:#.*)?$")
_ASSIGNMENT = lazy_pattern(r"^\s*([A-Za-z0-9_\-\"'.]+(?:\s*\.\s*[A-Za-z0-9_\-\"']+)*)\s*=")
_TOML_PLACE = lazy_pattern(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")
_SECTIONS = frozenset(key.partition(".")[0] for key in SCHEMA if "." in key)
_NOT_SETTINGS = frozenset({"WORKBENCH_CONFIG", "WORKBENCH_NOW"})
# Settings whose values must decrease in this order, the rule, and whether equal values are refused.
_FALLING = (
    (
        ("decay.active_threshold", "decay.fading_threshold", "decay.archive_threshold"),
        "each threshold of decay must not be higher than the one before",
        False,
    ),
    (("search.chunk_tokens", "search.chunk_overlap"), "chunks must be longer than what they share", True),
)
_WEIGHTS = ("search.vector_weight", "search.text_weight", "search.candidate_multiplier")
_Layer = tuple[dict[str, Value], dict[str, str]]
_BY_ENVIRONMENT_NAME = {environment_name(key): key for key in SCHEMA}
USUAL_PLACE = "~/agent-memory"
"""Where a new memory is made unless the person says where."""
_BOM = b"\xef\xbb\xbf"


def read_toml(
    content: bytes, name: str, *, personal: bool, user_file: str = "the user’s own config.toml"
) -> tuple[dict[str, Value], dict[str, str]]:
    """Return a settings file's values and their origins, by dotted key.

    Args:
        name: The file's name in errors and origins.
        personal: Whether it is the user's own; a workspace's file may not set everything.
        user_file: Where to set what is refused here.

    Raises:
        InvalidSetting: The file is not TOML; a key is unknown, ill-typed or out of range; or a workspace's file
            sets what only its user may.
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
    except ValueError as error:  # Python reads no whole number of thousands of digits
        raise InvalidSetting(
            "A number in it is too long to be read.", where=name, remedy="Write it with fewer digits."
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
    """Return the validated value of one key.

    Raises:
        InvalidSetting: The key is unknown, its value unfit, or this file may not set it.
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
    """Return the error for an unknown key, suggesting the nearest known one."""
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
    """Return the setting whose dotted key, or last part, resembles the text most, or None."""
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
    """Find the line (1-based) of each dotted key, ignoring multi-line strings."""
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


def load_settings(
    root: Path | None,
    *,
    environment: Mapping[str, str] | None = None,
    instead: Mapping[Path, bytes] | None = None,
) -> Settings:
    """Return the settings in force for a workspace. Writes nothing.

    Args:
        root: The workspace folder, or None if there is none yet.
        environment: The environment variables; the process's own by default.
        instead: What settings files would hold, by path, to try a change before it is written.

    Raises:
        InvalidSetting: A key of `workbench.toml`, of the user's file or of the environment is unknown,
            ill-typed, out of range or not for that layer to set.
        OutsideWorkspace: `workbench.toml` is a symbolic link.
        StorageError: A settings file exists and cannot be read.
    """
    environment = os.environ if environment is None else environment
    warnings: list[str] = []
    own: list[_Layer] = []
    user_file = user_settings_file(environment)
    written = instead or {}
    content = written.get(user_file) if user_file in written else _content(user_file, str(user_file))
    if content is not None:
        own.append(read_toml(content, str(user_file), personal=True))
    elif environment.get("WORKBENCH_CONFIG"):
        raise InvalidSetting(
            "There is no such file.", where=f"WORKBENCH_CONFIG={user_file}", remedy="Create it or unset it."
        )
    if root is not None:
        place = layout.resolve(root, layout.SETTINGS)
        content = written.get(place) if place in written else _content(place, layout.SETTINGS)
        if content is not None:
            own.append(read_toml(content, layout.SETTINGS, personal=False, user_file=str(user_file)))
    own.append(_from_environment(environment, warnings))
    foreign = ForeignSettings()
    if root is not None:
        home = [layer[0]["home_settings"] for layer in own if "home_settings" in layer[0]]
        foreign = read_foreign(root, environment, home=home[-1] is True if home else True)
    values, origins = dict(foreign.values), dict(foreign.origins)
    for layer in own:
        values.update(layer[0])
        origins.update(layer[1])
    warnings = [*foreign.warnings, *warnings]
    if "editor" not in values:
        for name in ("VISUAL", "EDITOR"):
            if environment.get(name):
                values["editor"], origins["editor"] = environment[name], name
                break
    entries = list(foreign.entries)
    if origins.get("embedding.provider") == foreign.origins.get("embedding.provider"):
        entries += filter(None, [without_key(values, origins)])
    _settle_together(values, origins, foreign.origins, warnings)
    _choose_fusion(values, origins)
    settings = assemble(values, origins, ())
    return replace(settings, warnings=(*warnings, *_useless_critical_files(settings)), foreign=tuple(entries))


def _choose_fusion(values: dict[str, Value], origins: dict[str, str]) -> None:
    """Choose the fusion that knows weights where somebody sets weights and no fusion."""
    weight = next((key for key in _WEIGHTS if key in values), None)
    if weight and "search.fusion" not in values:
        values["search.fusion"], origins["search.fusion"] = "weighted-sum", origins[weight]


def check_settings(content: bytes) -> None:
    """Check that a workspace can be opened with these settings.

    Args:
        content: The new content of its `workbench.toml`.

    Raises:
        InvalidSetting: A key is unknown, ill-typed, out of range or contradicts another.
    """
    values, origins = read_toml(content, layout.SETTINGS, personal=False)
    _settle_together(values, origins, {}, [])


def _content(path: Path, name: str) -> bytes | None:
    try:
        return read_regular_file(path)
    except NotAFile as error:
        raise StorageError(
            "The settings cannot be read: there is something that is no file.",
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


def _settle_together(
    values: dict[str, Value], origins: dict[str, str], foreign_origins: Mapping[str, str], warnings: list[str]
) -> None:
    """Reject values that contradict each other; contradictory foreign ones are dropped with a warning."""
    for keys, rule, strict in _FALLING:
        numbers = [float(str(values.get(key, default_of(key)))) for key in keys]
        pairs = list(pairwise(numbers))
        if all(high > low or (high == low and not strict) for high, low in pairs):
            continue
        foreign = [key for key in keys if key in values and origins[key] == foreign_origins.get(key)]
        own = [key for key in keys if key in values and key not in foreign]
        if foreign:
            for key in foreign:
                warnings.append(f"{origins.pop(key)} was left aside: {rule}.")
                del values[key]
            _settle_together(values, origins, foreign_origins, warnings)
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


def write_setting(
    content: bytes, key: str, value: object, *, name: str = layout.SETTINGS, personal: bool = False
) -> bytes:
    """Return a settings file with one key set, keeping comments and order.

    Args:
        content: The present file; empty for a new one.
        key: Dotted, for example `decay.lambda`.
        value: As the key takes it.
        name: The file's name in errors.
        personal: Whether it is the user's own; a workspace's file may not set everything.

    Raises:
        InvalidSetting: The key is unknown, the value unfit, a workspace may not set it, or the file is invalid.
    """
    fit = checked(key, value, name, personal=personal, user_file="your own config.toml")

    def put(document: Any) -> None:
        import tomlkit

        section, dot, entry = key.partition(".")
        if not dot:
            document[key] = _toml_plain(fit)
        elif section in document:
            document[section][entry] = _toml_plain(fit)
        else:
            table = tomlkit.table()
            table[entry] = _toml_plain(fit)
            if document.body and not tomlkit.dumps(document).endswith("\n\n"):
                document.add(tomlkit.nl())
            document[section] = table

    return _changed(content, put, name, personal=personal)


def erase_setting(content: bytes, key: str, *, name: str = layout.SETTINGS, personal: bool = False) -> bytes:
    """Return a settings file without a key; as it is where the key is not in it.

    Raises:
        InvalidSetting: The file is invalid.
    """
    if key not in read_toml(content, name, personal=personal)[0]:
        return content

    def take_out(document: Any) -> None:
        section, dot, entry = key.partition(".")
        if not dot:
            del document[key]
            return
        del document[section][entry]
        if not document[section] and "#" not in document[section].as_string():
            del document[section]

    return _changed(content, take_out, name, personal=personal)


def _changed(content: bytes, change: Callable[[Any], None], name: str, *, personal: bool) -> bytes:
    """Return a file as a change of its TOML leaves it; both must be valid settings."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    read_toml(content, name, personal=personal)
    windows = b"\r\n" in content and content.count(b"\n") == content.count(b"\r\n")
    try:
        document = tomlkit.parse(content.removeprefix(_BOM).decode())
        change(document)
    except TOMLKitError as error:
        raise InvalidSetting(f"This is no TOML: {error}.", where=name, remedy="Mend that line.") from error
    text = tomlkit.dumps(document)
    if windows:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    result = (_BOM if content.startswith(_BOM) else b"") + text.encode()
    read_toml(result, name, personal=personal)
    return result


def _toml_plain(value: Value) -> str | int | float | bool | list[str] | dict[str, str]:
    return list(value) if isinstance(value, tuple) else value


def replace_user_file(place: Path, content: bytes) -> None:
    """Replace a file of the user's configuration, through a link where it is one; its rights stay.

    Raises:
        StorageError: It cannot be written; the present file is unchanged.
    """
    failing = "Your settings cannot be written"
    try:
        real = place.resolve()
        real.parent.mkdir(parents=True, exist_ok=True)
        rights = real.stat().st_mode & 0o777 if real.exists() else 0o600
    except OSError as error:
        raise StorageError(
            f"{failing}: {error.strerror}.",
            where=str(place),
            remedy="Give yourself the right to write there.",
        ) from error
    with replace_file(real, failing, "Give yourself the right to write there.") as file:
        os.fchmod(file.fileno(), rights)
        file.write(content)


def remember_usual(user_file: Path, place: Path) -> str:
    """Write a workspace into the user's own settings as the one to open where no other is near.

    Returns:
        Why it could not be remembered, or an empty string.
    """
    try:
        content = read_regular_file(user_file) or b""
        changed = write_setting(
            content, "workspace", str(place.resolve()), name=str(user_file), personal=True
        )
        if changed != content:
            replace_user_file(user_file, changed)
    except WorkbenchError as error:
        return error.message
    except OSError as error:
        return f"{user_file}: {error.strerror}."
    return ""

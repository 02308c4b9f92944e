"""Changing one setting in a settings file; comments, order and spelling of all else stay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from workbench.engine import layout
from workbench.engine.errors import InvalidSetting, StorageError, WorkbenchError
from workbench.engine.file_access import read_regular_file, replace_file
from workbench.engine.settings.layers import checked, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workbench.engine.settings.schema import Value

USUAL_PLACE = "~/agent-memory"
"""Where a new memory is made unless the person says where."""
_BOM = b"\xef\xbb\xbf"


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

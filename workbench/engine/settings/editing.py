"""Changing one setting in the text of a `workbench.toml`, leaving everything else of it as it stands."""

from __future__ import annotations

from workbench.engine import layout
from workbench.engine.errors import InvalidSetting
from workbench.engine.settings.schema import Value
from workbench.engine.settings.toml_layer import checked, read_toml

_BOM = b"\xef\xbb\xbf"


def write_setting(content: bytes, key: str, value: object, *, name: str = layout.SETTINGS) -> bytes:
    """Return the text of a workspace's settings file with one key set; comments and order stay.

    Args:
        content: The file as it is; empty for a new one.
        key: Dotted, for example `decay.lambda`.
        value: As the key takes it.
        name: What the file is called in errors.

    Raises:
        InvalidSetting: The key is unknown, the value unfit, the key not for a workspace to set, or the file
            itself is faulty.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    fit = checked(key, value, name, personal=False, user_file="your own config.toml")
    read_toml(content, name, personal=False)
    windows = b"\r\n" in content and content.count(b"\n") == content.count(b"\r\n")
    try:
        document = tomlkit.parse(content.removeprefix(_BOM).decode())
    except TOMLKitError as error:
        raise InvalidSetting(f"This is no TOML: {error}.", where=name, remedy="Mend that line.") from error
    section, dot, entry = key.partition(".")
    if not dot:
        document[key] = _plain(fit)
    elif section in document:
        document[section][entry] = _plain(fit)
    else:
        table = tomlkit.table()
        table[entry] = _plain(fit)
        if document.body and not tomlkit.dumps(document).endswith("\n\n"):
            document.add(tomlkit.nl())
        document[section] = table
    text = tomlkit.dumps(document)
    if windows:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    result = (_BOM if content.startswith(_BOM) else b"") + text.encode()
    read_toml(result, name, personal=False)
    return result


def _plain(value: Value) -> str | int | float | bool | list[str] | dict[str, str]:
    return list(value) if isinstance(value, tuple) else value

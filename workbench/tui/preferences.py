"""Reads what a user prefers on the bench: theme and keys, from `bench.toml` in their configuration folder."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.tui.keymap import all_commands, check_overrides
from workbench.tui.themes import DARK, load_themes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from workbench.tui.themes import ThemeFile, Themes

FILE_NAME = "bench.toml"


@dataclass(frozen=True)
class Preferences:
    """What a user prefers.

    Args:
        theme: Name of a theme, or empty for ours.
        keys: Keys by id of command, as Textual writes them; several separated by commas.
        themes_folder: Where their own themes are, or None.
        problems: What was wrong with the file, one sentence each.
    """

    theme: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    themes_folder: Path | None = None
    problems: tuple[str, ...] = ()


def load_preferences(folder: Path | None) -> Preferences:
    """Read the user's file; without a folder or file everything is as we made it.

    Args:
        folder: The user's configuration folder.
    """
    if folder is None:
        return Preferences()
    themes_folder = folder / "themes"
    try:
        written = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Preferences(themes_folder=themes_folder)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return Preferences(themes_folder=themes_folder, problems=(f"{FILE_NAME}: {error}.",))
    problems = [
        f"{FILE_NAME}: {key} means nothing here; known are theme and [keys]."
        for key in written.keys() - {"theme", "keys"}
    ]
    theme, keys = written.get("theme", ""), written.get("keys", {})
    if not isinstance(theme, str):
        problems.append(f'{FILE_NAME}: write the theme as theme = "workbench-light".')
        theme = ""
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        problems.append(f'{FILE_NAME}: write keys as forget = "x" below [keys].')
        keys = {}
    return Preferences(theme, keys, themes_folder, tuple(sorted(problems)))


@dataclass(frozen=True)
class Look:
    """How the bench looks and answers for this user.

    Args:
        themes: Every theme there is.
        theme: The one to begin with.
        keys: Remapped keys by id of command.
        problems: What could not be used, one sentence each.
    """

    themes: Themes
    theme: ThemeFile
    keys: Mapping[str, str]
    problems: tuple[str, ...]


def load_look(
    folder: Path | None,
    theme: str = "",
    *,
    usual_theme: str = "",
    usual_keys: Mapping[str, str] | None = None,
) -> Look:
    """Read the user's preferences and themes, and fall back to ours where something is wrong with them.

    Args:
        folder: The user's configuration folder, or None.
        theme: Name of a theme that goes before the user's own choice.
        usual_theme: Name of the theme where the user has not chosen one.
        usual_keys: Keys by id of command, where the user has not chosen others.
    """
    preferences = load_preferences(folder)
    themes = load_themes(preferences.themes_folder)
    wanted_keys = {**(usual_keys or {}), **preferences.keys}
    keys, key_problems = check_overrides(wanted_keys, [command.id for command in all_commands()])
    problems = [*preferences.problems, *themes.problems, *key_problems]
    wanted = theme or preferences.theme or usual_theme or DARK
    if wanted not in themes.by_name:
        problems.append(f"There is no theme “{wanted}”; known are {', '.join(sorted(themes.by_name))}.")
    return Look(themes, themes.choose(wanted), keys, tuple(problems))


def remember_theme(folder: Path | None, name: str) -> str:
    """Write the user's choice of a theme into their file; everything else in it stays as it is.

    Args:
        folder: The user's configuration folder; made where it is missing. None remembers nothing.
        name: Of the theme.

    Returns:
        Why it could not be remembered, or an empty string.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if folder is None:
        return ""
    path = folder / FILE_NAME
    try:
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        document = tomlkit.parse(written)
        if document.get("theme") == name:
            return ""
        document["theme"] = name
        folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{FILE_NAME}.{os.getpid()}")
        temporary.write_text(tomlkit.dumps(document), encoding="utf-8")
        temporary.replace(path)
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        return f"{FILE_NAME} could not be written, so this theme is forgotten when you leave: {error}."
    return ""

"""Reads theme files, ours and the user's, and says clearly what is wrong with a broken one."""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.theme import Theme

_COLOUR = re.compile(r"^#[0-9a-fA-F]{6}$")
SHAPE: dict[str, tuple[str, ...]] = {
    "ground": ("paper", "raised", "cursor", "marked", "rule"),
    "ink": ("text", "soft", "faint"),
    "meaning": ("decide", "danger", "added", "added_word", "removed", "removed_word"),
    "store": ("core", "episodic", "semantic", "procedural", "vault", "file"),
}
DARK = "workbench-dark"
LIGHT = "workbench-light"


class BrokenTheme(Exception):
    """A theme file that cannot be used; the message names the file, the key and the remedy."""


@dataclass(frozen=True)
class ThemeFile:
    """One theme.

    Args:
        name: What the user calls it.
        dark: Whether its paper is darker than its ink.
        colours: `#rrggbb` by dotted key, for example `ground.paper`; every key of `SHAPE` is there.
    """

    name: str
    dark: bool
    colours: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        return self.colours[key]


@dataclass(frozen=True)
class Themes:
    """Every theme found, by name, and what was wrong with the rest, one sentence each."""

    by_name: Mapping[str, ThemeFile]
    problems: tuple[str, ...]

    def choose(self, name: str) -> ThemeFile:
        """Return the theme of that name, or our dark one where there is none."""
        return self.by_name.get(name, self.by_name[DARK])


def packaged_themes_folder() -> Path:
    """Return where our own themes are: in the installed package, or in the checkout it runs from."""
    installed = Path(__file__).parent / "themes_packaged"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "themes"


def load_themes(user_folder: Path | None = None) -> Themes:
    """Read our themes and those in the user's folder; a user's theme replaces ours of the same name.

    Args:
        user_folder: Where the user keeps theme files; need not exist.
    """
    by_name: dict[str, ThemeFile] = {}
    problems: list[str] = []
    folders = [packaged_themes_folder(), *([user_folder] if user_folder is not None else [])]
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            try:
                theme = parse_theme(path.read_text(encoding="utf-8"), path.name)
            except (BrokenTheme, OSError, UnicodeDecodeError) as error:
                problems.append(str(error))
                continue
            by_name[theme.name] = theme
    return Themes(by_name, tuple(problems))


def parse_theme(source: str, file_name: str) -> ThemeFile:
    """Read one theme file.

    Args:
        source: TOML.
        file_name: For messages.

    Raises:
        BrokenTheme: Something is missing, unknown or no colour.
    """
    try:
        tables = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise BrokenTheme(f"{file_name}: this is not TOML: {error}.") from error
    name, dark = tables.pop("name", None), tables.pop("dark", None)
    if not isinstance(name, str) or not name.strip():
        raise BrokenTheme(f'{file_name}: give the theme a name, for example name = "mine".')
    if not isinstance(dark, bool):
        raise BrokenTheme(f"{file_name}: say dark = true or dark = false.")
    colours: dict[str, str] = {}
    for table_name, table in tables.items():
        _require_known(table_name, tuple(SHAPE), file_name)
        if not isinstance(table, dict):
            raise BrokenTheme(
                f"{file_name}: {table_name} is a table; write [{table_name}] and its keys below."
            )
        for key, value in table.items():
            _require_known(key, SHAPE[table_name], file_name, f"{table_name}.")
            if not isinstance(value, str) or not _COLOUR.match(value):
                raise BrokenTheme(f"{file_name}: {table_name}.{key} is no colour; write it as “#rrggbb”.")
            colours[f"{table_name}.{key}"] = value.lower()
    for table_name, keys in SHAPE.items():
        for key in keys:
            if f"{table_name}.{key}" not in colours:
                raise BrokenTheme(f"{file_name}: {table_name}.{key} is missing; copy it from {DARK}.toml.")
    return ThemeFile(name.strip(), dark, colours)


def _require_known(key: str, known: tuple[str, ...], file_name: str, prefix: str = "") -> None:
    if key in known:
        return
    near = difflib.get_close_matches(key, known, 1)
    hint = f"did you mean {prefix}{near[0]}?" if near else f"known are {', '.join(known)}."
    raise BrokenTheme(f"{file_name}: {prefix}{key} means nothing here; {hint}")


def textual_theme(theme: ThemeFile) -> Theme:
    """Return the same colours for the parts that Textual draws itself: inputs, scroll bars, toasts, dialogs."""
    from textual.theme import Theme

    rule = theme["ground.rule"]
    return Theme(
        name=theme.name,
        dark=theme.dark,
        primary=theme["store.episodic"],
        secondary=theme["ink.soft"],
        accent=theme["meaning.decide"],
        warning=theme["meaning.decide"],
        error=theme["meaning.danger"],
        success=theme["store.semantic"],
        foreground=theme["ink.text"],
        background=theme["ground.paper"],
        surface=theme["ground.raised"],
        panel=theme["ground.cursor"],
        variables={
            "soft": theme["ink.soft"],
            "faint": theme["ink.faint"],
            "rule": rule,
            "decide": theme["meaning.decide"],
            "danger": theme["meaning.danger"],
            "border": rule,
            "border-blurred": rule,
            "scrollbar": rule,
            "scrollbar-hover": theme["ink.faint"],
            "scrollbar-active": theme["ink.soft"],
            "scrollbar-background": theme["ground.paper"],
            "scrollbar-background-hover": theme["ground.paper"],
            "scrollbar-background-active": theme["ground.paper"],
            "scrollbar-corner-color": theme["ground.paper"],
            "input-selection-background": theme["ground.cursor"],
            "input-cursor-background": theme["ink.text"],
            "input-cursor-foreground": theme["ground.paper"],
            "block-cursor-background": theme["ground.cursor"],
            "block-cursor-foreground": theme["ink.text"],
            "block-cursor-text-style": "none",
        },
    )

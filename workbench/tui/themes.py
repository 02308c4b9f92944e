"""Reads theme files, ours and the user's, and says clearly what is wrong with a broken one."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.theme import Theme

_COLOUR = lazy_pattern(r"^#[0-9a-fA-F]{6}$")
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
TERMINAL_COLOURS = ("default", *_NAMES, *(f"bright_{name}" for name in _NAMES))
ATTRIBUTES = ("bold", "dim", "underline", "reverse")
SHAPE: dict[str, tuple[str, ...]] = {
    "ground": ("paper", "raised", "cursor", "marked", "rule"),
    "ink": ("text", "soft", "faint"),
    "meaning": ("decide", "danger", "added", "added_word", "removed", "removed_word"),
    "store": ("core", "episodic", "semantic", "procedural", "vault", "file"),
}
DARK = "workbench-dark"
LIGHT = "workbench-light"
ANSI = "ansi"
MONO = "mono"
GROUNDS = tuple(f"ground.{name}" for name in ("paper", "raised", "cursor", "marked"))
DIFFERENCES = tuple(f"meaning.{name}" for name in ("added", "added_word", "removed", "removed_word"))
TEXT_CONTRAST, LINE_CONTRAST = 4.5, 3.0


class BrokenTheme(Exception):
    """A theme file that cannot be used; the message names the file, the key and the remedy."""


@dataclass(frozen=True)
class ThemeFile:
    """One theme.

    Args:
        dark: Whether its paper is darker than its ink.
        colours: `#rrggbb` by dotted key, for example `ground.paper`; every key of `SHAPE` is there. Of a theme of
            the terminal's own colours: attributes and the name of one of them, for example `bold red`.
        terminal: Whether it has the terminal's own colours.
    """

    name: str
    dark: bool
    colours: Mapping[str, str]
    terminal: bool = False

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

    Raises:
        BrokenTheme: Something is missing, unknown or no colour.
    """
    try:
        tables = tomllib.loads(source)
    except (ValueError, RecursionError) as error:
        raise BrokenTheme(f"{file_name}: this is not TOML: {error}.") from error
    name, dark = tables.pop("name", None), tables.pop("dark", None)
    terminal = tables.pop("terminal", False)
    if not isinstance(name, str) or not name.strip():
        raise BrokenTheme(f'{file_name}: give the theme a name, for example name = "mine".')
    if not isinstance(dark, bool):
        raise BrokenTheme(f"{file_name}: say dark = true or dark = false.")
    if not isinstance(terminal, bool):
        raise BrokenTheme(f"{file_name}: say terminal = true or leave it out.")
    colours: dict[str, str] = {}
    for table_name, table in tables.items():
        _require_known(table_name, tuple(SHAPE), file_name)
        if not isinstance(table, dict):
            raise BrokenTheme(
                f"{file_name}: {table_name} is a table; write [{table_name}] and its keys below."
            )
        for key, value in table.items():
            _require_known(key, SHAPE[table_name], file_name, f"{table_name}.")
            if not isinstance(value, str) or not (_is_named(value) if terminal else _COLOUR.match(value)):
                example = "bold red" if terminal else "#rrggbb"
                raise BrokenTheme(f"{file_name}: {table_name}.{key} is no colour; write it as “{example}”.")
            colours[f"{table_name}.{key}"] = value.lower()
    for table_name, keys in SHAPE.items():
        for key in keys:
            if f"{table_name}.{key}" not in colours:
                raise BrokenTheme(f"{file_name}: {table_name}.{key} is missing; copy it from {DARK}.toml.")
    return ThemeFile(name.strip(), dark, colours, terminal)


def _is_named(value: str) -> bool:
    words = value.lower().split()
    colours = [word for word in words if word not in ATTRIBUTES]
    return bool(words) and len(colours) <= 1 and all(colour in TERMINAL_COLOURS for colour in colours)


def colour_named(value: str) -> str:
    """Return the colour in a value of a theme of the terminal's own colours, `default` where none is named."""
    return next((word for word in value.split() if word not in ATTRIBUTES), "default")


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`, from 0 to 1 (WCAG 2)."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def too_faint(theme: ThemeFile) -> list[str]:
    """Return the pairs of a theme that cannot be told apart well: text with less than 4.5:1, lines with less than 3:1.

    What the terminal's own colours come to, nobody knows.
    """
    if theme.terminal:
        return []
    inks = [key for key in theme.colours if key.startswith(("ink.", "store."))]
    pairs = [(ink, ground, TEXT_CONTRAST) for ink in (*inks, *_SIGNALS) for ground in GROUNDS]
    pairs += [("ink.text", ground, TEXT_CONTRAST) for ground in DIFFERENCES]
    pairs += [("ground.rule", ground, LINE_CONTRAST) for ground in GROUNDS[:2]]
    return [
        f"{one} on {other} has {found:.1f}:1, less than {least:g}:1"
        for one, other, least in pairs
        if (found := contrast(theme[one], theme[other])) < least
    ]


_SIGNALS = ("meaning.decide", "meaning.danger")


def _require_known(key: str, known: tuple[str, ...], file_name: str, prefix: str = "") -> None:
    if key in known:
        return
    near = difflib.get_close_matches(key, known, 1)
    hint = f"did you mean {prefix}{near[0]}?" if near else f"known are {', '.join(known)}."
    raise BrokenTheme(f"{file_name}: {prefix}{key} means nothing here; {hint}")


def textual_theme(theme: ThemeFile) -> Theme:
    """Return the same colours for the parts that Textual draws itself: inputs, scroll bars, toasts, dialogs."""
    from textual.theme import Theme

    def colour(key: str) -> str:
        return f"ansi_{colour_named(theme[key])}" if theme.terminal else theme[key]

    rule, text, paper, cursor = (
        colour(k) for k in ("ground.rule", "ink.text", "ground.paper", "ground.cursor")
    )
    faint, soft = colour("ink.faint"), colour("ink.soft")
    # A terminal's default colours cannot be swapped by name.
    under_cursor, on_cursor = ("ansi_white", "ansi_black") if theme.terminal else (text, paper)
    return Theme(
        name=theme.name,
        dark=theme.dark,
        ansi=theme.terminal,
        primary=colour("store.episodic"),
        secondary=soft,
        accent=colour("meaning.decide"),
        warning=colour("meaning.decide"),
        error=colour("meaning.danger"),
        success=colour("store.semantic"),
        foreground=text,
        background=paper,
        surface=colour("ground.raised"),
        panel=cursor,
        variables={
            **(
                {"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"}
                if theme.terminal
                else {}
            ),
            "soft": soft,
            "faint": faint,
            "rule": rule,
            "decide": colour("meaning.decide"),
            "danger": colour("meaning.danger"),
            "border": rule,
            "border-blurred": rule,
            "scrollbar": rule,
            "scrollbar-hover": faint,
            "scrollbar-active": soft,
            "scrollbar-background": paper,
            "scrollbar-background-hover": paper,
            "scrollbar-background-active": paper,
            "scrollbar-corner-color": paper,
            "input-selection-background": "ansi_bright_black" if theme.terminal else cursor,
            "input-cursor-background": under_cursor,
            "input-cursor-foreground": on_cursor,
            "block-cursor-background": cursor,
            "block-cursor-foreground": text,
            "block-cursor-text-style": "none",
        },
    )

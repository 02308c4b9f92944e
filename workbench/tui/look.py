"""How the bench looks and answers for one person: theme, motion, plain words and keys, from `bench.toml`."""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any

from textual.color import Color
from textual.theme import BUILTIN_THEMES

from workbench.engine.values import dataclass
from workbench.tui.keys.dispatch import Keymap
from workbench.tui.themes import (
    ANSI,
    DARK,
    DIFFERENCES,
    GROUNDS,
    LIGHT,
    LINE_CONTRAST,
    MONO,
    TEXT_CONTRAST,
    ThemeFile,
    Themes,
    contrast,
    load_themes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from textual.theme import Theme

    from workbench.engine.settings.sections import Settings

ONE_LINE = 80
"""From here on list and card are both shown."""
BESIDE = 110
"""From here on they stand side by side, and the rail beside them."""
EVIDENCE = 170
"""From here on the evidence stands beside the card."""


FILE_NAME = "bench.toml"
AUTO = "auto"
PRESET = "preset"
_MOTIONS = ("full", "reduced")
_ROWS = ("compact", "comfortable")
# The terminal's own colours are a theme of ours.
_NAMES = tuple(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi)
_STEP = 0.04
_STORES = {
    "core": "accent",
    "episodic": "primary",
    "semantic": "success",
    "procedural": "secondary",
    "vault": "warning",
}


@dataclass(frozen=True)
class Look:
    """How the bench is to look.

    Args:
        wanted: Name of the theme asked for; `auto` follows the terminal.
        motion: `full` or `reduced`.
        plain: Whether all is said in words, for screen readers.
        rows: `compact`, or `comfortable`: a space below each.
        problems: What could not be used, one sentence each.
        origins: Who says so, by name: `theme`, `motion`, `plain`, `rows`.
    """

    themes: Themes = field(default_factory=load_themes)
    wanted: str = AUTO
    motion: str = "full"
    plain: bool = False
    rows: str = "compact"
    keymap: Keymap = field(default_factory=Keymap)
    problems: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def theme_names(self) -> tuple[str, ...]:
        """Return the themes that may be chosen: ours and the person's, behind them those that Textual brings."""
        ours = sorted(self.themes.by_name)
        return (*ours, *sorted(set(borrowed_names()).difference(ours)))

    def theme_named(self, name: str) -> ThemeFile:
        """Return the theme of that name, or our dark one where there is none."""
        is_borrowed = name not in self.themes.by_name and name in borrowed_names()
        return borrow(name) if is_borrowed else self.themes.choose(name)

    def theme(self, *, dark: bool | None, colours: int) -> ThemeFile:
        """Return the theme to use.

        Args:
            dark: Whether the terminal's ground is; None where it does not say.
            colours: How many it has; 0 where nobody wants any.
        """
        if self.wanted != AUTO:
            return self.theme_named(self.wanted)
        if colours == 0:
            return self.themes.choose(MONO)
        if colours <= 16:
            return self.themes.choose(ANSI)
        return self.themes.choose(LIGHT if dark is False else DARK)


def read_look(folder: Path | None, settings: Settings) -> Look:
    """Read the person's `bench.toml` and themes; what is wrong with them is told, and ours stands in.

    Args:
        folder: Their configuration folder; None for none.
        settings: Their `bench.…` count less than `bench.toml`, and more where a variable sets them.
    """
    written, problems = _written(folder)
    themes = load_themes(folder / "themes" if folder is not None else None)
    problems += themes.problems
    origins: dict[str, str] = {}
    values: dict[str, str | bool] = {}
    for name, usual in (("theme", ""), ("motion", "full"), ("plain", False), ("rows", "compact")):
        setting, origin = getattr(settings.bench, name), settings.origin(f"bench.{name}")
        if name in written and not origin.startswith("WORKBENCH_"):
            values[name], origins[name] = written[name], FILE_NAME
        elif origin != "default":
            values[name], origins[name] = setting, origin
        else:
            values[name] = usual
    wanted = str(values["theme"]) or AUTO
    if wanted != AUTO and wanted not in (names := Look(themes).theme_names):
        known = ", ".join((AUTO, *names))
        problems.append(f"There is no theme “{wanted[:40]}”; there are {known}.")
        wanted = AUTO
    if values["motion"] not in _MOTIONS:
        problems.append(f'{FILE_NAME}: write motion = "reduced" or "full".')
        values["motion"] = "full"
    if values["rows"] not in _ROWS:
        problems.append(f'{FILE_NAME}: write rows = "comfortable" or "compact".')
        values["rows"] = "compact"
    keys = {**settings.bench.keymap, **written.get("keys", {})}
    keymap = Keymap({name: key for name, key in keys.items() if name != PRESET}, keys.get(PRESET, ""))
    if os.environ.get("TEXTUAL_ANIMATIONS") == "none":
        values["motion"], origins["motion"] = "reduced", "TEXTUAL_ANIMATIONS"
    return Look(
        themes,
        wanted,
        str(values["motion"]),
        bool(values["plain"]),
        str(values["rows"]),
        keymap,
        (*problems, *keymap.problems),
        origins,
    )


def _written(folder: Path | None) -> tuple[dict[str, Any], list[str]]:
    """Return what `bench.toml` says and may say, and what is wrong with it."""
    if folder is None:
        return {}, []
    try:
        document = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{FILE_NAME}: {error}."]
    written, problems = {}, []
    for name, value in document.items():
        takes = _TAKES.get(name)
        if takes is None:
            problems.append(f"{FILE_NAME}: {name[:40]} means nothing; known are {', '.join(_TAKES)}.")
        elif not isinstance(value, takes[0]) or (
            isinstance(value, dict) and not all(isinstance(key, str) for key in value.values())
        ):
            problems.append(f"{FILE_NAME}: write {takes[1]}.")
        else:
            written[name] = value
    return written, problems


_TAKES: dict[str, tuple[type, str]] = {
    "theme": (str, 'theme = "workbench-light"'),
    "motion": (str, 'motion = "reduced"'),
    "plain": (bool, "plain = true"),
    "rows": (str, 'rows = "comfortable"'),
    "keys": (dict, 'keys as forget = "x" below [keys]'),
}


def keep_taste(folder: Path | None, values: Mapping[str, str | bool | None]) -> str:
    """Write tastes into `bench.toml`; everything else in it stays as it is.

    Args:
        folder: The configuration folder; made where it is missing. None keeps nothing.
        values: By name, `theme` or `keys.forget`; None takes one out.

    Returns:
        Why they could not be kept, or an empty string.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if folder is None:
        return ""
    path = folder / FILE_NAME
    try:
        path = path.resolve()
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
        for name, value in values.items():
            section, dot, entry = name.partition(".")
            if dot and section not in document:
                if value is None:
                    continue
                document[section] = tomlkit.table()
            place: Any = document[section] if dot else document
            key = entry if dot else name
            if value is not None:
                place[key] = value
            elif key in place:
                del place[key]
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{FILE_NAME}.{os.getpid()}")
        temporary.write_text(tomlkit.dumps(document), encoding="utf-8")
        temporary.replace(path)
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        return f"{FILE_NAME} could not be written, so this holds until you leave: {error}."
    return ""


def stamp(folder: Path | None) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when a file does that the look is made of."""
    if folder is None:
        return ()
    found: list[tuple[str, int, int]] = []
    for path in (folder / FILE_NAME, *sorted((folder / "themes").glob("*.toml"))):
        with suppress(OSError):
            status = path.stat()
            found.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(found)


# Textual's own themes, their colours given our meanings and moved until each can be read on every ground.


def borrowed_names() -> tuple[str, ...]:
    """Return the names of the themes that Textual brings."""
    return _NAMES


def borrow(name: str) -> ThemeFile:
    """Return a theme of Textual's as one of ours.

    Args:
        name: One of `borrowed_names`.
    """
    theme = BUILTIN_THEMES[name]
    paper = Color.parse(theme.background or ("#121212" if theme.dark else "#efefef"))
    text = Color.parse(theme.foreground or ("#e0e0e0" if theme.dark else "#1f1f1f"))
    signals = {each: _colour(theme, each, text) for each in ("primary", "warning", "error", "success")}
    grounds = {
        "ground.paper": paper,
        "ground.raised": paper.blend(text, 0.04),
        "ground.cursor": paper.blend(text, 0.13),
        "ground.marked": paper.blend(signals["primary"], 0.14),
        "meaning.added": paper.blend(signals["success"], 0.14),
        "meaning.added_word": paper.blend(signals["success"], 0.28),
        "meaning.removed": paper.blend(signals["error"], 0.14),
        "meaning.removed_word": paper.blend(signals["error"], 0.28),
    }
    on = [each.hex for key, each in grounds.items() if key in GROUNDS]
    far = Color.parse("#ffffff" if theme.dark else "#000000")
    inks = {
        "ink.text": _readable(text, [*on, *(grounds[key].hex for key in DIFFERENCES)], far, TEXT_CONTRAST),
        "ink.soft": _readable(text.blend(paper, 0.25), on, far, TEXT_CONTRAST),
        "ink.faint": _readable(text.blend(paper, 0.4), on, far, TEXT_CONTRAST),
        "ground.rule": _readable(paper.blend(text, 0.35), on[:2], far, LINE_CONTRAST),
        "meaning.decide": _readable(signals["warning"], on, far, TEXT_CONTRAST),
        "meaning.danger": _readable(signals["error"], on, far, TEXT_CONTRAST),
        "store.file": _readable(text.blend(paper, 0.3), on, far, TEXT_CONTRAST),
        **{
            f"store.{store}": _readable(_colour(theme, source, text), on, far, TEXT_CONTRAST)
            for store, source in _STORES.items()
        },
    }
    colours = {key: each.hex.lower() for key, each in (grounds | inks).items()}
    return ThemeFile(name, theme.dark, colours)


def _colour(theme: Theme, name: str, otherwise: Color) -> Color:
    value = getattr(theme, name)
    return Color.parse(value) if value else otherwise


def _readable(ink: Color, grounds: list[str], far: Color, least: float) -> Color:
    """Return a colour moved away from the grounds until it has enough contrast to each."""
    moved, step = ink, 0.0
    while step < 1 and min(contrast(moved.hex, ground) for ground in grounds) < least:
        step += _STEP
        moved = ink.blend(far, min(step, 1.0))
    return moved

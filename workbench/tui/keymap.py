"""Owns what a command is: one class that feeds key bindings, bottom line, palette and help alike."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHOWN_KEYS = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "⏎", "escape": "esc", "space": "space",
    "question_mark": "?", "slash": "/", "left_square_bracket": "[", "right_square_bracket": "]",
    "pageup": "pgup", "pagedown": "pgdn", "full_stop": ".", "comma": ",",
    "less_than_sign": "<", "greater_than_sign": ">", "equals_sign": "=", "backspace": "⌫",
    "minus": "-", "plus": "+",
}  # fmt: skip
# The order of the headings in the help: what one pane has of its own first.
SECTIONS = (
    "On a proposal",
    "On a change",
    "In the graph",
    "On the heatmap",
    "In the past",
    "On a session",
    "On the index",
    "On an import",
    "On a memory",
    "Everywhere",
    "In a list",
    "In a detail",
    "While writing",
)
_REGISTRY: dict[str, type[Command]] = {}


class Command:
    """Something a person can do; the docstring of a subclass is its help, its name the id for remapping.

    A widget that offers the command lists it in `bindings(…)` and has a method `action_<name>`.
    """

    key: ClassVar[str] = ""
    """Keys in Textual's names, separated by commas; the first is the one shown."""

    label: ClassVar[str] = ""
    """A word for the bottom line; empty where the key goes without saying."""

    section: ClassVar[str] = "Everywhere"
    """Heading in the help."""

    rank: ClassVar[int] = 50
    """Place in the bottom line; the highest go first where there is no room."""

    priority: ClassVar[bool] = False
    """Works wherever the focus is, even while writing."""

    id: ClassVar[str]
    action: ClassVar[str]

    def __init_subclass__(cls) -> None:
        words = re.findall(r"[A-Z][a-z0-9]*", cls.__name__)
        cls.id = "-".join(words).lower()
        cls.action = "_".join(words).lower()
        _REGISTRY[cls.id] = cls

    @classmethod
    def title(cls) -> str:
        """Return the name as words: “Edit here”."""
        return cls.id.replace("-", " ").capitalize()

    @classmethod
    def help(cls) -> str:
        """Return what it does, as one paragraph."""
        return " ".join(cleandoc(cls.__doc__ or "").split())

    @classmethod
    def binding(cls) -> Binding:
        """Return the key binding that runs it."""
        return Binding(
            cls.key, cls.action, cls.title(), show=False, tooltip=cls.help(), id=cls.id, priority=cls.priority
        )


def bindings(*commands: type[Command]) -> list[BindingType]:
    """Return the bindings of commands, for a widget's `BINDINGS`."""
    return [command.binding() for command in commands]


def command_by_id(command_id: str | None) -> type[Command] | None:
    """Return the command of that id, or None."""
    return _REGISTRY.get(command_id or "")


def all_commands() -> tuple[type[Command], ...]:
    """Return every command, in the order of their definition."""
    return tuple(_REGISTRY.values())


def shown_key(key: str) -> str:
    """Return how a key is written for people: `question_mark` as `?`, `ctrl+p` as `^p`."""
    key = key.split(",")[0].strip()
    if key.startswith("ctrl+"):
        return "^" + key[5:]
    return _SHOWN_KEYS.get(key, key)


def check_overrides(overrides: Mapping[str, str], known: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Sort a user's remapped keys into those that mean something and complaints about the rest.

    Args:
        overrides: Keys by id of command.
        known: Ids of commands.

    Returns:
        What can be used, and one sentence for each problem, clashes included.
    """
    known = set(known)
    usable = {name: key for name, key in overrides.items() if name in known and key.strip()}
    problems = [
        f"keys.{name} is no command; press ? for those there are." for name in overrides if name not in known
    ]
    owners: dict[str, list[str]] = {}
    for name, keys in usable.items():
        for key in keys.split(","):
            owners.setdefault(key.strip(), []).append(name)
    problems += [
        f"keys.{names[0]} and keys.{names[1]} are both “{shown_key(key)}”; give one of them another."
        for key, names in owners.items()
        if len(names) > 1
    ]
    return usable, problems

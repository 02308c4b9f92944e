"""Which key does what for this person: the table of keys, with what they remapped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass
from workbench.tui.keys.table import COMMANDS, PLACES, PREFIXES, Command, Listed, Prefix, canonical, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Bound: TypeAlias = Command | Prefix | Listed

PRESETS: Mapping[str, Mapping[str, str]] = {
    "vim": {"left": "h,left", "right": "l,right", "history": "H", "filter": "L"},
}
"""Keys by id of command, by name of preset."""

# Lines and questions are left and answered with enter and esc, and the rail names the keys of places.
FIXED = frozenset({"open", "out", *(f"place-{place.name}" for place in PLACES)})
_TAKEN = frozenset({"enter", "escape", "backspace", "ctrl+c"})
# Keys that terminals cannot tell from tab, enter, escape and backspace.
_NOT_TOLD_APART = frozenset({"ctrl+i", "ctrl+m", "ctrl+left_square_bracket", "ctrl+[", "ctrl+h"})
_NAMED = lazy_pattern(
    r"(?:(?:ctrl|shift|alt)\+)*(?:up|down|left|right|home|end|pageup|pagedown|insert|delete|tab|space|f\d{1,2})"
    r"|ctrl\+[a-z@\\\]^_]|alt\+[!-~]"
)


@dataclass(frozen=True)
class Clash:
    """Two commands that would have the same key.

    Args:
        key: In the names of the table.
        ids: Of the commands, prefixes or places.
    """

    key: str
    ids: tuple[str, ...]


def fault_of(key: str) -> str:
    """Say why nothing can be put on a key; empty where something can."""
    key = canonical(key)
    if key in _TAKEN:
        return f"{written(key)} answers questions and leaves lines; it keeps that."
    if key in _NOT_TOLD_APART:
        return f"Terminals cannot tell {written(key)} from another key."
    if (len(key) == 1 and key.isprintable() and key != " ") or _NAMED.fullmatch(key):
        return ""
    return f"“{key[:20]}” is no key."


def id_of(bound: Bound) -> str:
    """Return the name of what has a key: `pin`, `prefix-go`, `place-today`."""
    if isinstance(bound, Command):
        return bound.id
    return f"place-{bound.name}" if isinstance(bound, Listed) else f"prefix-{bound.title}"


def _keys_of(bound: Bound) -> tuple[str, ...]:
    return bound.keys if isinstance(bound, Command) else (bound.key,)


def _sheet_id(prefix: Prefix, command: Command) -> str:
    """Return the name of a command of a sheet: its own, unless it has a key of one stroke as well."""
    return f"{prefix.title}-{command.id}" if command.id in _SINGLE else command.id


_PLACE_KEYS = {f"place-{place.name}": place.key for place in PLACES}
_SINGLE = frozenset(command.id for command in COMMANDS)
_ALL: tuple[Bound, ...] = (*COMMANDS, *PREFIXES, *PLACES)


class Keymap:
    """The keys as one person has them.

    An override that would take the key of another command, or is no key at all, is left out and told.

    Args:
        overrides: Keys by id, in Textual's names or as they are written; several separated by commas.
        preset: Name of a preset that overrides go over; empty for none.
    """

    def __init__(self, overrides: Mapping[str, str] | None = None, preset: str = "") -> None:
        self.overrides = dict(overrides or {})
        self.preset = preset if preset in PRESETS else ""
        self.problems: tuple[str, ...] = tuple(self._find_problems(preset))
        wanted = {**PRESETS.get(preset, {}), **self._usable}
        while clash := next(iter(_clashes(wanted)), None):
            mine = next((each for each in reversed(clash.ids) if each in wanted), None)
            if mine is None:
                raise AssertionError(f"{clash.ids} have the key {clash.key} in the table")
            del wanted[mine]
            if mine in self._usable:
                other = next(each for each in clash.ids if each != mine)
                told = (
                    f"[keys] {mine} = “{written(clash.key)}” is the key of {other} too; {mine} keeps its own."
                )
                self.problems += (told,)
        self._wanted = wanted
        self.top: tuple[Bound, ...] = tuple(_remapped(each, wanted) for each in _ALL)
        self.commands = tuple(each for each in self.top if isinstance(each, Command))
        self.prefixes = tuple(
            replace(
                each,
                commands=tuple(
                    replace(command, keys=_split(wanted[name])) if name in wanted else command
                    for command in each.commands
                    for name in (_sheet_id(each, command),)
                ),
            )
            for each in self.top
            if isinstance(each, Prefix)
        )
        self._by_key: dict[str, Bound] = {key: each for each in self.top for key in _keys_of(each)}
        self._by_key |= {prefix.key: prefix for prefix in self.prefixes}
        self._by_id = {command.id: command for command in self.commands}

    def _find_problems(self, preset: str) -> Iterator[str]:
        self._usable: dict[str, str] = {}
        if preset and not self.preset:
            yield f"[keys] There is no preset “{preset[:40]}”; there is {', '.join(PRESETS)}."
        known = {name for name, _, _ in everything()}
        for name, keys in self.overrides.items():
            fault = next(filter(None, map(fault_of, _split(keys))), "") if _split(keys) else "It has no key."
            if name not in known:
                yield f"[keys] {name[:40]} is no command."
            elif name in FIXED:
                yield f"[keys] {name} keeps its key."
            elif fault:
                yield f"[keys] {name}: {fault}"
            else:
                self._usable[name] = keys

    def bound(self, key: str) -> Bound | None:
        """Return what a key does: a command, the prefix that it begins, or the place that it goes to."""
        return self._by_key.get(canonical(key))

    def command(self, command_id: str) -> Command:
        """Return a command that has a key of one stroke, with the keys it has for this person."""
        return self._by_id[command_id]

    def key(self, command_id: str) -> str:
        """Return the first key of a command or a place as it is written for people; of two strokes on a sheet."""
        if command_id in self._by_id:
            return written(self._by_id[command_id].keys[0])
        if command_id in _PLACE_KEYS:
            return written(_PLACE_KEYS[command_id])
        for prefix in self.prefixes:
            for command in prefix.commands:
                if command.id == command_id:
                    return f"{written(prefix.key)} {written(command.keys[0])}"
        return ""

    def with_key(self, name: str, key: str) -> tuple[dict[str, str], Clash | None]:
        """Put something on another key.

        Args:
            name: Its id, as `everything` has it.
            key: The new one, instead of the first it has.

        Returns:
            The overrides that make it so, and whom the key would be taken from, if anybody.
        """
        mine = self._keys(name)
        overrides = self._overriding(
            name, (canonical(key), *(each for each in mine[1:] if each != canonical(key)))
        )
        clashes = _clashes({**PRESETS.get(self.preset, {}), **overrides})
        return overrides, next((each for each in clashes if name in each.ids), None)

    def swapped(self, name: str, other: str, key: str) -> dict[str, str]:
        """Return the overrides that put something on a key, and its present first key on what had that one."""
        first = self._keys(name)[0]
        theirs = tuple(first if each == canonical(key) else each for each in self._keys(other))
        mine, _ = self.with_key(name, key)
        both = self._overriding(other, theirs)
        return (
            {**mine, other: both[other]} if other in both else {k: v for k, v in mine.items() if k != other}
        )

    def _keys(self, name: str) -> tuple[str, ...]:
        """Return the keys of something as this person has them."""
        made = next(keys for each, _, keys in everything() if each == name)
        return _split(self._wanted.get(name, "")) or made

    def _overriding(self, name: str, keys: tuple[str, ...]) -> dict[str, str]:
        """Return the overrides with other keys of something; none for those it was made with."""
        made = next(usual for each, _, usual in everything() if each == name)
        overrides = {**self.overrides, name: ",".join(keys)}
        if keys == (_split(PRESETS.get(self.preset, {}).get(name, "")) or made):
            del overrides[name]
        return overrides


def everything() -> Iterator[tuple[str, Bound, tuple[str, ...]]]:
    """Yield all that has a key: its id, what it is, and the keys it was made with; sheets after their prefix."""
    for each in _ALL:
        yield id_of(each), each, _keys_of(each)
        if isinstance(each, Prefix):
            for command in each.commands:
                yield _sheet_id(each, command), command, command.keys


def _split(keys: str) -> tuple[str, ...]:
    """Return the keys of an override; a comma alone is the comma."""
    if keys.strip() == ",":
        return (",",)
    return tuple(canonical(key.strip()) for key in keys.split(",") if key.strip())


def _remapped(each: Bound, wanted: Mapping[str, str]) -> Bound:
    keys = _split(wanted.get(id_of(each), ""))
    if not keys or isinstance(each, Listed):
        return each
    return replace(each, keys=keys) if isinstance(each, Command) else replace(each, key=keys[0])


def _clashes(wanted: Mapping[str, str]) -> list[Clash]:
    """Return every key that two things would have: of one stroke, or on the same sheet."""
    owners: dict[tuple[str, str], list[str]] = {}
    sheet_of = {
        _sheet_id(prefix, command): prefix.title for prefix in PREFIXES for command in prefix.commands
    }
    for name, _, keys in everything():
        for key in _split(wanted[name]) if name in wanted else keys:
            owners.setdefault((sheet_of.get(name, ""), key), []).append(name)
    return [Clash(key, tuple(ids)) for (_, key), ids in owners.items() if len(ids) > 1]

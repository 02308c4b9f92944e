"""Every key of the bench with what it does: the rows of Settings, Keys, and putting something on another key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.card import Card, Section
from workbench.display.ink import ink
from workbench.display.settings import value_row
from workbench.engine.values import dataclass
from workbench.tui.keys.dispatch import FIXED, PRESETS, Keymap, everything, fault_of
from workbench.tui.keys.table import FRAME, MOVING, Command, Prefix, canonical, written
from workbench.tui.look import PRESET
from workbench.tui.parts.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.display.ink import Line
    from workbench.tui.frame.screen import Frame
    from workbench.tui.keys.dispatch import Bound

AS_MADE = "default"
PRESET_KEY = f"key:{PRESET}"


@dataclass(frozen=True)
class KeyRow:
    """Something that has a key.

    Args:
        id: Its name in `[keys]`, behind `key:`.
        title: What it does, in a word or two.
        elsewhere: What it says where it cannot act; empty where it always can.
        before: The key that goes before it, as it is written; empty for a key of one stroke.
    """

    id: str
    title: str
    help: str
    elsewhere: str
    before: str
    keys: tuple[str, ...]
    usual: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return its name in `[keys]`."""
        return self.id.removeprefix("key:")

    @property
    def said(self) -> str:
        """Return its keys as people type them."""
        return ", ".join(f"{self.before} {key}".strip() for key in self.keys)


class KeyRows(Rows["str", "KeyRow"]):
    """Keys under what they belong to, the preset above them."""

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        preset = keymap.preset or AS_MADE
        self._add(
            KeyRow(PRESET_KEY, "Preset", "The keys to start from.", "", "", (preset,), (AS_MADE,)), PRESET_KEY
        )
        moving, frame = {each.id for each in MOVING}, {each.id for each in FRAME}
        under = ""
        now = dict(_as_they_are(keymap))
        prefix: Prefix | None = None
        for name, made, usual in everything():
            bound = now[name]
            if isinstance(bound, Prefix):
                prefix, heading = bound, f"{bound.title}, after {written(bound.key)}"
            elif not isinstance(bound, Command):
                heading, prefix = "places", None
            elif prefix is not None:
                heading = under
            else:
                heading = "moving" if name in moving else "everywhere" if name in frame else "verbs"
            if heading != under:
                under = heading
                self._add_heading(heading)
            self._add(_row(name, bound, made, usual, prefix), f"key:{name}")

    def draw(self, row: KeyRow, width: int) -> Line:
        """Draw a row."""
        is_usual = row.keys == row.usual
        return value_row(row.title, row.said, AS_MADE if is_usual else "you", width, is_usual=is_usual)


def _as_they_are(keymap: Keymap) -> list[tuple[str, Bound]]:
    """Return everything with the keys it has now, by the names that the table gives."""
    bounds: list[Bound] = []
    prefixes = {prefix.title: prefix for prefix in keymap.prefixes}
    for each in keymap.top:
        shown = prefixes[each.title] if isinstance(each, Prefix) else each
        bounds += [shown, *(shown.commands if isinstance(shown, Prefix) else ())]
    return list(zip((name for name, _, _ in everything()), bounds, strict=True))


def _row(name: str, bound: Bound, made: Bound, usual: tuple[str, ...], prefix: Prefix | None) -> KeyRow:
    written_usual = tuple(map(written, usual))
    if isinstance(bound, Command):
        title = bound.label.removesuffix("…") or bound.id.replace("-", " ")
        keys, before = tuple(map(written, bound.keys)), written(prefix.key) if prefix is not None else ""
        return KeyRow(
            f"key:{name}",
            title[:1].upper() + title[1:],
            bound.help,
            bound.elsewhere,
            before,
            keys,
            written_usual,
        )
    title = f"The sheet “{bound.title}”" if isinstance(made, Prefix) else f"Go to {bound.title}"
    return KeyRow(f"key:{name}", title, f"{title}.", "", "", (written(bound.key),), written_usual)


def key_card(row: KeyRow, keymap: Keymap) -> Card:
    """Return the card of something that has a key."""
    if row.id == PRESET_KEY:
        lines: list[Line] = [
            (
                ink(
                    f"{name}: "
                    + ", ".join(f"{key} {written(keys.split(',')[0])}" for key, keys in preset.items())
                ),
            )
            for name, preset in PRESETS.items()
        ]
        return Card(row.title, row.title, (ink(row.help),), (Section("THERE IS", tuple(lines)),))
    lines = [(ink(row.said, "strong"),)]
    if row.keys != row.usual:
        lines.append((ink(f"default: {', '.join(row.usual)}", "soft"),))
    sections = [Section("KEY", tuple(lines))]
    if row.elsewhere:
        sections.append(Section("WHERE IT CANNOT ACT", ((ink(f"it says: {row.elsewhere}"),),)))
    if row.name in FIXED:
        sections.append(Section("FIXED", ((ink("Its key stays: lines, questions and the rail name it."),),)))
    elif row.name in keymap.overrides:
        told = f'[keys] {row.name} = "{keymap.overrides[row.name]}"'
        sections.append(Section("WRITTEN", ((ink(f"in bench.toml, {told}", "soft"),),)))
    return Card(
        row.title,
        row.title,
        (ink(row.help),),
        tuple(sections),
        (Section("NAME", ((ink(row.name, "soft"),),)),),
    )


class Remapping:
    """Puts one thing on another key, and offers to swap where that is another's.

    Args:
        row: What is put on another key.
        keep: Writes overrides, None for those that go; returns what went wrong, if anything.
    """

    def __init__(self, frame: Frame, row: KeyRow, keep: Callable[[Mapping[str, str | None]], str]) -> None:
        self._frame = frame
        self._row = row
        self._keep = keep
        self._wanted = ""
        self._rival = ""

    def begin(self) -> None:
        """Ask for the key."""
        if self._row.name in FIXED:
            self._frame.say(f"{self._row.title} keeps its key.")
        else:
            self._frame.stepping.ask_key(self._row.title, self.take)

    def take(self, key: str) -> bool:
        """Take the key that was pressed; returns whether nothing more is asked."""
        key, name = canonical(key), self._row.name
        if key == "escape":
            self._frame.say("Both keep their keys." if self._wanted else "It keeps its key.")
            return True
        if key == "enter" and self._wanted and self._rival:
            self._write(
                self._frame.keymap.swapped(name, self._rival, self._wanted), self._wanted, swapped=True
            )
            return True
        if fault := fault_of(key):
            self._frame.say(f"{fault} Press another, or esc.")
            return False
        overrides, clash = self._frame.keymap.with_key(name, key)
        if clash is None:
            self._write(overrides, key)
            return True
        self._rival = next(each for each in clash.ids if each != name)
        if self._rival in FIXED:
            self._rival = ""
            self._frame.say(f"{written(key)} is a key that stays where it is. Press another, or esc.")
            return False
        self._wanted = key
        rival = title_of(self._rival)
        self._frame.say(f"{written(key)} is the key of “{rival}”. Nothing is changed yet.")
        theirs = self._row.keys[0]
        self._frame.hint(
            (("enter", f"swap: {rival} gets {theirs}"), ("another key", "tries that"), ("esc", "leave both"))
        )
        return False

    def _write(self, overrides: Mapping[str, str], key: str, *, swapped: bool = False) -> None:
        gone = dict.fromkeys(self._frame.keymap.overrides.keys() - overrides.keys())
        problem = self._keep({f"keys.{name}": value for name, value in {**overrides, **gone}.items()})
        also = f", and “{title_of(self._rival)}” on {self._row.keys[0]}" if swapped else ""
        self._frame.say(
            problem or f"Put “{self._row.title}” on {written(key)}{also}. ⸨bring-back⸩ puts it back.",
            is_problem=bool(problem),
        )


def title_of(name: str) -> str:
    """Return what something is called that has a key."""
    made = next((bound for each, bound, _ in everything() if each == name), None)
    if isinstance(made, Command):
        return made.label.removesuffix("…") or made.id.replace("-", " ")
    return made.title if made is not None else name

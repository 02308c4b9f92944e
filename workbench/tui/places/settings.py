"""Settings: every one with its value and who says so, how the bench looks, and which key does what."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on

from workbench.display.card import Card, Section
from workbench.display.ink import Line, gap, ink, spread
from workbench.display.settings import section_lines, setting_card, setting_row, value_row
from workbench.display.transcript import Evidence, SourceLine
from workbench.display.words import quoted
from workbench.engine.layout import SETTINGS
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.settings import SettingRow, SettingsListed
from workbench.engine.settings.schema import Unfit
from workbench.engine.settings.sections import SCHEMA
from workbench.engine.settings.wording import HALF_LIFE, meant
from workbench.engine.values import dataclass
from workbench.tui.keys.dispatch import FIXED, PRESETS, Keymap, everything, fault_of
from workbench.tui.keys.table import COMMAND, FRAME, MOVING, Command, Prefix, canonical, written
from workbench.tui.look import AUTO, FILE_NAME, PRESET, Look
from workbench.tui.parts.chooser import Steps
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.themes import too_faint
from workbench.tui.verbs.act import Act

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from textual.app import ComposeResult

    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.app import FrameApp
    from workbench.tui.frame.screen import Frame
    from workbench.tui.keys.dispatch import Bound
    from workbench.tui.verbs.act import Subject

KEYS = "Keys"
_LOOK = "Look"
_TASTE = "bench."
_SECTION_LINK = "section:"
_SECRET = lazy_pattern(
    r"^(\s*(?:"
    + "|".join({re.escape(key.rpartition(".")[2]) for key in SCHEMA if SCHEMA[key].secret})
    + r")\s*=\s*).*"
)
_NOT_MEMORY = "A setting is not a memory; ⸨edit⸩ changes it, ⸨bring-back⸩ puts it back to its default."
_MEMORY_ONLY = frozenset({"pin", "forget", "reinforce", "history", "new", "merge", "mark", "range"})
_STEPPED = {"bench.theme": "theme", "bench.motion": "motion", "bench.plain": "plain", "bench.rows": "rows"}
AS_MADE = "default"
PRESET_KEY = f"key:{PRESET}"


@dataclass(frozen=True)
class Setting:
    """A setting, or something that has a key.

    Args:
        id: Its key, or `key:` and the name of what has a key.
        title: What it is called.
    """

    id: str
    title: str


class SettingRows(Rows["str", "SettingRow"]):
    """Settings under their sections; of the keys there is one row, which opens theirs."""

    def __init__(self, listed: SettingsListed, look: Look) -> None:
        super().__init__()
        self._keymap = look.keymap
        for row in listed.settings:
            self.add(_as_tasted(row, look) if row.section == _LOOK else row, row.key, row.section)

    @property
    def sections(self) -> tuple[str, ...]:
        """Return the names of the sections, in order."""
        return tuple(head for at in self._headings if (head := self.head(at)) is not None)

    def first_of(self, section: str) -> str:
        """Return the id of the first row of a section."""
        return next(self.key(at + 1) for at in self._headings if self.head(at) == section)

    def draw(self, row: SettingRow, width: int) -> Line:
        """Draw a row."""
        if row.section == KEYS:
            changed = len(self._keymap.overrides)
            said = self._keymap.preset or (f"{changed} changed" if changed else AS_MADE)
            is_usual = not changed and not self._keymap.preset
            return value_row("Every key", said, AS_MADE if is_usual else "you", width, is_usual=is_usual)
        return setting_row(row, width)


def _as_tasted(row: SettingRow, look: Look) -> SettingRow:
    """Return a taste of the bench as it holds: `bench.toml` counts more than the settings."""
    name = row.key.removeprefix(_TASTE)
    plain = "on" if look.plain else "off"
    value = {"theme": look.wanted, "motion": look.motion, "plain": plain, "rows": look.rows}[name]
    usual = {"theme": AUTO, "motion": "full", "plain": "off", "rows": "compact"}[name]
    choices = (AUTO, *look.theme_names) if name == "theme" else row.choices
    origin = look.origins.get(name, "")
    told = (
        {"source": "user", "origin": FILE_NAME, "path": FILE_NAME, "line": 0} if origin == FILE_NAME else {}
    )
    if not origin:
        told = {"source": "default", "origin": "", "path": "", "line": 0}
    return replace(row, said=value, usual=usual, choices=choices, waits=False, **told)  # type: ignore[arg-type]


class SettingsPlace(Place):
    """Settings, and within them the keys."""

    EMPTY: ClassVar[str] = "There is no setting of that name."
    KEYS: ClassVar[tuple[str, ...]] = ("edit", "bring-back", "evidence", "filter", "details")
    spot = ""

    @property
    def labels(self) -> dict[str, str]:
        return {"edit": "change", "bring-back": "default", "evidence": "the file"}

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._sections = DrawnLines(ground="paper", id="sections")

    def body(self) -> ComposeResult:
        yield self._sections
        yield self.list

    @property
    def _app(self) -> FrameApp:
        return cast("FrameApp", self.app)

    @property
    def _listed(self) -> SettingsListed:
        return cast("SettingsListed", self.results)

    def read(self, workspace: Workspace) -> SettingsListed:
        return workspace.settings_listed()

    def rows(self, results: SettingsListed) -> SettingRows | KeyRows:
        return KeyRows(self._app.look.keymap) if self.spot else SettingRows(results, self._app.look)

    def show(self, results: SettingsListed) -> None:
        super().show(results)
        self._sections.display = not self.spot
        self._draw_sections()

    def heading(self, results: SettingsListed, width: int) -> Line:
        if self.spot:
            keymap = self._app.look.keymap
            preset = f"preset: {keymap.preset}" if keymap.preset else AS_MADE
            return spread((ink("Keys", "soft"),), (ink(preset, "faint"),), width)
        problems = len(self._app.look.problems)
        right = (ink(f"{problems} not usable", "danger"),) if problems else ()
        return spread((ink(f"{len(results.settings)} settings", "soft"),), right, width)

    def filterable(self, row: SettingRow | KeyRow) -> Filterable | None:
        if isinstance(row, KeyRow) or row.section != KEYS:
            return None
        # Whoever looks for a key by what it does finds the way to all of them.
        return Filterable(
            " ".join(("Every key, keys:", *(name.replace("-", " ") for name, _, _ in everything())))
        )

    def subject(self, key: str) -> Setting | None:
        rows = self.all_rows
        if isinstance(rows, KeyRows):
            row = rows.row(key)
            return None if row is None else Setting(key, row.title)
        found = rows.row(key) if isinstance(rows, SettingRows) else None
        if found is None:
            return None
        return Setting(key, "Every key" if found.section == KEYS else found.title)

    def _setting(self, key: str) -> SettingRow | None:
        return self.all_rows.row(key) if isinstance(self.all_rows, SettingRows) else None

    def _key(self, key: str) -> KeyRow | None:
        return self.all_rows.row(key) if isinstance(self.all_rows, KeyRows) else None

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:  # noqa: ARG002 - all of it is here
        look = self._app.look
        if (key := self._key(subject.id)) is not None:
            return key_card(key, look.keymap)
        row = self._setting(subject.id)
        if row is None:
            return Card(subject.title, subject.title)
        if row.section == KEYS:
            problems = tuple((ink(each, "danger"),) for each in look.keymap.problems)
            told = (Section("NOT USABLE", problems),) if problems else ()
            return Card(
                subject.title,
                subject.title,
                (ink("Press enter to list every key; ⸨edit⸩ then moves one to another key."),),
                told,
            )
        card = setting_card(row, self._listed.user_file)
        return (
            replace(card, sections=_look_sections(row, look, card.sections, self._app))
            if row.section == _LOOK
            else card
        )

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | None:
        row = self._setting(subject.id)
        if row is None or row.section == KEYS:
            return None
        folder = self._app.config_folder
        if row.section == _LOOK and row.path in ("", FILE_NAME):
            path, shown = (folder or Path()) / FILE_NAME, FILE_NAME
        elif row.source == "user" or (row.personal and row.source != "workspace"):
            path = Path(self._listed.user_file)
            shown = path.name
        else:
            path, shown = workspace.root / SETTINGS, SETTINGS
        try:
            texts = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        at = row.line
        if shown == FILE_NAME:
            name = row.key.removeprefix(_TASTE)
            at = next((n for n, text in enumerate(texts, 1) if text.lstrip().startswith(name)), 0)
        lines = tuple(SourceLine(n, _SECRET.sub(r"\1(not shown)", text)) for n, text in enumerate(texts, 1))
        title = f"{shown} · line {at}" if at else f"{shown} · it does not set this"
        return Evidence(title, lines, at, at)

    def go_to_spot(self, spot: str) -> None:
        wanted = spot if spot == KEYS else ""
        if wanted != self.spot and self.filter.text:
            # A filter of settings is none of keys.
            self.frame.filtering.set(self, "")
        self.spot = wanted

    def do(self, command: str) -> bool:
        """Change what is under the cursor, put it back to its default, or open the keys."""
        key = self.cursor_key
        if command == "open":
            return self._open(key)
        if command == "out":
            return self._leave_keys()
        if command in ("edit", "left", "right"):
            self._change(key, {"left": -1, "right": 1}.get(command, 0))
        elif command == "bring-back":
            self._put_as_made(key)
        elif (
            command == "evidence" and (row := self._setting(key)) is not None and row.source == "environment"
        ):
            self.frame.say(f"{row.origin} sets it, a variable that the bench was started with.")
        elif command == "try-half-life":
            self._try_half_life(key)
        elif command in _MEMORY_ONLY:
            self.frame.say(_NOT_MEMORY)
        else:
            return False
        return True

    def _open(self, key: str) -> bool:
        row = self._setting(key)
        if row is None or row.section != KEYS:
            return False
        self.frame.go("settings", spot=KEYS)
        return True

    def _leave_keys(self) -> bool:
        if not self.spot:
            return False
        self.frame.go("settings", spot="", row="bench.keymap")
        return True

    # Changing.

    def _change(self, key: str, by: int) -> None:
        if (of_keys := self._key(key)) is not None:
            if key == PRESET_KEY:
                self._step_preset(by)
            elif by:
                self.frame.say(COMMAND["left"].elsewhere)
            else:
                Remapping(self.frame, of_keys, self._keep).begin()
            return
        row = self._setting(key)
        if row is None:
            self.frame.say(COMMAND["edit"].elsewhere)
        elif row.section == KEYS:
            self._open(key)
        elif row.key in _STEPPED:
            self._step_taste(row, by)
        elif row.choices:
            values = tuple(
                "on" if each == "true" else "off" if each == "false" else each for each in row.choices
            )
            at = values.index(row.said)
            take = partial(self._set, row)
            self.frame.stepping.step(Steps(row.title, values, at, lambda _value: None, take), by)
        elif by:
            self.frame.say("⸨edit⸩ writes another value; ← → step through choices.")
        else:
            self.frame.editing.ask(row.title, row.written, take=partial(self._take, row), selected=True)

    def _take(self, row: SettingRow, text: str) -> Act | str:
        try:
            meant(row.key, text)
        except Unfit as error:
            return f"{row.title} {error}."
        return self._setting_act(row, text)

    def _set(self, row: SettingRow, value: str) -> None:
        self.frame.begin(self._setting_act(row, value))

    def _setting_act(self, row: SettingRow, text: str) -> Act:
        def change(workspace: Workspace) -> str:
            changed = workspace.setting_change(row.key, text)
            if not changed.file:
                return f"{row.title} is {changed.after} already."
            return _told(
                f"Set {quoted(row.title)} to {changed.after}", changed.commit, changed.file, changed.warnings
            )

        return Act(change)

    def _put_as_made(self, key: str) -> None:
        if (of_keys := self._key(key)) is not None:
            self._key_as_made(of_keys)
            return
        row = self._setting(key)
        if row is None or (row.source == "default" and row.section != KEYS):
            self.frame.say("This is the default already.")
        elif row.section == KEYS:
            self._keep_all(
                {f"keys.{name}": None for name in (*self._app.look.keymap.overrides, PRESET)}, "Every key"
            )
        elif row.key in _STEPPED:
            self._keep_all({_STEPPED[row.key]: None}, row.title)
        else:

            def reset(workspace: Workspace) -> str:
                changed = workspace.setting_reset(row.key)
                is_usual = changed.after == row.usual
                said = (
                    f"Put {quoted(row.title)} back to its default, {changed.after}"
                    if is_usual
                    else f"{row.title} is {changed.after} now"
                )
                return _told(said, changed.commit, changed.file, changed.warnings)

            self.frame.begin(Act(reset))

    def _key_as_made(self, row: KeyRow) -> None:
        keymap = self._app.look.keymap
        name = PRESET if row.id == PRESET_KEY else row.name
        if row.id == PRESET_KEY and keymap.preset:
            self._keep_all({f"keys.{PRESET}": None}, row.title)
        elif name not in keymap.overrides:
            self.frame.say("This is the default already.")
        else:
            first, *_ = (key for key in row.usual)
            rest = {each: keys for each, keys in keymap.overrides.items() if each != name}
            clash = type(keymap)(rest, keymap.preset)
            if len(clash.problems) > len(keymap.problems):
                self.frame.say(f"{first} has another use now; put that elsewhere first.")
            else:
                self._keep_all({f"keys.{name}": None}, row.title)

    def _keep_all(self, values: Mapping[str, str | bool | None], title: str) -> None:
        problem = self._keep(values)
        self.frame.say(problem or f"{title} is back to its default.", is_problem=bool(problem))

    def _keep(self, values: Mapping[str, str | bool | None]) -> str:
        problem = self._app.change_look(values)
        if not problem:
            self.frame.did_without_undo()
        self.frame.read_again()
        return problem

    def _step_taste(self, row: SettingRow, by: int) -> None:
        name = _STEPPED[row.key]
        values = tuple("on" if each == "true" else "off" if each == "false" else each for each in row.choices)

        def take(value: str) -> None:
            problem = self._keep({name: value == "on" if name == "plain" else value})
            self.frame.say(problem or f"{row.title} is {value}, in {FILE_NAME}.", is_problem=bool(problem))

        try_out = self._app.try_theme if name == "theme" else lambda _value: None
        self.frame.stepping.step(Steps(row.title, values, values.index(row.said), try_out, take), by)

    def _step_preset(self, by: int) -> None:
        values = (AS_MADE, *PRESETS)

        def take(value: str) -> None:
            problem = self._keep({f"keys.{PRESET}": None if value == AS_MADE else value})
            self.frame.say(problem or f"The keys start from {value} now.", is_problem=bool(problem))

        at = values.index(self._app.look.keymap.preset or AS_MADE)
        self.frame.stepping.step(Steps("Preset", values, at, lambda _value: None, take), by)

    def _try_half_life(self, key: str) -> None:
        if key != HALF_LIFE:
            self.frame.say("Only the half-life can be tried.")
            return
        self.frame.go("decay", then=lambda: self.frame.run(COMMAND["try-half-life"]))

    # The line of sections.

    @on(DrawnLines.Pressed)
    def _pressed(self, event: DrawnLines.Pressed) -> None:
        rows = self.all_rows
        if event.link.startswith(_SECTION_LINK) and isinstance(rows, SettingRows):
            event.stop()
            self.reveal(rows.first_of(event.link.removeprefix(_SECTION_LINK)))
            self.frame.focus_place()

    def on_list_part_moved(self) -> None:
        """Show in the line of sections where the cursor is."""
        self._draw_sections()

    def _draw_sections(self) -> None:
        rows, row = self.all_rows, self._setting(self.cursor_key)
        if isinstance(rows, SettingRows):
            sections, current = rows.sections, row.section if row is not None else ""
            self._sections.show(
                lambda width: [
                    (gap(2), *line)
                    for line in section_lines(sections, current, _SECTION_LINK, max(1, width - 3))
                ]
            )


def _told(said: str, commit: str | None, file: str, warnings: Iterable[str]) -> str:
    name = Path(file).name if file else ""
    where = f" in {name}" if name else ""
    back = " ⸨undo⸩ takes that back." if commit else ""
    return " ".join((f"{said}{where}.{back}", *warnings))


def _look_sections(
    row: SettingRow, look: Look, sections: Iterable[object], app: FrameApp
) -> tuple[Section, ...]:
    """Return the sections of a taste's card: a theme says what it comes to and what cannot be read in it."""
    where = look.origins.get(row.key.removeprefix(_TASTE), "")
    kept: list[Section] = [each for each in sections if isinstance(each, Section) and each.label != "SET IN"]
    told = where or f"nowhere yet; a change goes to {FILE_NAME} in {app.config_folder or 'no folder'}"
    kept.append(Section.of("SET IN", told, "text" if where else "soft"))
    if row.key == "bench.theme":
        theme = look.theme_named(app.theme)
        if look.wanted == AUTO:
            ground = {True: "dark", False: "light", None: "not told"}[app.dark_ground]
            kept.insert(1, Section.of("COMES TO", f"{theme.name}; the terminal's ground is {ground}"))
        if faint := too_faint(theme):
            kept.append(Section("TOO FAINT", tuple((ink(each, "danger"),) for each in faint)))
    problems = [each for each in look.problems if not each.startswith("[keys]")]
    if problems:
        kept.append(Section("NOT USABLE", tuple((ink(each, "danger"),) for each in problems)))
    return tuple(kept)


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
        self.add(
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
            under = heading
            self.add(_row(name, bound, made, usual, prefix), f"key:{name}", heading)

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
        sections.append(Section.of("WHERE IT CANNOT ACT", f"it says: {row.elsewhere}"))
    if row.name in FIXED:
        sections.append(Section.of("FIXED", "Its key stays: lines, questions and the rail name it."))
    elif row.name in keymap.overrides:
        told = f'[keys] {row.name} = "{keymap.overrides[row.name]}"'
        sections.append(Section.of("WRITTEN", f"in bench.toml, {told}", "soft"))
    return Card(
        row.title,
        row.title,
        (ink(row.help),),
        tuple(sections),
        (Section.of("NAME", row.name, "soft"),),
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

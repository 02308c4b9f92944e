"""Help and finding anything: every command with its sentence, every place, every memory, and what is chosen is done.

A value is changed by one key: by stepping through a few values, or by pressing the key that is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.card import told
from workbench.display.words import store_of
from workbench.engine.settings.wording import SECTIONS
from workbench.tui.keys.table import ACTS_IN, MOVING, PLACES, written
from workbench.tui.parts.chooser import Choice, Steps
from workbench.tui.verbs.memories import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.keys.table import Command
    from workbench.tui.parts.chooser import ChooserPart

_RUN, _GO = "run:", "go:"
# Values shown to either side of the present one.
_AROUND = 2


class Choosing:
    """Opens the list of what can be done and found."""

    def __init__(self, frame: Frame, chooser: ChooserPart) -> None:
        self._frame = frame
        self._chooser = chooser
        self._take: Callable[[Choice], object] | None = None

    def do(self, command: str) -> bool:
        """Open help, or the list of everything."""
        if command == "help":
            self.choose("Keys of this place; type to narrow, enter does it", tuple(self._help()))
        elif command == "run":
            offered = tuple(self._everything())
            self.choose("Find a command, a place or a memory", offered)
            self._frame.reading.read("find", _memories, lambda found: self._add(offered, found))
        else:
            return False
        return True

    def choose_memory(self, title: str, take: Callable[[Choice], object]) -> None:
        """Have a memory chosen by its words.

        Args:
            take: Told which.
        """
        self.choose(title, (), take)
        self._frame.reading.read("find", _memories, lambda found: self._add((), found))

    def choose(
        self, title: str, choices: tuple[Choice, ...], take: Callable[[Choice], object] | None = None
    ) -> None:
        """Have one of many chosen.

        Args:
            title: What is chosen; stands in the line until something is typed.
            take: Told what was chosen; not called where the list is left. None does or opens it.
        """
        self._take = take
        self._chooser.open(title)
        self._chooser.offer(choices)
        self._chooser.list.do("first")
        self._frame.set_focus(self._chooser.line)

    def _add(self, offered: tuple[Choice, ...], memories: tuple[Choice, ...]) -> None:
        if self._chooser.display:
            self._chooser.offer((*offered, *memories))

    def typed(self) -> None:
        """Narrow the list by what stands in its line."""
        self._chooser.narrow()

    def take(self, key: str) -> bool:
        """Choose, move, or close the list."""
        if not self._chooser.display or self._frame.focused not in (self._chooser.line, self._chooser.list):
            return False
        moved = {"down": "move-down", "up": "move-up", "pagedown": "page-down", "pageup": "page-up"}
        if key == "escape" or (key in ("?", "f1") and not self._chooser.line.value):
            self._close()
        elif key == "enter":
            self._choose()
        elif key in moved:
            self._chooser.list.do(moved[key])
        else:
            return False
        return True

    def _close(self) -> None:
        self._chooser.display = False
        self._frame.reading.forget("find")
        self._frame.focus_place()

    def _choose(self) -> None:
        choice, take = self._chooser.chosen, self._take
        self._close()
        if choice is None:
            self._frame.say("Nothing was chosen.")
        elif take is not None:
            take(choice)
        elif choice.id.startswith(_RUN):
            self._run(choice.id.removeprefix(_RUN))
        elif choice.id.startswith(_GO):
            place, _, row = choice.id.removeprefix(_GO).partition("#")
            self._frame.go(place, row=row, spot="" if row else None)
        else:
            self._frame.looking.open_memory(choice.id)

    def _run(self, name: str) -> None:
        """Carry out a command, in the place where alone it can act."""
        frame, command = self._frame, self._command(name)
        if command is None:
            return
        places = ACTS_IN.get(name, (frame.place_name,))
        if frame.place_name in places:
            frame.run(command)
        else:
            frame.go(places[0], then=lambda: frame.run(command))

    def _command(self, name: str) -> Command | None:
        keymap = self._frame.keymap
        every = (*keymap.commands, *(each for prefix in keymap.prefixes for each in prefix.commands))
        return next((each for each in every if each.id == name), None)

    def _help(self) -> Iterator[Choice]:
        """Yield the commands of this place first, then those of everywhere, then the sheets."""
        keymap, place = self._frame.keymap, self._frame.place
        moving = {each.id for each in MOVING}
        here = [each for each in keymap.commands if each.id in place.keys]
        yield from (_of(each, "Here") for each in here)
        rest = [each for each in keymap.commands if each not in here]
        yield from (
            _of(each, "Everywhere") for each in rest if each.id not in moving and each.id not in VERBS
        )
        yield from (_of(each, "On a memory or row") for each in rest if each.id in VERBS)
        for listed in PLACES:
            yield Choice(_GO + listed.name, f"Go to {listed.title}.", "Places", written(listed.key))
        yield from (_of(each, "Moving") for each in rest if each.id in moving)
        for prefix in keymap.prefixes:
            for each in prefix.commands:
                yield _of(each, f"{written(prefix.key)} and then", f"{written(prefix.key)} ")

    def _everything(self) -> Iterator[Choice]:
        keymap = self._frame.keymap
        for listed in PLACES:
            yield Choice(_GO + listed.name, listed.title, "Go to", written(listed.key))
        for each in keymap.commands:
            if each not in MOVING:
                yield _of(each, "Do")
        for prefix in keymap.prefixes:
            for each in prefix.commands:
                yield _of(each, "Do", f"{written(prefix.key)} ")
        for section, settings in SECTIONS.items():
            yield from (
                Choice(f"{_GO}settings#{key}", each.title, f"Settings, {section}")
                for key, each in settings.items()
                if section != "Keys"
            )


def _of(command: Command, section: str, before: str = "") -> Choice:
    key = before + written(command.keys[0])
    # One that names a key names its own.
    return Choice(_RUN + command.id, told(command.help, lambda _: key), section, key)


def _memories(workspace: Workspace) -> tuple[Choice, ...]:
    """Read the title of every memory; called on a thread."""
    titles = workspace.titles("core", "episodic", "semantic", "procedural", "vault")
    return tuple(Choice(id_, title, "Memories", store=store_of(id_)) for id_, title in titles.items())


class Stepping:
    """Steps through values with the arrows, and waits for a key that something is to have.

    Args:
        frame: On whose lines it says what it waits for.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._steps: Steps | None = None
        self._at = 0
        self._typed = ""
        self._key: Callable[[str], bool] | None = None

    def step(self, steps: Steps, by: int = 0) -> None:
        """Begin to step through values.

        Args:
            by: How many steps are taken at once.
        """
        self._steps, self._at, self._typed = steps, steps.at, ""
        self._move(steps, by)

    def ask_key(self, title: str, took: Callable[[str], bool]) -> None:
        """Wait for a key.

        Args:
            took: Told of it, esc and enter among them; returns whether nothing more is waited for.
        """
        self._key = took
        self._frame.say(f"{title}: press the new key.")
        self._frame.hint((("esc", "as it was"),))

    @property
    def is_waiting(self) -> bool:
        """Return whether the next key is one of ours."""
        return self._steps is not None or self._key is not None

    def leave(self) -> None:
        """Wait no longer; what was looked at is as it was."""
        steps = self._steps
        if self.is_waiting:
            self._key = None
            self._end()
        if steps is not None:
            steps.try_out(steps.values[steps.at])

    def take(self, key: str) -> bool:
        """Step, take or leave; or hand on the key that is waited for."""
        if self._key is not None:
            if self._key(key):
                self._key = None
                self._frame.hint(())
            return True
        steps = self._steps
        if steps is None:
            return False
        if key in ("left", "right", "up", "down"):
            self._move(steps, 1 if key in ("right", "down") else -1)
        elif key == "backspace" or len(key) == 1:
            self._type(steps, self._typed[:-1] if key == "backspace" else self._typed + key.casefold())
        elif key == "escape":
            self._end()
            steps.try_out(steps.values[steps.at])
            self._frame.say("Left as it was.")
        elif key == "enter" and self._found(steps):
            self._end()
            steps.take(steps.values[self._at])
        else:
            self._show(steps)
        return True

    def _found(self, steps: Steps) -> list[str]:
        """Return the values with what was typed in their names."""
        return [each for each in steps.values if self._typed in each.casefold()]

    def _move(self, steps: Steps, by: int) -> None:
        if not self._found(steps):
            self._typed = ""
        found, value = self._found(steps), steps.values[self._at]
        self._look_at(steps, found[(found.index(value) + by) % len(found)])

    def _type(self, steps: Steps, typed: str) -> None:
        self._typed = typed
        found, value = self._found(steps), steps.values[self._at]
        if found and value not in found:
            value = min(found, key=lambda each: not each.casefold().startswith(typed))
        self._look_at(steps, value)

    def _look_at(self, steps: Steps, value: str) -> None:
        if value != steps.values[self._at]:
            self._at = steps.values.index(value)
            steps.try_out(value)
        self._show(steps)

    def _show(self, steps: Steps) -> None:
        """Say which value would be taken, among those beside it; of many those around, so that it is in sight."""
        found, value = self._found(steps), steps.values[self._at]
        title = f"{steps.title} “{self._typed}”" if self._typed else steps.title
        if not found:
            self._frame.say(f"{title}: none has that in its name; backspace takes a letter away.")
            self._frame.hint((("backspace", "a letter less"), ("esc", "leave it")))
            return
        here = found.index(value)
        first = max(0, min(here - _AROUND, len(found) - 2 * _AROUND - 1))
        near = found[first : first + 2 * _AROUND + 1]
        others = " · ".join(f"▸{each}" if each == value else each for each in near)
        before, after = "… " * (first > 0), " …" * (first + len(near) < len(found))
        self._frame.say(f"{title}: {before}{others}{after}")
        self._frame.hint(
            (("← →", "another"), ("a–z", "find"), ("enter", f"take {value}"), ("esc", "leave it"))
        )

    def _end(self) -> None:
        self._steps = None
        self._frame.hint(())

"""Copies texts, citations, quotes and ids to the clipboard of the person, and says which way they went."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

from workbench.display.words import counted, quoted
from workbench.tui.keys.table import COMMAND
from workbench.tui.places.memory_reading import read_copied
from workbench.tui.verbs.memories import Copied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.tui.frame.screen import Frame

# Programs that take a text to the clipboard, and what must be set for them.
_PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
# Where a source is read, these are about its marked lines.
_OF_SOURCE = ("copy-text", "copy-citation")
_AFAR = ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")
_SECONDS = 2.0


class Copying:
    """Copies."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def do(self, command: str) -> bool:
        """Copy what the cursor is on, or all that is marked."""
        if command not in ("copy-text", "copy-citation", "copy-quote", "copy-id", "copy-marked"):
            return False
        frame, place = self._frame, self._frame.place
        if command == "copy-marked":
            subjects = place.subjects if place.list.marks.keys else ()
        else:
            subjects = (place.current,) if place.current is not None else ()
        if not subjects:
            frame.say(COMMAND[command].elsewhere)
            return True

        def show(found: list[Copied]) -> None:
            if command == "copy-marked":
                text = "\n".join(" ".join(each.text.split()) for each in found)
                self.copy(text, counted(len(found), "text"))
                return
            only = found[0]
            text = {
                "copy-text": only.text,
                "copy-citation": only.citation,
                "copy-quote": only.quote,
                "copy-id": only.id,
            }[command]
            what = {
                "copy-citation": "the place of ",
                "copy-quote": "what was said for ",
                "copy-id": "the id of ",
            }
            if text:
                self.copy(text, what.get(command, "") + quoted(subjects[0].title))
            else:
                frame.say(COMMAND[command].elsewhere)

        evidence = place.evidence.evidence
        if frame.focused is place.evidence and evidence is not None and command in _OF_SOURCE:
            text = evidence.marked if command == "copy-text" else evidence.place
            self.copy(text, "the marked lines" if command == "copy-text" else "the place of the marked lines")
            return True

        frame.reading.read(
            "copy", lambda workspace: [read_copied(workspace, each) for each in subjects], show
        )
        return True

    def take(self, key: str) -> bool:
        """Copy what is selected by mouse, by `^c` or `y`."""
        if key not in ("ctrl+c", "y") or isinstance(self._frame.focused, Input | TextArea):
            return False
        selected = self._frame.get_selected_text()
        if not selected:
            return False
        self._frame.clear_selection()
        self.copy(selected, "the selection")
        return True

    def copy(self, text: str, what: str) -> None:
        """Copy a text by the terminal, and by a program of the machine where one sits at it.

        Args:
            what: What it is, for the status line.
        """
        frame = self._frame
        frame.app.copy_to_clipboard(text)
        size = counted(len(text), "character")
        program = None if frame.app.is_web else clipboard_program(os.environ)

        def say(way: str) -> None:
            frame.say(f"Copied {what}: {size}, {way}.")

        # Whether a terminal takes what it is sent, no terminal tells.
        sent = "sent to the terminal’s clipboard"
        if program is None:
            say("by the browser" if frame.app.is_web else sent)
            return
        frame.reading.read(
            "clipboard",
            lambda _workspace: _hand_to(program, text),
            lambda done: say(f"by {program[0]}, and {sent}" if done else sent),
        )


def clipboard_program(environment: Mapping[str, str]) -> Sequence[str] | None:
    """Return the program that takes a text to this machine's clipboard; None where one sits at another machine."""
    if any(environment.get(name) for name in _AFAR):
        return None
    for variable, command in _PROGRAMS:
        if variable and not environment.get(variable):
            continue
        if (
            not variable
            and sys.platform not in ("darwin", "win32")
            and not environment.get("WSL_DISTRO_NAME")
        ):
            continue
        if shutil.which(command[0]):
            return command
    return None


def _hand_to(command: Sequence[str], text: str) -> bool:
    """Give a text to a program; returns whether it took it."""
    encoding = "utf-16-le" if command[0] == "clip.exe" else "utf-8"
    try:
        finished = subprocess.run(
            command,
            input=text.encode(encoding, "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return finished.returncode == 0

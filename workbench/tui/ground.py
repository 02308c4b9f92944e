"""Asks the terminal whether its ground is light or dark, and understands it when it says that this has changed."""

from __future__ import annotations

import math
import os
import re
import select
import sys
import time
from enum import Enum
from typing import TYPE_CHECKING, Final

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Seconds that the terminal has for its answer.
_PATIENCE = 0.2
# The colour of the ground, and then what every terminal answers: those that do not know the first cost no waiting.
_QUESTION = b"\x1b]11;?\x1b\\\x1b[c"
_COLOUR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{2,4})/([0-9a-fA-F]{2,4})/([0-9a-fA-F]{2,4})")
_ANSWERED = re.compile(rb"\x1b\[\?[\d;]*c")
FOLLOW: Final = "\x1b[?2031h"
UNFOLLOW: Final = "\x1b[?2031l"
# Colours of COLORFGBG that are light.
_LIGHT = frozenset({"7", "11", "14", "15"})
# Seconds in which a late answer may come, and of silence after it.
_LATEST, _SILENCE = 5.0, 0.3
_ESCAPE = b"\x1b"
# How Textual spells the beginning of an answer, and what stands behind the escape in it.
_BEGINNINGS = {"circumflex_accent": "", "alt+right_square_bracket": "]", "alt+left_square_bracket": "["}


class Notice(Enum):
    """What the terminal says of its ground, as a key."""

    DARK = "ground-dark"
    LIGHT = "ground-light"


def understand_notices() -> None:
    """Let Textual hand on the notices of mode 2031 as keys of their own, instead of as what they are spelled with."""
    known: dict[str, object] = ANSI_SEQUENCES_KEYS  # type: ignore[assignment]  # a dictionary, declared as a mapping
    known["\x1b[?997;1n"], known["\x1b[?997;2n"] = (Notice.DARK,), (Notice.LIGHT,)


def ask_ground(environment: Mapping[str, str]) -> tuple[bool | None, bool]:
    """Ask the terminal for its ground, within 200 ms; else look at `COLORFGBG`.

    Returns:
        Whether it is dark, None where nobody says; and whether an answer may still come.
    """
    said, late = _asked()
    if said is None and (pair := environment.get("COLORFGBG", "")):
        said = pair.rpartition(";")[2] not in _LIGHT
    return said, late


def _asked() -> tuple[bool | None, bool]:
    try:
        import termios
        import tty

        terminal = sys.stdin.fileno()
        if not (os.isatty(terminal) and os.isatty(sys.stdout.fileno())):
            return None, False
        before = termios.tcgetattr(terminal)
    except (ImportError, OSError, ValueError, termios.error):
        return None, False
    heard = b""
    try:
        tty.setcbreak(terminal)
        os.write(sys.stdout.fileno(), _QUESTION)
        until = time.monotonic() + _PATIENCE
        while not _ANSWERED.search(heard) and (left := until - time.monotonic()) > 0:
            if not select.select([terminal], [], [], left)[0]:
                break
            heard += os.read(terminal, 256)
    except OSError:
        return None, False
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    return ground_in(heard), not _ANSWERED.search(heard)


def ground_in(answer: bytes) -> bool | None:
    """Return whether the colour in an answer is dark; None where there is none."""
    found = _COLOUR.search(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in found.groups())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


class LateAnswer:
    """Keeps an answer that comes after the bench has begun from being taken for keys.

    Args:
        heard: Told what it says: whether the ground is dark.
        clock: Tells seconds.
    """

    def __init__(self, heard: Callable[[bool], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._heard = heard
        self._clock = clock
        self._until = clock() + _LATEST
        self._last = -math.inf
        self._text = ""

    def swallows(self, key: str, character: str | None) -> bool:
        """Return whether a key is part of the answer, which comes in one go, spelled out."""
        now = self._clock()
        if now > self._until:
            return False
        if now - self._last > _SILENCE:
            if key not in _BEGINNINGS:
                return False
            self._text = _BEGINNINGS[key]
        else:
            before = ground_in(_ESCAPE + self._text.encode())
            self._text += character if character and character.isascii() else ""
            said = ground_in(_ESCAPE + self._text.encode())
            if said is not None and before is None:
                self._heard(said)
        self._last = now
        return True

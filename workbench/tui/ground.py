"""Asks the terminal whether its ground is light or dark, and understands it when it says that this has changed."""

from __future__ import annotations

import math
import os
import select
import sys
import termios
import time
import tty
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Seconds that the terminal has for its answer.
_PATIENCE = 0.2
# The colour of the ground, and then what every terminal answers: those that do not know the first cost no waiting.
_QUESTION = b"\x1b]11;?\x1b\\\x1b[c"
_COLOUR = lazy_pattern(
    rb"\x1b\]11;rgba?:([0-9a-fA-F]{2,4})/([0-9a-fA-F]{2,4})/([0-9a-fA-F]{2,4})(?:/[0-9a-fA-F]+)?(?:\x07|\x1b\\)?"
)
_ANSWERED = lazy_pattern(rb"\x1b\[\?[\d;]*c")
FOLLOW: Final = b"\x1b[?2031h"
UNFOLLOW: Final = b"\x1b[?2031l"
# Colours of COLORFGBG that are light.
_LIGHT = frozenset({"7", "11", "14", "15"})
# Seconds in which a late answer may come, and of silence after it.
_LATEST, _SILENCE = 5.0, 0.3
_ESCAPE = b"\x1b"
# How Textual spells the beginning of an answer, and what stands behind the escape in it.
_PARTS = ("alt+backslash", "ctrl+g")
_BEGINNINGS = {"circumflex_accent": "", "alt+right_square_bracket": "]", "alt+left_square_bracket": "["}


class Notice(Enum):
    """What the terminal says of its ground, as a key."""

    DARK = "ground-dark"
    LIGHT = "ground-light"


class Answer(NamedTuple):
    """What the terminal said.

    Args:
        dark: Whether its ground is; None where nobody says.
        may_be_late: Whether an answer may still come.
    """

    dark: bool | None
    may_be_late: bool
    typed: str


def understand_notices() -> None:
    """Let Textual hand on the notices of mode 2031 as keys of their own, instead of as what they are spelled with."""
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

    known: dict[str, object] = ANSI_SEQUENCES_KEYS  # type: ignore[assignment]  # a dictionary, declared as a mapping
    known["\x1b[?997;1n"], known["\x1b[?997;2n"] = (Notice.DARK,), (Notice.LIGHT,)


class Ground:
    """Asks the terminal for its ground at once, and takes the answer later; a context manager.

    Args:
        environment: The variables; `COLORFGBG` stands in for an answer.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._until = time.monotonic() + _PATIENCE
        self._before: list[Any] | None = None
        self._follows = False

    def __enter__(self) -> Self:
        try:
            if sys.stdin.isatty() and sys.stdout.isatty():
                self._before = termios.tcgetattr(sys.stdin.fileno())
                tty.setcbreak(sys.stdin.fileno())
                os.write(sys.stdout.fileno(), _QUESTION)
        except (OSError, ValueError, termios.error):
            self._restore()
        return self

    def __exit__(self, *_error: object) -> None:
        self._restore()
        if self._follows:
            with suppress(OSError):
                os.write(sys.stdout.fileno(), UNFOLLOW)

    def _restore(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            with suppress(termios.error, ValueError):
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)

    def answer(self) -> Answer:
        """Wait for the answer, 200 ms from the question at most."""
        asked, heard = self._before is not None, b""
        with suppress(OSError, ValueError):
            while asked and not _ANSWERED.search(heard):
                left = max(0.0, self._until - time.monotonic())
                if not select.select([sys.stdin], [], [], left)[0]:
                    break
                heard += os.read(sys.stdin.fileno(), 256)
        self._restore()
        dark = ground_in(heard)
        if dark is None and (pair := self._environment.get("COLORFGBG", "")):
            dark = pair.rpartition(";")[2] not in _LIGHT
        typed = _ANSWERED.sub(b"", _COLOUR.sub(b"", heard)).decode(errors="ignore")
        return Answer(dark, asked and not _ANSWERED.search(heard), typed)

    def follow(self) -> None:
        """Have the terminal tell when its ground changes, until the context is left."""
        if sys.stdout.isatty():
            understand_notices()
            self._follows = True
            os.write(sys.stdout.fileno(), FOLLOW)


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
        elif key not in _PARTS and not (character and character.isprintable()):
            return False
        else:
            before = ground_in(_ESCAPE + self._text.encode())
            self._text += character if character and character.isascii() else ""
            said = ground_in(_ESCAPE + self._text.encode())
            if said is not None and before is None:
                self._heard(said)
        self._last = now
        return True

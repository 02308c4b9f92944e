"""The short way of `workbench hook`: the daemon is asked before anything of the program is loaded."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from workbench.engine.clients.asking import QUICK_MOMENTS, ask

_MOST_GIVEN: Final = 4_000_000
_WORDS: Final = ("--client", "--workspace")


def given_on_stdin() -> bytes:
    """Return what a client wrote to stdin; nothing where a person types."""
    return b"" if sys.stdin.isatty() else sys.stdin.buffer.read(_MOST_GIVEN)


def answered_by_daemon(words: Sequence[str]) -> tuple[bool, bytes | None]:
    """Print what the daemon says to a hook; return whether it did, and what was read from stdin.

    Args:
        words: The command line. What `workbench connect` writes is understood; the rest takes the long way.
    """
    named = dict(zip(words[2::2], words[3::2], strict=False))
    is_plain = len(words) == 6 and words[1] in QUICK_MOMENTS and sorted(named) == sorted(_WORDS)
    if not is_plain or os.environ.get("WORKBENCH_SCOPE", "").strip():
        return False, None
    given = given_on_stdin()
    root = os.path.realpath(named["--workspace"])
    role = os.environ.get("WORKBENCH_ROLE", "").strip() or "main"
    is_answered, told = ask(root, words[1], named["--client"], role, given)
    if told is not None:
        with suppress(OSError):
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
    return is_answered, given

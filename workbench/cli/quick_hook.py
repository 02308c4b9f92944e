"""The short way of `workbench hook`: the daemon is asked before anything else is loaded, and the command line never."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from workbench.engine.clients.asking import QUICK_MOMENTS, ask, written

_MOST_GIVEN: Final = 64_000_000
# A client that leaves stdin open and has said nothing for so long has said all that it will.
_PATIENCE: Final = 1.5
_WORDS: Final = ("--client", "--workspace")
_END: Final = "session-end"
# Plugins of ours, which wait for what is saved and are killed by nobody.
_WAITING: Final = ("openclaw", "opencode")


def given_on_stdin() -> bytes:
    """Return what a client wrote to stdin: until that is an object, or it closes stdin, or says no more for a while.

    Nothing where a person types.
    """
    if sys.stdin.isatty():
        return b""
    try:
        handle = sys.stdin.fileno()
    except io.UnsupportedOperation:  # a stream in memory, which ends
        return sys.stdin.buffer.read(_MOST_GIVEN)
    given = bytearray()
    while len(given) < _MOST_GIVEN and select.select([handle], [], [], _PATIENCE)[0]:
        part = os.read(handle, _MOST_GIVEN - len(given))
        given += part
        if not part or (part.rstrip().endswith(b"}") and _is_whole(given)):
            break
    return bytes(given)


def _is_whole(given: bytes | bytearray) -> bool:
    try:
        json.loads(given)
    except (ValueError, RecursionError):
        return False
    return True


def carried_out(words: Sequence[str]) -> bool:
    """Carry out a hook as `workbench connect` writes it; any other, which is left alone, is for the command line."""
    named = dict(zip(words[2::2], words[3::2], strict=False))
    is_plain = len(words) == 6 and words[1] in (*QUICK_MOMENTS, _END) and sorted(named) == sorted(_WORDS)
    if not is_plain or os.environ.get("WORKBENCH_SCOPE", "").strip():
        return False
    moment, client, root = words[1], named["--client"], os.path.realpath(named["--workspace"])
    if not os.path.isdir(root):  # noqa: PTH112 - of text
        return False
    given = given_on_stdin()
    if moment == _END:
        if client in _WAITING or not _goes_on_alone():
            _look_here(moment, client, given, root)
        return True
    role = os.environ.get("WORKBENCH_ROLE", "").strip() or "main"
    is_answered, told = ask(root, moment, client, role, given)
    if told is not None:
        with suppress(OSError):
            sys.stdout.write(written(told))
            sys.stdout.flush()
    if not is_answered:
        _look_here(moment, client, given, root)
    return True


def _look_here(moment: str, client: str, given: bytes, root: str) -> None:
    from workbench.cli.hook_moment import engine_door, tell_client

    with suppress(BrokenPipeError):
        tell_client(moment, client, given, lambda: Path(root), engine_door)


def _goes_on_alone() -> bool:
    """Leave what is to be done to a process of its own; return True in the one that only waited for it.

    A client that ends may wait for no more than a second or two, and then kills what it started: this process, not
    that one.
    """
    try:
        if child := os.fork():
            # Where the client ignores the ends of children, it has ended all the same.
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
            return True
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
    except OSError:
        pass  # then here, for as long as the client waits
    return False

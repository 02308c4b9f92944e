"""What is done at a moment of a session, without anything of the command line. Whatever happens, the client goes on."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine.clients.asking import written
from workbench.engine.clients.hooks import HookCall, answer
from workbench.engine.clock import clock_from_environment
from workbench.engine.roles import parse_role
from workbench.engine.settings.sections import shared_directory

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

_PROMPT_SECONDS: Final = 2.0
_LOG: Final = "hooks.log"
_LONGEST_LOG: Final = 200_000


def tell_client(
    moment: str, client: str, given: bytes, find: Callable[[], Path], door: Callable[[], type[Workspace]]
) -> None:
    """Print what a client is told at a moment, in the form that it takes; what goes wrong is noted.

    Args:
        door: Gives what opens it.
    """
    call = HookCall.read(moment, client, given)
    if moment == "prompt":
        _give_up_after(_PROMPT_SECONDS)
    told = None
    try:
        role = str(parse_role(os.environ.get("WORKBENCH_ROLE", "").strip() or "main"))
        root, clock = Path(os.path.realpath(find())), clock_from_environment()

        def open_door() -> Workspace:
            return door().open(root, role=role, clock=clock)

        told = answer(call, root, clock, open_door, is_main=role == "main")
    except Exception as error:  # the client goes on without memory rather than not at all
        note(f"{moment} for {client}: {error}")
    if told is not None:
        sys.stdout.write(written(told))
        sys.stdout.flush()


def engine_door() -> type[Workspace]:
    """Return what opens a workspace, importing it on first use."""
    from workbench.engine.workspace import Workspace

    return Workspace


def _give_up_after(seconds: float) -> None:
    """End the process without an answer when its time is up: a prompt waits for it."""

    def end() -> None:
        note(f"prompt: no answer within {seconds:g} s")
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def note(told: str) -> None:
    """Tell what went wrong on stderr, and keep it where a person finds it."""
    line = " ".join(told.split())[:1000]
    with suppress(OSError, ValueError):
        sys.stderr.write(f"workbench: {line}\n")
    with suppress(Exception):
        folder = shared_directory("state", os.environ.get("WORKBENCH_PATHS_STATE", ""))
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / _LOG
        kept = place.stat().st_size < _LONGEST_LOG if place.exists() else True
        with place.open("a" if kept else "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")

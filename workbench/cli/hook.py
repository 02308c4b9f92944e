"""The command that clients run at the moments of a session. Whatever happens in it, the client goes on."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.options import ROLE_VARIABLE, role_of
from workbench.cli.quick_hook import given_on_stdin
from workbench.engine.clients.hooks import MOMENTS, HookCall, answer

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

_PROMPT_SECONDS: Final = 2.0
_LOG: Final = "hooks.log"
_LONGEST_LOG: Final = 200_000


@command(
    "hook",
    answers="What does my agent’s program run at the start and the end of a session?",
    examples=("workbench hook session-start --client claude-code < event.json",),
)
@click.argument("moment", type=click.Choice(MOMENTS), metavar="MOMENT")
@click.option("--client", default="claude-code", metavar="CLIENT", help="Which program runs it.")
def hook_command(invocation: Invocation, moment: str, client: str) -> int:
    """`workbench connect` writes it into the hooks of a program, nobody types it. MOMENT is session-start (answers with
    the brief), prompt (with what memory has on it, if anything), pre-compact or session-end (saves what matters of the
    conversation). It reads the program’s JSON on stdin and answers in kind. The exit code is always 0; what went
    wrong is on stderr and in hooks.log in your state folder.
    """
    call = HookCall.read(moment, client, given_on_stdin() if invocation.given is None else invocation.given)
    if moment == "prompt":
        _give_up_after(_PROMPT_SECONDS)
    told = None
    try:
        role = role_of(None if os.environ.get(ROLE_VARIABLE, "").strip() else "main")
        root = Path(os.path.realpath(invocation.locate()))

        def open_door() -> Workspace:
            return invocation.workspace_class().open(root, role=role, clock=invocation.clock())

        told = answer(call, root, invocation.clock(), open_door, is_main=role == "main")
    except Exception as error:  # the client goes on without memory rather than not at all
        note(f"{moment} for {client}: {error}")
    if told is not None:
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    return DONE


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
        from workbench.engine.settings.sections import shared_directory

        folder = shared_directory("state", os.environ.get("WORKBENCH_PATHS_STATE", ""))
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / _LOG
        kept = place.stat().st_size < _LONGEST_LOG if place.exists() else True
        with place.open("a" if kept else "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")

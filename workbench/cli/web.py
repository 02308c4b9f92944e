"""The command that shows the bench in a browser."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation, refuse_for_a_scope
from workbench.cli.options import role_of
from workbench.display.text import safe_line, write
from workbench.engine.errors import InvalidInput


@command(
    "web",
    help="Serves the bench to a browser on this machine until you end it with Ctrl-C. The address has a token, and "
    "without it nothing is answered. Each page has a bench of its own; your editor and your clipboard’s program are "
    "not used there.",
    answers="Can I have the bench in a browser?",
    examples=("workbench web", "workbench web --port 8080"),
)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Where to listen; any port that is free if left out.",
)
@click.option(
    "--let-others-in",
    is_flag=True,
    help="Listen at an address that other machines reach, without encryption. Whoever has the token sees all memory.",
)
def web_command(invocation: Invocation, host: str, port: int, let_others_in: bool) -> int:
    refuse_for_a_scope()
    role, path = role_of(invocation.role), invocation.locate()
    try:
        serve = cast(Callable[..., None], import_module("workbench.tui.web").serve)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"The browser needs a library that is not installed: {error.name}.",
            remedy="Install it with: pip install 'memory-workbench[web]'",
        ) from error

    def told(address: str) -> None:
        write([f"The bench of {safe_line(str(path))} is at", "", f"  {address}", "", "Ctrl-C ends it."])

    # Opened once here, so that what is wrong with it is said in the terminal.
    with invocation.workspace_class().open(path, role=role, clock=invocation.clock()):
        pass
    serve(path.resolve(), role, told=told, host=host, port=port, lets_others_in=let_others_in)
    return DONE

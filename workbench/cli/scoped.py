"""The option `--scope`, and what commands answer from the memory of one scope."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page
from workbench.engine.scopes import within

if TYPE_CHECKING:
    from workbench.engine.requests import ProposeRequest, RememberRequest, SearchRequest
    from workbench.engine.scoped_memory import ScopedMemory


def search(bench: Invocation, door: ScopedMemory, request: SearchRequest) -> int:
    """Answer `search`."""
    with door:
        found = door.search_request(request)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import found_lines

        return found_lines(page, found, query=request.query, explain=request.explain)

    return bench.report(found, view, code=DONE if found.results else NOTHING_FOUND)


def show(bench: Invocation, door: ScopedMemory, memory_id: str) -> int:
    """Answer `show`."""
    with door:
        shown = door.show(memory_id)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import shown_lines

        return shown_lines(page, shown)

    return bench.report(shown, view)


def brief(bench: Invocation, door: ScopedMemory) -> int:
    """Answer `brief`."""
    with door:
        told = door.brief()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import scoped_brief_lines

        return scoped_brief_lines(page, told)

    return bench.report(told, view)


def remember(bench: Invocation, door: ScopedMemory, request: RememberRequest) -> int:
    """Answer `remember`."""
    with door:
        remembered = door.remember_request(request)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import scoped_remembered_lines

        return scoped_remembered_lines(page, remembered, door.scope)

    return bench.report(remembered, view)


def propose(bench: Invocation, door: ScopedMemory, request: ProposeRequest) -> int:
    """Answer `propose`."""
    with door:
        proposed = door.propose_request(request)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import scoped_proposed_lines

        return scoped_proposed_lines(page, proposed, door.scope)

    return bench.report(proposed, view)


def message(bench: Invocation, door: ScopedMemory, text: str) -> int:
    """Answer `message`."""
    with door:
        outcome = door.message(text)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import scoped_message_lines

        return scoped_message_lines(page, outcome, door.scope)

    nothing = outcome.found is not None and not outcome.found.results
    return bench.report(outcome, view, code=NOTHING_FOUND if nothing else DONE)


SCOPE_VARIABLE: Final = "WORKBENCH_SCOPE"

scope_option = click.option(
    "--scope",
    metavar="SCOPE",
    help="Ask as person:NAME or group:NAME, which know only what is for them; else WORKBENCH_SCOPE, or the owner.",
)


def scope_of(asked: str | None) -> str | None:
    """Return the scope that a door is opened for; None for the owner's.

    Args:
        asked: What the command line says; None where it says nothing.

    Raises:
        InvalidInput: One of them is no scope.
        RoleRefused: The command line names another scope than the environment.
    """
    return within(asked, os.environ.get(SCOPE_VARIABLE, "").strip() or None)


def scoped_door(bench: Invocation, asked: str | None, role: str | None = None) -> ScopedMemory | None:
    """Open the door of the scope that is meant, for use in a `with` statement; None where the owner asks.

    Args:
        bench: This run.
        asked: What the command line says.
        role: Who asks; as of every command by default.
    """
    scope = scope_of(asked)
    if scope is None:
        return None
    from workbench.cli.options import role_of
    from workbench.engine.scoped_memory import ScopedMemory

    role = role_of(bench.role) if role is None else role
    return ScopedMemory.open(bench.find(), scope=scope, role=role, clock=bench.clock())

"""What the commands that take `--scope` answer through the door of one scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page

if TYPE_CHECKING:
    from workbench.engine.workspace.scoped import ScopedMemory


def search(bench: Invocation, door: ScopedMemory, query: str, options: dict[str, Any]) -> int:
    """Answer `search`."""
    with door:
        found = door.search(query, **options)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.found import found_lines

        return found_lines(page, found, query=query, explain=bool(options["explain"]))

    return bench.report(found, view, code=DONE if found.results else NOTHING_FOUND)


def show(bench: Invocation, door: ScopedMemory, memory_id: str) -> int:
    """Answer `show`."""
    with door:
        shown = door.show(memory_id)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.shown import shown_lines

        return shown_lines(page, shown)

    return bench.report(shown, view)


def brief(bench: Invocation, door: ScopedMemory) -> int:
    """Answer `brief`."""
    with door:
        told = door.brief()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.scoped import brief_lines

        return brief_lines(page, told)

    return bench.report(told, view)


def remember(bench: Invocation, door: ScopedMemory, text: str, options: dict[str, Any]) -> int:
    """Answer `remember`."""
    with door:
        remembered = door.remember(text, **options)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.scoped import remembered_lines

        return remembered_lines(page, remembered, door.scope)

    return bench.report(remembered, view)


def propose(bench: Invocation, door: ScopedMemory, text: str, options: dict[str, Any]) -> int:
    """Answer `propose`."""
    with door:
        proposed = door.propose(text, **options)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.scoped import proposed_lines

        return proposed_lines(page, proposed, door.scope)

    return bench.report(proposed, view)


def message(bench: Invocation, door: ScopedMemory, text: str) -> int:
    """Answer `message`."""
    with door:
        outcome = door.message(text)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.scoped import message_lines

        return message_lines(page, outcome, door.scope)

    nothing = outcome.found is not None and not outcome.found.results
    return bench.report(outcome, view, code=NOTHING_FOUND if nothing else DONE)

"""Reads the screen of a bench over the workspace of `seen_workspace`, and what an action left behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from textual.pilot import Pilot

from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.tui.app import BenchApp
from workbench.tui.workspace_bench import WorkspaceBench


def app_of(pilot: Pilot[Any]) -> BenchApp:
    return cast("BenchApp", pilot.app)


def screen_text(pilot: Pilot[Any]) -> str:
    """Return every line of the screen as one reads it."""
    return "\n".join(
        "".join(segment.text for segment in strip).rstrip()
        for strip in pilot.app.screen._compositor.render_strips()
    )


def toasts(pilot: Pilot[Any]) -> str:
    """Return what the toasts say."""
    return "\n".join(f"{each.title} {each.message}" for each in pilot.app._notifications)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, and let each have its effect."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def reaching(bench: WorkspaceBench, *keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Return what presses keys for a picture, once nothing goes on of which the bottom line would tell."""

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        while (status := bench.status()).index or status.reading:
            await settle(pilot)
        await press(pilot, *keys)
        app_of(pilot).read_status()
        await settle(pilot)

    return reach


async def show(pilot: Pilot[Any], memory_id: str) -> None:
    """Open the full detail of a memory."""
    app_of(pilot).show_memory(memory_id)
    await settle(pilot)


def file_text(workspace: Workspace, path: str) -> str:
    return (workspace.root / path).read_text(encoding="utf-8")


def newest(workspace: Workspace) -> str:
    """Return what the newest commit did."""
    return workspace.audit_show(workspace.head() or "").subject


def status(workspace: Workspace, memory_id: str) -> str:
    """Return the status of a memory, `pinned` included."""
    score = workspace.show(memory_id, count_access=False).score
    return score.status if score is not None else ""

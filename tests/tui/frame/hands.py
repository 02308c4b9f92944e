"""What tests of the frame do: open it on a workspace, press keys, paste them in one go, and look at what is drawn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.pilot import Pilot

from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui.frame.app import FrameApp
from workbench.tui.frame.screen import Frame
from workbench.tui.parts.line import DrawnLines

TWO_SIZES = ((80, 24), (160, 40))


@asynccontextmanager
async def opened(
    workspace: Workspace, size: tuple[int, int] = (120, 36), *, place: str = "timeline", **options: Any
) -> AsyncIterator[Pilot[None]]:
    """Open the frame where one was, or at a place; with an empty one, as on a first visit."""
    app = FrameApp(workspace, **options)
    app.remembered.place = app.remembered.place or place
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


def frame_of(pilot: Pilot[None]) -> Frame:
    app = pilot.app
    assert isinstance(app, FrameApp)
    return app.frame


def drawn(pilot: Pilot[None], name: str) -> str:
    widget = frame_of(pilot).query_one(f"#{name}", DrawnLines)
    return "\n".join(plain_text(line) for line in widget.lines(widget.size.width))


def said(pilot: Pilot[None]) -> str:
    return " ".join(line.strip() for line in drawn(pilot, "status").splitlines()).strip()


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


async def burst(pilot: Pilot[None], keys: Iterable[str]) -> None:
    """Type keys faster than anything can be drawn between them: all are in the queue before the first is looked at."""
    named = {" ": "space", "\n": "enter", "\x1b": "escape", "\t": "tab", "/": "slash"}
    for key in keys:
        name = named.get(key, key)
        pilot.app.post_message(events.Key(name, key if len(key) == 1 and key.isprintable() else None))
    await settle(pilot)


async def press_at_work(pilot: Pilot[None], *keys: str) -> None:
    """Press keys while a reading or an import goes on in the background, and do not wait for its end."""
    await pilot.press(*keys)
    await settle(pilot, at_work=True)


def leave(pilot: Pilot[None]) -> None:
    """Leave the bench, so that where one was is kept."""
    app = pilot.app
    assert isinstance(app, FrameApp)
    app.leave()

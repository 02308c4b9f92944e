"""Waits until an app under test has come to rest, and says what moves where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from textual._context import visible_screen_stack
from textual.app import App
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.timer import Timer
from textual.widgets._toast import Toast

from workbench.tui.frame.screen import Frame

# What threads of the process are at; the fixture `counted_threads` keeps it.
under_way: set[Future[Any]] = set()

# A round lasts 5 ms or as long as the app needs; a machine under load has longer rounds, not more of them.
_MOST_ROUNDS = 4_000
_PAUSE = 0.005


async def settle(pilot: Pilot[Any], *, at_work: bool = False) -> None:
    """Wait until nothing moves, neither before the screen is drawn nor because it was.

    Args:
        pilot: Whose app.
        at_work: Do not wait for long work, such as a reading or an import, which goes on in the background.

    Raises:
        AssertionError: It never comes to rest; names what still moved.
    """
    app = pilot.app
    drawn = False
    moving: list[str] = []
    for _ in range(_MOST_ROUNDS):
        # A thread that ended has posted what it found before; so it is asked first and the queues after it.
        moving = ["a thread at work"] if under_way else []
        await asyncio.sleep(0)
        if app._exit:
            return
        app.screen._on_timer_update()
        moving.extend(_moving(app, at_work=at_work))
        if not moving:
            if drawn:
                return
            _draw(app)
        drawn = not moving
        await asyncio.sleep(_PAUSE)
    raise AssertionError(f"The app does not come to rest: {', '.join(moving)}.")


def _moving(app: App[Any], *, at_work: bool) -> Iterator[str]:
    for worker in app.workers:
        if not worker.is_finished:
            yield f"worker {worker.name}"
    for screen in app.screen_stack:
        if screen._callbacks:
            yield f"callbacks of {screen}"
        if isinstance(screen, Frame) and screen.working.is_running and not at_work:
            yield "work in the background"
    screen = app.screen
    if (
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._dirty_widgets
    ):
        yield f"drawing of {screen}"
    nodes: list[MessagePump] = [app, *app._registry]
    for node in nodes:
        if node.message_queue_size or node._next_callbacks:
            yield f"messages of {node}"
        # A toast goes by itself after seconds; a test looks at it before.
        if not isinstance(node, Toast):
            yield from (f"timer of {node}" for timer in node._timers if _will_fire(timer))


def _will_fire(timer: Timer) -> bool:
    """Tell whether a timer that fires once is still to do so; those that repeat never end."""
    return timer._repeat is not None and timer._task is not None and not timer._task.done()


def _draw(app: App[Any]) -> None:
    visible_screen_stack.set(app._background_screens)  # behind a dialog, what lies below is drawn too
    # What each widget draws, not yet laid over one another: that takes as long again, and a snapshot does it.
    for _ in app.screen._compositor._get_renders():
        pass

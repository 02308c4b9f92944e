"""Delivers keys one after another, so that each goes where the one before it put the focus."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from textual import events

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.app import App
    from textual.dom import DOMNode
    from textual.timer import Timer

Typed: TypeAlias = events.Key | events.Paste

# A key that got no further for so long holds up no other: the keyboard must never fall silent.
_SECONDS_TO_FOLLOW = 3.0
# Rows that are not there after so long hold up the next key no more.
_SECONDS_TO_ANSWER = 2.0
# A screen that opens takes a few rounds of messages; one that never takes the focus must not eat the keys.
_MOST_ROUNDS = 20
# Seconds between two looks whether the rows are there that a key is about.
_LOOK_AGAIN = 0.01


class TypedAhead:
    """A queue of keys and pastes; the next one leaves it once the one before has had its effect.

    Textual hands a key to the widget that has the focus when the key comes in. While the key before it is still on
    its way, that is the wrong widget: of `/a` typed in one go, `a` would be a key of the list and not of the filter.

    A key that is about rows waits until they answer what was typed before it. Escape gives up waiting; after some
    seconds so does any other key.

    Args:
        app: The app that the keys are for.
        deliver: Hands one of them to the widget that has the focus; called on the app's own message pump.
        must_wait: Returns True for a key that is about rows which are not there yet.
        given_up: Told of a key that waited so long, and is not done; without it the last key waits on.
    """

    def __init__(
        self,
        app: App[None],
        deliver: Callable[[Typed], Awaitable[None]],
        must_wait: Callable[[Typed], bool],
        *,
        given_up: Callable[[Typed], None] | None = None,
    ) -> None:
        self._app = app
        self._deliver = deliver
        self._must_wait = must_wait
        self._given_up = given_up
        self._waiting: deque[Typed] = deque()
        self._is_under_way = False
        self._moved_at = 0.0
        self._looking: Timer | None = None

    async def take(self, typed: Typed) -> None:
        """Deliver a key now, or in its turn."""
        if self._looking is not None and isinstance(typed, events.Key) and typed.key == "escape":
            self._waiting.clear()
        self._waiting.append(typed)
        if not self._is_under_way or (self._looking is None and self._is_late):
            await self._deliver_next()

    @property
    def _is_late(self) -> bool:
        return time.monotonic() - self._moved_at > _SECONDS_TO_FOLLOW

    async def _deliver_next(self) -> None:
        if not self._app.screen_stack:
            self._waiting.clear()
        self._is_under_way = bool(self._waiting)
        while self._waiting and self._must_wait(self._waiting[0]):
            if self._looking is None:
                self._moved_at = time.monotonic()
            waits_on = len(self._waiting) == 1 and self._given_up is None
            if waits_on or time.monotonic() - self._moved_at <= _SECONDS_TO_ANSWER:
                self._looking = self._app.set_timer(_LOOK_AGAIN, self._deliver_next)
                return
            typed = self._waiting.popleft()
            if self._given_up is not None:
                self._given_up(typed)
        self._looking = None
        self._is_under_way = bool(self._waiting)
        if self._waiting:
            await self._deliver(self._waiting.popleft())
            await self._follow_twice(self._way())

    def _way(self) -> tuple[DOMNode, ...]:
        """Return what a key passes on its way: from the widget in focus up to the app."""
        focused = self._app.focused or self._app.screen
        return (*(node for node in focused.ancestors_with_self if node is not self._app), self._app)

    async def _follow_twice(self, way: Sequence[DOMNode], rounds: int = 1) -> None:
        """Follow a key, then what it set off: messages, another focus, the mounting of a screen that it opened."""

        async def once_more() -> None:
            if self._is_ready() or rounds == _MOST_ROUNDS:
                await self._follow((*way, *self._way()), self._deliver_next)
            else:
                await self._follow_twice(self._way(), rounds + 1)

        await self._follow(way, once_more)

    def _is_ready(self) -> bool:
        """Return True if the screen on top is there and has put its focus where it begins."""
        screen = self._app.screen
        return screen.is_mounted and (screen.focused is not None or not screen.focus_chain)

    async def _follow(self, way: Sequence[DOMNode], then: Callable[[], Awaitable[None]]) -> None:
        """Go the way of a key, at each node behind the messages that wait there; then do something else."""
        self._moved_at = time.monotonic()
        for at, node in enumerate(way):
            # A node that is being removed takes no call, and lets no key through either.
            if node.call_later(self._follow, way[at + 1 :], then) or node is self._app:
                return
        await then()

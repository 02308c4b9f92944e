"""Serving one client over stdin and stdout, until it hangs up or a signal comes."""

from __future__ import annotations

import io
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from workbench.engine.process import ending_signals_reported
from workbench.mcp.scoped import server_for
from workbench.mcp.server import Busy, MemoryServer

if TYPE_CHECKING:
    from workbench.engine.scoped_memory import ScopedMemory
    from workbench.engine.workspace import Workspace

_TICK_S = 0.02


def serve_stdio(door: Workspace | ScopedMemory) -> None:
    """Answer the client at the other end of stdin and stdout; return when it hangs up or on SIGINT or SIGTERM.

    While it runs nothing but the protocol goes to stdout: what anything prints is sent to stderr.

    Args:
        door: The workspace, open in the client's role.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="workbench mcp: %(message)s")
    memory = server_for(door)
    with _wire(memory.busy) as (wire, hang_up), ending_signals_reported(hang_up), memory.warming.under_way():
        anyio.run(_serve, memory, wire)


async def _serve(memory: MemoryServer, wire: io.TextIOWrapper) -> None:
    server = memory.build()
    try:
        async with stdio_server(stdin=anyio.wrap_file(wire)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):
        # Nobody reads the answers any more: the client is gone, which is no failure of ours.
        _forget_what_is_unread()


def _forget_what_is_unread() -> None:
    """Discard what was still to be printed, so that ending does not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


class _Wire(io.RawIOBase):
    """Stdin that can be ended from this side, which a plain read that waits cannot.

    Args:
        source: Descriptor that is read.
        ending: Descriptor that becomes readable when it is to end.
        busy: Whether calls are under way: what was asked before the client hung up is still answered.
    """

    def __init__(self, source: int, ending: int, busy: Busy) -> None:
        self._source = source
        self._ending = ending
        self._busy = busy
        self._heard = time.monotonic()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # what io hands over is a writable buffer
        ready, _, _ = select.select([self._source, self._ending], [], [])
        if self._ending in ready:
            return 0
        found = os.read(self._source, len(view))
        if not found:
            self._finish()
            return 0
        self._heard = time.monotonic()
        view[: len(found)] = found
        return len(found)

    def _finish(self) -> None:
        """Wait until what was asked is answered, or the end is asked for."""
        while not self._busy.is_quiet(self._heard):
            if select.select([self._ending], [], [], _TICK_S)[0]:
                return


@contextmanager
def _wire(busy: Busy) -> Iterator[tuple[io.TextIOWrapper, Callable[[str], None]]]:
    """Yield stdin as text, and a function that ends it from this side; to all others stdin is empty meanwhile."""
    source = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    ending, told = os.pipe()
    os.set_blocking(told, False)
    # A handler in Python waits for the main thread, which may be about to wait itself; the interpreter writes at once.
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)

    def hang_up(_signal: str) -> None:
        with suppress(BlockingIOError):
            os.write(told, b".")

    try:
        wire = io.BufferedReader(_Wire(source, ending, busy))
        yield io.TextIOWrapper(wire, encoding="utf-8", errors="replace"), hang_up
    finally:
        signal.set_wakeup_fd(before)
        os.dup2(source, 0)
        for descriptor in (source, ending, told):
            os.close(descriptor)

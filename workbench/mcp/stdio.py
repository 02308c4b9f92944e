"""Serving one client over stdin and stdout, until it hangs up or a signal comes."""

from __future__ import annotations

import io
import logging
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from workbench.mcp.server import MemoryServer
from workbench.mcp.warming import warmed

if TYPE_CHECKING:
    from types import FrameType

    from workbench.engine.workspace import Workspace

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve_stdio(door: Workspace) -> None:
    """Answer the client at the other end of stdin and stdout; return when it hangs up or on SIGINT or SIGTERM.

    While it runs nothing but the protocol goes to stdout: what anything prints is sent to stderr.

    Args:
        door: The workspace, open in the client's role.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="workbench mcp: %(message)s")
    with _wire() as (wire, hang_up), _signals(hang_up), warmed(door):
        anyio.run(_serve, door, wire)


async def _serve(door: Workspace, wire: io.TextIOWrapper) -> None:
    server = MemoryServer(door).build()
    async with stdio_server(stdin=anyio.wrap_file(wire)) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Wire(io.RawIOBase):
    """Stdin that can be ended from this side, which a plain read that waits cannot.

    Args:
        source: Descriptor that is read.
        ending: Descriptor that becomes readable when it is to end.
    """

    def __init__(self, source: int, ending: int) -> None:
        self._source = source
        self._ending = ending

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # what io hands over is a writable buffer
        ready, _, _ = select.select([self._source, self._ending], [], [])
        if self._ending in ready:
            return 0
        found = os.read(self._source, len(view))
        view[: len(found)] = found
        return len(found)


@contextmanager
def _wire() -> Iterator[tuple[io.TextIOWrapper, int]]:
    """Give stdin as text, and what ends it when a byte is written there; stdin itself is empty meanwhile."""
    source = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    ending, hang_up = os.pipe()
    os.set_blocking(hang_up, False)
    try:
        yield (
            io.TextIOWrapper(io.BufferedReader(_Wire(source, ending)), encoding="utf-8", errors="replace"),
            hang_up,
        )
    finally:
        os.dup2(source, 0)
        for descriptor in (source, ending, hang_up):
            os.close(descriptor)


@contextmanager
def _signals(hang_up: int) -> Iterator[None]:
    """Let signals end the serving as if the client had hung up."""

    def end(_number: int, _frame: FrameType | None) -> None:
        with suppress(BlockingIOError):
            os.write(hang_up, b".")

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

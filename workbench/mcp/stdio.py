"""Serving one client over stdin and stdout, until it hangs up or a signal comes."""

from __future__ import annotations

import io
import json
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

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
    messages = _Messages(anyio.wrap_file(wire))
    try:
        # It asks for nothing but lines.
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", messages)) as (incoming, outgoing):
            messages.refuse = outgoing.send
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):
        # The client is gone and reads no more answers.
        _forget_what_is_unread()


def _forget_what_is_unread() -> None:
    """Discard what is not printed yet, so that the process can end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


class _Messages:
    """The lines of stdin that are messages; any other is refused at once, since the SDK ignores it.

    Args:
        lines: What is read.
    """

    def __init__(self, lines: anyio.AsyncFile[str]) -> None:
        self._lines = lines
        self.refuse: Callable[[SessionMessage], Awaitable[None]]
        """Sends an answer; set before the first line is asked for."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        async for line in self._lines:
            try:
                jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                if (error := _error_about(line)) is not None:
                    await self.refuse(SessionMessage(error))
            else:
                return line
        raise StopAsyncIteration


def _error_about(line: str) -> JSONRPCError | None:
    """Return the answer to a line that is no message; None if nobody waits for one."""
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "This line is not JSON. Send one JSON-RPC message per line.")
    if not isinstance(value, dict):
        return _error(None, INVALID_REQUEST, "Send one JSON-RPC message per line, an object.")
    if "id" not in value and isinstance(value.get("method"), str):
        return None
    number = value.get("id")
    known = isinstance(number, int | str) and not isinstance(number, bool) and not _is_torn(str(number))
    said = (
        "Its text holds half a character: a surrogate without its other half. Leave it out."
        if _is_torn(json.dumps(value, ensure_ascii=False))
        else "This is not a JSON-RPC 2.0 request: “jsonrpc” is “2.0”, “id” a whole number or a text, “method” a text "
        "and “params” an object."
    )
    return _error(number if known else None, INVALID_REQUEST, said)


def _error(number: int | str | None, code: int, said: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=said))


def _is_torn(text: str) -> bool:
    """Return True if a text holds a surrogate without its other half, so that it cannot be written as UTF-8."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


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

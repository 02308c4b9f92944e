"""Serving several clients at once over streamable HTTP, to this machine alone."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from workbench.engine.errors import StorageError
from workbench.engine.process import ending_signals_reported
from workbench.mcp.scoped import server_for

if TYPE_CHECKING:
    from workbench.engine.scoped_memory import ScopedMemory
    from workbench.engine.workspace import Workspace

HOST = "127.0.0.1"
PATH = "/mcp"
# Streams that clients keep open would otherwise hold up the end for ever.
_PATIENCE_S = 3


def serve_http(door: Workspace | ScopedMemory, port: int) -> None:
    """Answer clients on this machine's loopback until SIGINT or SIGTERM.

    Requests that name another host, or come from a page of another origin, are refused, so that no web site can
    reach memory through a browser.

    Args:
        door: The workspace, open in the clients' role.
        port: To listen at; 0 for any that is free. Where is printed on stderr.

    Raises:
        StorageError: The port cannot be had.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="workbench mcp: %(message)s")
    memory = server_for(door)
    with _listening(port) as listener:
        bound = listener.getsockname()[1]
        app = memory.build().streamable_http_app(
            streamable_http_path=PATH, transport_security=_own_machine(bound)
        )
        serving = _Serving(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=_PATIENCE_S,
                lifespan="on",
            )
        )
        with ending_signals_reported(serving.end), memory.warming.under_way():
            sys.stderr.write(f"workbench mcp: listening at http://{HOST}:{bound}{PATH}\n")
            sys.stderr.flush()
            serving.run(sockets=[listener])


class _Serving(uvicorn.Server):
    """A server that leaves signals to its caller."""

    def end(self, _signal: str) -> None:
        """End in good order, soon."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _own_machine(port: int) -> TransportSecuritySettings:
    names = (HOST, "localhost", "[::1]")
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise StorageError(
            f"The port cannot be listened at: {error.strerror}.",
            where=f"{HOST}:{port}",
            remedy="Name another with --port, or 0 for any that is free.",
        ) from error
    return listener

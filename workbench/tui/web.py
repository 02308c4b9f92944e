"""Serves the bench to a browser on this machine; the address has a token, without which nothing is answered."""

from __future__ import annotations

import ipaddress
import secrets
import shlex
import socket
import sys
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from aiohttp import web
from textual_serve.server import Server

from workbench.engine.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LOOPBACK = "127.0.0.1"
_PAGE = Path(__file__).parent / "web_page" / "index.html"
_OPEN = (
    "import sys; from pathlib import Path; from workbench.tui.launch import run; "
    "run(Path(sys.argv[1]), role=sys.argv[2])"
)
_FONT_SIZES = range(6, 73)
_TOKEN_BYTES = 24
# Nothing of the page comes from elsewhere, and nobody is told its address.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' data: ws: wss:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class BenchServer(Server):
    """One bench for each page that is opened, each a process of its own.

    Args:
        host: Where to listen.
        port: Where to listen.
        token: What the address has to begin with.
        told: Called with the address once pages are answered.
    """

    def __init__(
        self,
        workspace: Path,
        role: str,
        *,
        host: str,
        port: int,
        token: str,
        told: Callable[[str], None],
    ) -> None:
        shown = f"[{host}]" if ":" in host else host
        super().__init__(
            shlex.join([sys.executable, "-c", _OPEN, str(workspace), role]),
            host=host,
            port=port,
            title=f"{workspace.name} · Workbench",
            public_url=f"http://{shown}:{port}",
        )
        self._token = token
        self._told = told

    @property
    def address(self) -> str:
        """Return where the page is."""
        return f"{self.public_url}/{self._token}/"

    def serve(self, debug: bool = False) -> None:  # noqa: ARG002 - the library's
        """Answer until interrupted; nothing is logged, since every line would have the token in it."""
        web.run_app(
            self._make_app(),
            host=self.host,
            port=self.port,
            access_log=None,
            print=lambda _told: self._told(self.address),
        )

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing of the library's."""

    async def _make_app(self) -> web.Application:
        guarded = web.Application(middlewares=[self._guard])
        guarded.add_subapp(f"/{self._token}", await super()._make_app())
        return guarded

    async def handle_index(self, request: web.Request) -> web.Response:
        """Answer with the page, whose parts are where the browser found it, through whatever forwards to us."""
        wanted = request.query.get("fontsize", "")
        size = int(wanted) if wanted.isascii() and wanted.isdecimal() and int(wanted) in _FONT_SIZES else 16
        page = Template(_PAGE.read_text(encoding="utf-8")).substitute(
            title=escape(self.title), socket=escape(f"ws://{request.host}/{self._token}/ws"), size=size
        )
        return web.Response(text=page, content_type="text/html", charset="utf-8")

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer only who knows the token, and a page only to itself."""
        given = request.path.lstrip("/").partition("/")[0]
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return web.Response(status=403, text="Open the whole address that the terminal shows.\n")
        if request.path == f"/{self._token}":
            raise web.HTTPFound(f"/{self._token}/")
        origin = request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != request.host:
            return web.Response(status=403, text="Pages of other sites are not answered.\n")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response


def serve(
    workspace: Path,
    role: str,
    *,
    told: Callable[[str], None],
    host: str = LOOPBACK,
    port: int = 0,
    lets_others_in: bool = False,
) -> None:
    """Serve the bench until it is interrupted.

    Args:
        told: Called with the address once pages are answered.
        host: Where to listen; another machine's people come in by an address that is no loopback.
        port: Where to listen; 0 for any that is free.
        lets_others_in: Whether somebody said that they may.

    Raises:
        InvalidInput: The address is no loopback, and nobody said that others may come in; or it is none at all.
        StorageError: The port cannot be had.
    """
    if not is_loopback(host) and not lets_others_in:
        raise InvalidInput(
            f"At {host}, others in the network could open the bench: it has no encryption, and the token alone.",
            where="--host",
            remedy="Leave --host out, or say that this is meant with --let-others-in.",
        )
    server = BenchServer(
        workspace,
        role,
        host=host,
        port=port or _free_port(host),
        token=secrets.token_urlsafe(_TOKEN_BYTES),
        told=told,
    )
    try:
        server.serve()
    except OSError as error:
        raise StorageError(
            f"The server cannot listen at this port: {error.strerror or error}.",
            where=f"{host}:{server.port}",
            remedy="Name another with --port.",
        ) from error


def is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own.

    Raises:
        InvalidInput: It is no address.
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError as error:
        raise InvalidInput(
            f"“{host[:60]}” is no address of an interface.",
            where="--host",
            remedy="Write one such as 127.0.0.1.",
        ) from error


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise StorageError(
                f"Nothing can listen there: {error.strerror}.", where=host, remedy="Name another with --host."
            ) from error
        return int(probe.getsockname()[1])

"""Serves clients elsewhere: each token has a door of its own, and each request is written into its log.

The SDK reads the Authorization header and refuses who has none. Each token has a workspace door, a server and sessions
of its own, so that none reaches another’s; a token that is revoked ends them.
"""

from __future__ import annotations

import json
import logging
import math
import re
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from workbench.display.words import counted
from workbench.engine.errors import WorkbenchError
from workbench.engine.patterns import lazy_pattern
from workbench.mcp.scoped import server_for

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from workbench.engine.scoped_memory import ScopedMemory
    from workbench.engine.services.access import Grant, TokenFolder
    from workbench.engine.workspace import Workspace

METADATA = "/.well-known/oauth-protected-resource"
_MOST_SESSIONS = 64
_LOOKED_AFTER_S = 1.0
_BURST_S = 10.0
# So many lines a minute tell of refusals; more would let anybody fill the log.
_REFUSALS_PER_MINUTE = 30
_MOST_READ = 1 << 16
_WORD = lazy_pattern(r"[A-Za-z0-9_/.-]{1,80}", re.ASCII)
_LOG = logging.getLogger(__name__)


class Allowance:
    """Limits requests per minute, with a few at once: a bucket that fills steadily and loses one with each.

    Args:
        per_minute: At most, over time.
        now: Seconds on a clock that never goes back.
    """

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._most = max(1.0, self._rate * _BURST_S)
        self._left = self._most
        self._now = now
        self._at = now()

    def wait(self) -> float:
        """Take one request; return 0.0, or the seconds after which there is one again."""
        now = self._now()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._rate
        self._left -= 1
        return 0.0


class Newcomers:
    """Connections that have shown no token yet: a few, for seconds, so that who has one always finds room.

    They are known from the moment they are accepted: before TLS, and before a byte is read.

    Args:
        most: Of more than these the oldest is closed, not the newest refused.
        seconds: How long one may take to show a token.
        now: Seconds on a clock that never goes back.
    """

    def __init__(self, most: int, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._seconds = seconds
        self._now = now
        self._waiting: dict[tuple[str, int], tuple[socket.socket, float]] = {}
        self._crowds = Allowance(1, now)

    def arrived(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        """Take in a connection that was just accepted."""
        self._waiting[address[0], address[1]] = (connection, self._now())
        self.close_some()
        if len(self._waiting) <= self.most:
            return
        if not self._crowds.wait():
            _LOG.warning(
                "More than %d connections show no token; the oldest are closed. Tokens still open memory.",
                self.most,
            )
        self._close(next(iter(self._waiting)))

    def showed_token(self, client: tuple[str, int] | None) -> None:
        """Let a connection stay; it showed a token."""
        if client is not None:
            self._waiting.pop((client[0], client[1]), None)

    def close_some(self) -> None:
        """Close those whose time is up, and forget those that left."""
        latest = self._now() - self._seconds
        for address, (connection, since) in list(self._waiting.items()):
            if connection.fileno() < 0 or since <= latest:
                self._close(address)

    def _close(self, address: tuple[str, int]) -> None:
        """End both directions; whoever reads from the connection finds its end, and lets go of it."""
        connection, _ = self._waiting.pop(address)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


@dataclass(eq=False)
class _Door:
    """The way in for one token: the server of its role, and the requests under way."""

    grant: Grant
    serve: ASGIApp
    allowance: Allowance
    under_way: set[anyio.CancelScope] = field(default_factory=set)


class Gate:
    """Lets in who shows a token of this memory.

    Args:
        tokens: Of the memory.
        opened: Opens the memory for a token, in its role and scope.
        url: Where clients reach the server.
        security: The hosts and origins that requests may name.
        newcomers: The connections to the server that have shown no token.
    """

    def __init__(
        self,
        tokens: TokenFolder,
        opened: Callable[[Grant], Workspace | ScopedMemory],
        url: str,
        security: TransportSecuritySettings,
        newcomers: Newcomers,
    ) -> None:
        self._tokens = tokens
        self._newcomers = newcomers
        self._opened = opened
        self._url = url
        self._security = security
        self._doors: dict[Grant, _Door] = {}
        self._opening = anyio.Lock()
        self._group: TaskGroup | None = None
        self._refusals = Allowance(_REFUSALS_PER_MINUTE)
        self._is_unlogged = False

    def app(self) -> Starlette:
        """Return the application: the memory at the path of the address, and beside it what it is for clients."""
        place = urlsplit(self._url)
        about = f"{METADATA}{place.path}"
        return Starlette(
            routes=[
                Route(about, self._about, methods=["GET"]),
                Route(
                    place.path,
                    RequireAuthMiddleware(
                        self._let_in, [], AnyHttpUrl(f"{place.scheme}://{place.netloc}{about}")
                    ),
                ),
            ],
            middleware=[
                Middleware(_Noted, note=self._note),
                Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(self)),
            ],
            lifespan=self._standing,
        )

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whose token it is, as the SDK asks; None if it opens nothing."""
        grant = self._tokens.opened_by(token)
        if grant is None:
            return None
        return AccessToken(token="", client_id=grant.name, scopes=[], claims={"grant": grant})

    async def _about(self, _request: Request) -> JSONResponse:
        """Answer as RFC 9728 says, without an authorization server: a person hands out the tokens."""
        return JSONResponse(
            {
                "resource": self._url,
                "resource_name": "Workbench memory",
                "bearer_methods_supported": ["header"],
            }
        )

    @asynccontextmanager
    async def _standing(self, _app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            self._group = group
            group.start_soon(self._watch_newcomers)
            yield
            group.cancel_scope.cancel()

    async def _watch_newcomers(self) -> None:
        while True:
            self._newcomers.close_some()
            await anyio.sleep(_LOOKED_AFTER_S)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        grant: Grant = scope["user"].access_token.claims["grant"]
        self._newcomers.showed_token(scope["client"])
        try:
            door = await self._door(grant)
        except WorkbenchError as error:
            _LOG.warning("%s", error)
            await _refused(503, "unavailable", "Memory cannot be opened now.")(scope, receive, send)
            return
        if seconds := door.allowance.wait():
            again = math.ceil(seconds)
            most = counted(grant.per_minute, "request")
            told = f"This token may make {most} a minute. Come again in {again} s."
            await _refused(429, "too_many_requests", told, {"Retry-After": str(again)})(scope, receive, send)
            return
        await _answer(door, scope, receive, send)

    async def _door(self, grant: Grant) -> _Door:
        if (door := self._doors.get(grant)) is not None:
            return door
        async with self._opening:
            if grant not in self._doors:
                assert self._group is not None
                self._doors[grant] = await self._group.start(self._keep_open, grant)
            return self._doors[grant]

    async def _keep_open(self, grant: Grant, *, task_status: TaskStatus[_Door]) -> None:
        """Keep the door of a token open until it is revoked, it fails or the server ends; the others stay open."""
        left = ExitStack()
        door = None
        try:
            opened = await anyio.to_thread.run_sync(self._opened, grant)
            left.callback(opened.close)
            memory = await anyio.to_thread.run_sync(server_for, opened)
            left.enter_context(memory.warming.under_way())
            sessions = StreamableHTTPSessionManager(
                memory.build(), security_settings=self._security, max_sessions=_MOST_SESSIONS
            )
            door = _Door(grant, sessions.asgi_app, Allowance(grant.per_minute))
            async with sessions.run():
                task_status.started(door)
                while self._tokens.stands(grant):
                    await anyio.sleep(_LOOKED_AFTER_S)
            for request in door.under_way:
                request.cancel()
        except Exception as error:
            if door is None:
                raise
            _LOG.warning("The door of the token %s failed, and opens again when asked: %s", grant.name, error)
        finally:
            self._doors.pop(grant, None)
            with anyio.CancelScope(shield=True):
                try:
                    # Reading that is under way is waited for.
                    await anyio.to_thread.run_sync(left.close)
                except Exception as error:
                    _LOG.warning("The door of the token %s did not close as it should: %s", grant.name, error)

    def _note(self, scope: Scope, asked: dict[str, str], status: int) -> None:
        user, client = scope.get("user"), scope.get("client")
        name = user.access_token.client_id if isinstance(user, AuthenticatedUser) else None
        if name is None and (scope["path"].startswith(METADATA) or self._refusals.wait()):
            return
        said = {"from": client[0] if client else None, "http": scope["method"], **asked, "status": status}
        if not self._tokens.note(name, said) and not self._is_unlogged:
            _LOG.warning(
                "%s: the log cannot be written; make room. Requests are answered without it.",
                self._tokens.place,
            )
            self._is_unlogged = True


async def _answer(door: _Door, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or end in the middle of it when its token is revoked."""
    has_begun = has_ended = False

    async def sent(message: Message) -> None:
        nonlocal has_begun, has_ended
        has_begun = True
        has_ended = message["type"] == "http.response.body" and not message.get("more_body", False)
        await send(message)

    with anyio.CancelScope() as request:
        door.under_way.add(request)
        try:
            await door.serve(scope, receive, sent)
        finally:
            door.under_way.discard(request)
    if has_begun and not has_ended:
        with suppress(Exception):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    elif not has_begun:
        await _refused(401, "invalid_token", "This token was revoked.")(scope, receive, send)


def _refused(status: int, error: str, told: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": told}, status, headers)


class _Noted:
    """Logs each request when its answer begins, and refuses what a proxy might read differently.

    Args:
        note: Told of the request, the method and name of what it asks where they can be read, and the status.
    """

    def __init__(self, app: ASGIApp, note: Callable[[Scope, dict[str, str], int], None]) -> None:
        self._app = app
        self._note = note

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and len(body) <= _MOST_READ:
                body.extend(message.get("body", b""))
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, _asked(bytes(body)), message["status"])
            await send(message)

        names = [name for name, _ in scope["headers"]]
        if names.count(b"authorization") > 1 or {b"content-length", b"transfer-encoding"} <= {*names}:
            told = "A request must show one token, and give its length in one way."
            await _refused(400, "invalid_request", told, {"Connection": "close"})(scope, receive, sent)
            return
        await self._app(scope, received, sent)


def _asked(body: bytes) -> dict[str, str]:
    """Return the method of a message and the name of the tool, as far as they can be read and are plain words."""
    if not body or len(body) > _MOST_READ:
        return {}
    with suppress(ValueError, RecursionError):
        match json.loads(body):
            case {"method": str(method), **rest} if _WORD.fullmatch(method):
                params: Any = rest.get("params")
                name = params.get("name") if isinstance(params, dict) else None
                is_plain = isinstance(name, str) and _WORD.fullmatch(name)
                return {"method": method, "name": name} if is_plain and name else {"method": method}
    return {}

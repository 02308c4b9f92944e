"""Serves several clients at once over streamable HTTP: on this machine alone, or wherever they show a token."""

from __future__ import annotations

import ipaddress
import logging
import re
import resource
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from workbench.engine.errors import InvalidInput, Refused, StorageError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.process import ending_signals_reported
from workbench.engine.scoped_memory import ScopedMemory
from workbench.engine.values import dataclass
from workbench.engine.workspace import Workspace
from workbench.mcp.guarded import Gate, Newcomers
from workbench.mcp.scoped import server_for

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from workbench.engine.clock import Clock
    from workbench.engine.services.access import Grant, TokenFolder

HOST = "127.0.0.1"
PATH = "/mcp"
# Streams that clients keep open would otherwise hold up the end for ever.
_PATIENCE_S = 3
# Connections at once, and those of them that have shown no token: so many, and no more than this share of the
# descriptors that the process may have, which memory needs too.
_MOST_CONNECTIONS, _SHARE = 1000, 2
_MOST_NEWCOMERS, _SHARE_OF_NEWCOMERS = 256, 4
_NEWCOMER_S = 10.0
# So many are accepted at once, before any of them is looked at.
_BACKLOG = 64
_OWN_PATH = lazy_pattern(r"(?:/[A-Za-z0-9._~-]+)+", re.ASCII)


@dataclass(frozen=True)
class Listening:
    """Where the server listens, and how it is reached.

    Args:
        host: Name or address of this machine.
        port: 0 for any that is free.
        url: Where clients reach it; None where that is the host itself.
        certificate: File of the certificate chain, PEM.
        key: File of its private key, PEM; None where the certificate's file holds it.
        is_proxied: Whether a proxy in front of it does TLS.
    """

    host: str = HOST
    port: int = 0
    url: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    is_proxied: bool = False

    @property
    def is_plain(self) -> bool:
        """Return whether it serves this machine alone, and no option for others is given."""
        return is_loopback(self.host) and not (self.url or self.certificate or self.key or self.is_proxied)

    def require_safe(self) -> None:
        """Raise unless tokens and memory are encrypted wherever they leave this machine.

        Raises:
            Refused: It would not be.
            InvalidInput: The address makes no sense, or clients have none.
        """
        if self.key and not self.certificate:
            raise InvalidInput("A key needs its certificate.", remedy="Give --tls-cert too.")
        if not is_loopback(self.host) and not self.certificate and not self.is_proxied:
            raise Refused(
                f"At {self.host} tokens and memory could be read on the way.",
                where=self.host,
                remedy="Give --tls-cert and --tls-key, or say --behind-proxy where a proxy does TLS.",
            )
        if self.url is None:
            if _is_any(self.host) or self.is_proxied:
                raise InvalidInput(
                    "The address at which clients reach this server is not known.",
                    where=self.host,
                    remedy=f"Name it: --url https://memory.example{PATH}",
                )
            return
        _require_url(
            self.url, must_be_encrypted=self.certificate is not None or not self._is_for_here(self.url)
        )

    @staticmethod
    def _is_for_here(url: str) -> bool:
        """Return whether only this machine reaches an address for clients."""
        try:
            return is_loopback(urlsplit(url).hostname or "")
        except ValueError:
            return False

    def address(self, port: int) -> str:
        """Return where clients reach it.

        Args:
            port: Where it listens in the end.
        """
        if self.url:
            place = urlsplit(self.url)
            return self.url if place.path.strip("/") else f"{place.scheme}://{place.netloc}{PATH}"
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{_bracketed(self.host)}:{port}{PATH}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve_http(door: Workspace | ScopedMemory, place: Listening) -> None:
    """Answer clients on this machine's loopback until SIGINT or SIGTERM.

    Requests that name another host, or come from a page of another origin, are refused, so that no web site can
    reach memory through a browser.

    Args:
        door: The workspace, open in the clients' role.
        place: On loopback. Where it listens is printed on stderr.

    Raises:
        StorageError: The port cannot be had.
    """
    memory = server_for(door)
    with _listening(place) as listener:
        bound = listener.getsockname()[1]
        app = memory.build().streamable_http_app(
            streamable_http_path=PATH, transport_security=_own_machine(bound, place.host)
        )
        with memory.warming.under_way():
            _run(app, listener, place.address(bound))


def serve_guarded(tokens: TokenFolder, root: Path, place: Listening, clock: Clock) -> None:
    """Answer clients that show a token, each in its role and scope, until SIGINT or SIGTERM.

    Args:
        tokens: Those of this memory, read with each request.
        root: The workspace folder.
        place: Where to listen. The address for clients is printed on stderr.

    Raises:
        Refused: There is no token yet, or tokens and memory could be read on the way.
        InvalidInput: The address, the certificate or the key makes no sense.
        StorageError: The port cannot be had.
    """
    place.require_safe()
    if not tokens.all().tokens:
        raise Refused(
            "This memory has no token, so nobody could come in.",
            where=place.host,
            remedy="Make one: workbench mcp token add NAME",
        )
    context = _encryption(place)

    def opened(grant: Grant) -> Workspace | ScopedMemory:
        role = str(grant.role)
        if grant.scope is None:
            return Workspace.open(root, role=role, actor=grant.actor, clock=clock)
        return ScopedMemory.open(root, scope=grant.scope, role=role, actor=grant.actor, clock=clock)

    newcomers = Newcomers(_at_most(_MOST_NEWCOMERS, _SHARE_OF_NEWCOMERS), _NEWCOMER_S)
    with _listening(place, newcomers.arrived) as listener:
        bound = listener.getsockname()[1]
        address = place.address(bound)
        gate = Gate(tokens, opened, address, _reached_at(address, place, bound), newcomers)
        elsewhere = f"{_bracketed(place.host)}:{bound}, for clients " if place.url else ""
        _run(gate.app(), listener, f"{elsewhere}{address}", context)


def _run(app: ASGIApp, listener: socket.socket, told: str, encryption: ssl.SSLContext | None = None) -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="workbench mcp: %(message)s")
    serving = _Serving(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_PATIENCE_S,
            lifespan="on",
            limit_concurrency=_at_most(_MOST_CONNECTIONS, _SHARE),
            backlog=_BACKLOG,
            # Another loop would accept connections without asking the listener.
            loop="asyncio",
            # A request may claim to come from anywhere.
            proxy_headers=False,
            server_header=False,
            ssl_context_factory=(lambda *_: encryption) if encryption is not None else None,
        )
    )
    with ending_signals_reported(serving.end):
        sys.stderr.write(f"workbench mcp: listening at {told}\n")
        sys.stderr.flush()
        serving.run(sockets=[listener])


def _at_most(wanted: int, share: int) -> int:
    """Return how many connections there may be, given a share of this process's descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if descriptors == resource.RLIM_INFINITY else max(8, min(wanted, descriptors // share))


class _Listener(socket.socket):
    """A listening socket that tells of each connection it accepts."""

    told: Callable[[socket.socket, tuple[Any, ...]], None] | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        connection, address = super().accept()
        if self.told is not None:
            self.told(connection, address)
        return connection, address


class _Serving(uvicorn.Server):
    """A server whose caller handles signals."""

    def end(self, _signal: str) -> None:
        """End soon, after the requests under way."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _own_machine(port: int, host: str) -> TransportSecuritySettings:
    names = dict.fromkeys((HOST, "localhost", "[::1]", _bracketed(host)))
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )


def _reached_at(address: str, place: Listening, port: int) -> TransportSecuritySettings:
    """Return the hosts and origins that requests may name: those of its address, and on loopback this machine's."""
    reached = urlsplit(address)
    name = _bracketed(reached.hostname or "")
    usual = {"https": 443, "http": 80}[reached.scheme]
    hosts = {reached.netloc, f"{name}:{reached.port or usual}"}
    if (reached.port or usual) == usual:
        hosts.add(name)
    own = _own_machine(port, place.host) if is_loopback(place.host) else TransportSecuritySettings()
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*sorted(hosts), *own.allowed_hosts],
        allowed_origins=[*(f"{reached.scheme}://{each}" for each in sorted(hosts)), *own.allowed_origins],
    )


def _require_url(url: str, *, must_be_encrypted: bool) -> None:
    schemes = ("https",) if must_be_encrypted else ("https", "http")
    try:
        place = urlsplit(url)
        is_address = bool(place.hostname) and place.port != 0 and url.isprintable() and url.isascii()
    except ValueError:
        place, is_address = urlsplit(""), False
    is_plain = "@" not in place.netloc and "?" not in url and "#" not in url and " " not in url
    has_path = place.path in ("", "/") or _OWN_PATH.fullmatch(place.path)
    if place.scheme not in schemes or not (is_address and is_plain and has_path):
        raise InvalidInput(
            "Clients cannot reach a server at this address.",
            where=ascii(url)[1:-1][:200],
            remedy=f"Name it like https://memory.example{PATH}",
        )


def _encryption(place: Listening) -> ssl.SSLContext | None:
    """Return what encrypts; None where nothing does here.

    Raises:
        InvalidInput: Certificate and key cannot be used.
    """
    if place.certificate is None:
        return None

    def ask() -> str:
        raise ValueError("the key has a password, and there is nobody to ask for it")

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(place.certificate, place.key, password=ask)
    except (OSError, ValueError) as error:
        # An SSLError says what is wrong in `reason`, an OSError in `strerror`.
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        raise InvalidInput(
            f"Certificate and key cannot be used: {str(reason).replace('_', ' ').lower()}.",
            where=f"{place.certificate}" + (f", {place.key}" if place.key else ""),
            remedy="Give the files of a PEM certificate and of its key, without a password.",
        ) from error
    return context


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listening(
    place: Listening, told: Callable[[socket.socket, tuple[Any, ...]], None] | None = None
) -> socket.socket:
    """Return a socket that listens; `told` of each connection and where it comes from."""
    where = f"{_bracketed(place.host)}:{place.port}"
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
        listener = _Listener(family, socket.SOCK_STREAM)
        listener.told = told
    except OSError as error:
        raise _not_listening(error, where) from error
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _not_listening(error, where) from error
    return listener


def _not_listening(error: OSError, where: str) -> StorageError:
    return StorageError(
        f"The server cannot listen at this port: {error.strerror}.",
        where=where,
        remedy="Name another with --port, or 0 for any that is free.",
    )

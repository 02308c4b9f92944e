"""The server for clients from elsewhere: a token opens its own role and scope, and nothing else does."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import anyio.to_thread
import httpx2
import pytest
import trustme
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server.transport_security import TransportSecuritySettings

from tests.mcp.conftest import HELLO, Served
from tests.mcp.test_http import FROM_ELSEWHERE
from workbench.engine import Workspace
from workbench.engine.clock import SystemClock
from workbench.engine.errors import InvalidInput, Refused
from workbench.engine.services.access import Grant, TokenFolder
from workbench.mcp.guarded import Allowance, Gate, Newcomers
from workbench.mcp.http import Listening, serve_guarded

USUAL = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass
class Guarded:
    """A server that asks for tokens, and the tokens of its memory by name."""

    served: Served
    tokens: dict[str, str] = field(default_factory=dict)
    address: str = ""
    process: subprocess.Popen[str] | None = None
    trusting: ssl.SSLContext | None = None

    def owner(self) -> Workspace:
        return Workspace.open(self.served.folder, role="person")

    def give(self, name: str, role: str = "agent", scope: str | None = None, per_minute: int = 6000) -> str:
        with self.owner() as owner:
            added = owner.token_add(name, role=role, scope=scope, per_minute=per_minute)
        self.tokens[name] = added.secret
        return added.secret

    def revoke(self, name: str) -> None:
        with self.owner() as owner:
            owner.token_revoke(name)

    @contextmanager
    def running(self, *words: str, descriptors: int = 1024) -> Iterator[Guarded]:
        command, arguments = self.served.command("--http", "--port", "0", *words)
        limited = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", command, *arguments]
        with subprocess.Popen(limited, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr
            self.address = process.stderr.readline().rpartition(" ")[2].strip()
            self.process = process
            try:
                yield self
            finally:
                process.kill()

    @asynccontextmanager
    async def client(self, name: str) -> AsyncIterator[ClientSession]:
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as carrying,
            streamable_http_client(self.address, http_client=carrying) as streams,
            ClientSession(streams[0], streams[1]) as client,
        ):
            await client.initialize()
            yield client

    def log(self, name: str) -> list[dict[str, object]]:
        with self.owner() as owner:
            lines = (Path(owner.tokens().place) / f"{name}.log").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def said(
        self,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        by: str | None = None,
        method: str = "POST",
        path: str = "",
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; return status, headers and the beginning of the body."""
        place = urlsplit(self.address)
        own = {"Authorization": f"Bearer {self.tokens[by]}"} if by else {}
        host = place.hostname or ""
        with closing(
            http.client.HTTPSConnection(host, place.port, timeout=30, context=self.trusting)
            if self.trusting
            else http.client.HTTPConnection(host, place.port, timeout=30)
        ) as connection:
            connection.request(
                method, path or place.path, body or json.dumps(HELLO), {**USUAL, **own, **(headers or {})}
            )
            with connection.getresponse() as response:
                told = {key.lower(): value for key, value in response.getheaders()}
                return response.status, told, response.read(65536)


@pytest.fixture
def guarded(served: Served) -> Guarded:
    return Guarded(served)


async def test_each_token_opens_its_role_and_scope_and_acts_in_its_own_name(guarded: Guarded) -> None:
    with guarded.owner() as owner:
        owner.remember("The ferry ticket is on the fridge", scope="group:family", store="episodic")
    guarded.give("laptop", "main")
    guarded.give("scout")
    guarded.give("family", "reader", "group:family")
    with guarded.running():
        async with guarded.client("laptop") as laptop:
            kept = await laptop.call_tool("memory_remember", {"text": "The harbour opens at six"})
            assert not kept.is_error
        async with guarded.client("scout") as scout:
            tools = {tool.name for tool in (await scout.list_tools()).tools}
            assert {"memory_propose", "memory_search"} <= tools
            assert "memory_remember" not in tools
            refused = await scout.call_tool("memory_remember", {"text": "The harbour is closed"})
            assert refused.is_error
            await scout.call_tool("memory_propose", {"content": "The harbour closes at nine"})
        async with guarded.client("family") as family:
            found = await family.call_tool("memory_search", {"query": "ticket, tea, harbour", "min_score": 0})
            told = json.dumps(found.structured_content)
            assert "on the fridge" in told
            assert "harbour opens" not in told
            assert "Nora" not in told
    with guarded.owner() as owner:
        assert [each.from_ for each in owner.proposals().proposals] == ["scout"]
        actors = {entry.actor for entry in owner.audit_log().entries}
        assert {"bot:laptop", "subagent:scout"} <= actors
        assert all(each.last_used for each in owner.tokens().tokens)
    assert {"method": "tools/call", "name": "memory_propose"}.items() <= {
        key: value for line in guarded.log("scout") if "name" in line for key, value in line.items()
    }.items()


def test_nobody_comes_in_without_a_token_of_this_memory(guarded: Guarded, tmp_path: Path) -> None:
    right = guarded.give("scout")
    Workspace.init(tmp_path / "other")
    other = Guarded(Served(tmp_path / "other"))
    wrong = {
        None: 401,
        f"Bearer {other.give('scout')}": 401,
        f"Bearer {right[:-1]}{'0' if right[-1] != '0' else '1'}": 401,
        f"Bearer scout.wbt_{'0' * 64}": 401,
        f"Bearer {right}, Bearer {right}": 401,
        f"Bearer  {right}": 401,
        f"Basic {right}": 401,
        "Bearer ": 401,
        f"Bearer ../scout.wbt_{right.partition('wbt_')[2]}": 401,
        f"Bearer {right}": 200,
    }
    with guarded.running():
        answers = {
            shown: guarded.said(headers={"Authorization": shown} if shown is not None else None)[0]
            for shown in wrong
        }
        _, headers, _ = guarded.said()
        about = urlsplit(headers["www-authenticate"].partition('resource_metadata="')[2].partition('"')[0])
        _, _, metadata = guarded.said(method="GET", path=about.path)
    assert answers == wrong
    assert headers["www-authenticate"].startswith("Bearer ")
    assert json.loads(metadata)["resource"] == guarded.address


def test_a_request_that_shows_two_tokens_is_refused(guarded: Guarded) -> None:
    right = guarded.give("scout")
    with guarded.running():
        for second in (f"Authorization: Bearer {right}", "authorization: Bearer x"):
            status = raw(guarded.address, f"Authorization: Bearer {right}", second)
            assert status == 400


def test_a_request_whose_length_is_said_twice_is_refused(guarded: Guarded) -> None:
    right = guarded.give("scout")
    with guarded.running():
        for twice in (
            "Transfer-Encoding: chunked\r\nContent-Length: 4",
            "Content-Length: 4\r\nContent-Length: 5",
        ):
            assert raw(guarded.address, f"Authorization: Bearer {right}", twice) == 400
        assert guarded.said(by="scout")[0] == 200


def raw(address: str, *lines: str) -> int:
    """Send header lines as they are; return the status."""
    place = urlsplit(address)
    head = [f"POST {place.path} HTTP/1.1", f"Host: {place.netloc}", "Content-Type: application/json"]
    if not any("Content-Length" in line for line in lines):
        head.append("Content-Length: 0")
    with socket.create_connection((place.hostname, place.port), timeout=30) as line:
        line.sendall("\r\n".join([*head, *lines, "", "0000"]).encode())
        return int(line.makefile("rb").readline().split()[1])


def test_a_token_that_is_revoked_while_in_use_is_refused_and_its_stream_ends(guarded: Guarded) -> None:
    guarded.give("scout")
    guarded.give("laptop", "main")
    with guarded.running():
        sessions = {name: guarded.said(by=name)[1]["mcp-session-id"] for name in ("scout", "laptop")}
        with opened_stream(guarded, "scout", sessions["scout"]) as stream:
            guarded.revoke("scout")
            status, headers, _ = guarded.said(by="scout", headers={"Mcp-Session-Id": sessions["scout"]})
            assert status == 401
            assert "error" in headers["www-authenticate"]
            # This waits until the server ends it.
            assert b"data:" not in stream.read()
        guarded.give("scout")
        assert guarded.said(by="scout", headers={"Mcp-Session-Id": sessions["scout"]})[0] == 404
        assert guarded.said(PING, {"Mcp-Session-Id": sessions["laptop"]}, by="laptop")[0] == 200


PING = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}).encode()


@contextmanager
def opened_stream(guarded: Guarded, name: str, session: str) -> Iterator[http.client.HTTPResponse]:
    place = urlsplit(guarded.address)
    own = {"Authorization": f"Bearer {guarded.tokens[name]}", "Mcp-Session-Id": session}
    with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)) as connection:
        connection.request("GET", place.path, headers={**own, "Accept": "text/event-stream"})
        with connection.getresponse() as response:
            assert response.status == 200
            yield response


def test_a_session_is_its_token_s_alone(guarded: Guarded) -> None:
    guarded.give("scout")
    guarded.give("laptop", "main")
    with guarded.running():
        session = guarded.said(by="laptop")[1]["mcp-session-id"]
        assert guarded.said(PING, {"Mcp-Session-Id": session}, by="scout")[0] == 404
        assert guarded.said(PING, {"Mcp-Session-Id": session}, by="laptop")[0] == 200


def test_who_asks_too_often_is_told_when_to_come_again(guarded: Guarded) -> None:
    guarded.give("slow", per_minute=1)
    guarded.give("scout")
    with guarded.running():
        assert guarded.said(by="slow")[0] == 200
        status, headers, body = guarded.said(by="slow")
        assert status == 429
        assert 1 <= int(headers["retry-after"]) <= 60
        assert "may make 1 request a minute" in json.loads(body)["error_description"]
        assert guarded.said(by="scout")[0] == 200
    assert [line["status"] for line in guarded.log("slow") if "status" in line] == [200, 429]


def test_an_allowance_fills_again_steadily() -> None:
    time = [0.0]
    allowance = Allowance(60, now=lambda: time[0])
    assert [allowance.wait() for _ in range(11)] == [0.0] * 10 + [1.0]
    time[0] = 0.5
    assert allowance.wait() == pytest.approx(0.5)
    time[0] = 1.0
    assert allowance.wait() == 0.0
    time[0] = 1e6
    assert [allowance.wait() for _ in range(11)] == [0.0] * 10 + [1.0]


def test_a_web_site_comes_in_with_no_token_either(guarded: Guarded) -> None:
    guarded.give("scout")
    with guarded.running():
        with_token = {each: guarded.said(by="scout", headers=dict([each]))[0] for each in FROM_ELSEWHERE}
        assert with_token == FROM_ELSEWHERE
        asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        _, headers, _ = guarded.said(method="OPTIONS", headers=asked)
        assert "access-control-allow-origin" not in headers


def test_what_is_too_large_is_refused_and_read_for_nobody_unknown(guarded: Guarded) -> None:
    guarded.give("scout")
    with guarded.running():
        assert guarded.said(b" " * 5_000_000, by="scout")[0] == 413
        # The body is promised and never sent.
        status = raw(guarded.address, "Content-Length: 1000000000")
        assert status == 401


def test_neither_secret_nor_forged_lines_get_into_logs(guarded: Guarded) -> None:
    secret = guarded.give("scout")
    forged = 'x","status":200}\n{"token":"laptop'
    called = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": forged}}
    with guarded.running() as server:
        session = guarded.said(by="scout")[1]["mcp-session-id"]
        guarded.said(json.dumps(called).encode(), {"Mcp-Session-Id": session}, by="scout")
        guarded.said(headers={"Authorization": f"Bearer laptop.wbt_{'ab' * 32}\t{secret}"})
        assert server.process
        arguments = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        assert server.process.stderr
        told = server.process.stderr.read()
    with guarded.owner() as owner:
        logs = b"".join(file.read_bytes() for file in Path(owner.tokens().place).iterdir())
    for places in (arguments.decode(), told, logs.decode()):
        assert secret.partition("wbt_")[2] not in places
        assert "ab" * 32 not in places
    assert {line.get("token") for line in guarded.log("scout")} == {"scout"}
    assert [line["method"] for line in guarded.log("scout") if "method" in line] == [
        "initialize",
        "tools/call",
    ]
    assert json.loads((logs.splitlines() or [b"{}"])[0])


@pytest.fixture
def encrypted(guarded: Guarded, tmp_path: Path) -> tuple[str, ...]:
    """Have what is said to the server encrypted; give the words that have the server do so."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    guarded.trusting = ssl.create_default_context()
    authority.configure_trust(guarded.trusting)
    return ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))


def test_over_tls_of_its_own(guarded: Guarded, encrypted: tuple[str, ...]) -> None:
    guarded.give("scout")
    with guarded.running(*encrypted):
        assert urlsplit(guarded.address).scheme == "https"
        assert guarded.said(by="scout")[0] == 200
        guarded.trusting = None
        with pytest.raises((http.client.HTTPException, OSError)):
            guarded.said(by="scout")


def crowd(address: str, count: int) -> list[socket.socket]:
    """Open connections that say nothing, or begin a request and never end it."""
    place = urlsplit(address)
    opened = []
    for number in range(count):
        opened.append(socket.create_connection((place.hostname, place.port), timeout=30))
        if number % 2:
            with suppress(OSError):
                opened[-1].sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
    return opened


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_crowd_without_tokens_keeps_nobody_with_one_out(
    guarded: Guarded, encrypted: tuple[str, ...], *, is_encrypted: bool
) -> None:
    if not is_encrypted:
        guarded.trusting = None
    guarded.give("scout")
    with guarded.running(*(encrypted if is_encrypted else ()), descriptors=256):
        opened = crowd(guarded.address, 300)
        assert guarded.said(by="scout")[0] == 200
        opened += crowd(guarded.address, 300)
        assert guarded.said(by="scout")[0] == 200
        opened[0].settimeout(30)
        with suppress(ConnectionError):
            assert opened[0].recv(1) == b""
        for each in opened:
            each.close()


def test_a_newcomer_has_seconds_to_show_a_token_and_the_oldest_goes_first() -> None:
    time = [0.0]
    newcomers = Newcomers(2, 10.0, now=lambda: time[0])
    ours, theirs = zip(*(socket.socketpair() for _ in range(4)), strict=True)
    for port in (1, 2):
        newcomers.arrived(ours[port], ("192.0.2.7", port))
    newcomers.showed_token(("192.0.2.7", 1))
    newcomers.arrived(ours[3], ("192.0.2.7", 3, 0, 0))
    assert not [port for port in (1, 2, 3) if is_ended(theirs[port])]
    newcomers.arrived(ours[0], ("192.0.2.7", 4))
    assert [port for port in (0, 1, 2, 3) if is_ended(theirs[port])] == [2]
    time[0] = 10.0
    newcomers.close_some()
    assert [port for port in (0, 1, 2, 3) if is_ended(theirs[port])] == [0, 2, 3]
    for each in (*ours, *theirs):
        each.close()


def is_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False


async def test_a_door_that_fails_to_close_leaves_the_others_open(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed = threading.Event()

    def opened(grant: Grant) -> Workspace:
        door = Workspace.open(guarded.served.folder, role="reader")
        if grant.name == "scout":

            def close() -> None:
                Workspace.close(door)
                closed.set()
                raise OSError("the disk is full")

            monkeypatch.setattr(door, "close", close)
        return door

    for name in ("scout", "laptop"):
        guarded.give(name)
    with guarded.owner() as owner:
        tokens = TokenFolder(owner.state, SystemClock())
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = Gate(tokens, opened, "http://127.0.0.1/mcp", security, Newcomers(8, 10.0)).app()
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client,
    ):

        async def status(name: str) -> int:
            own = {**USUAL, "Authorization": f"Bearer {guarded.tokens[name]}"}
            return (await client.post("/mcp", json=HELLO, headers=own)).status_code

        assert [await status("scout"), await status("laptop")] == [200, 200]
        guarded.revoke("scout")
        assert await anyio.to_thread.run_sync(closed.wait, 30)
        while "did not close" not in caplog.text:
            await anyio.sleep(0)
        assert [await status("scout"), await status("laptop")] == [401, 200]
    assert "scout did not close as it should: the disk is full" in caplog.text


def test_behind_a_proxy_it_answers_to_the_name_of_the_proxy(guarded: Guarded) -> None:
    guarded.give("scout")
    words = ("--host", "0.0.0.0", "--behind-proxy", "--url", "https://memory.example/agents/mcp")
    command, arguments = guarded.served.command("--http", "--port", "0", *words)
    with subprocess.Popen([command, *arguments], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            assert line.endswith("for clients https://memory.example/agents/mcp\n")
            port = line.partition("0.0.0.0:")[2].partition(",")[0]
            guarded.address = f"http://127.0.0.1:{port}/agents/mcp"
            assert guarded.said(by="scout")[0] == 421
            assert guarded.said(by="scout", headers={"Host": "memory.example"})[0] == 200
            headers = {"Host": "memory.example", "Origin": "https://memory.example"}
            assert guarded.said(by="scout", headers=headers)[0] == 200
            # Who asks is not taken from what the request says.
            guarded.said(by="scout", headers={"Host": "memory.example", "X-Forwarded-For": "203.0.113.9"})
            assert {each["from"] for each in guarded.log("scout") if "from" in each} == {"127.0.0.1"}
        finally:
            process.kill()


ANYWHERE, ADDRESS = "0.0.0.0", "https://memory.example/mcp"
UNSAFE = {
    "open to all": (Listening(ANYWHERE, url=ADDRESS), "--behind-proxy"),
    "no address": (Listening(ANYWHERE, is_proxied=True), "--url"),
    "plain address": (
        Listening(ANYWHERE, is_proxied=True, url="http://memory.example/mcp"),
        "https://",
    ),
    "plain address, from this machine": (Listening(url="http://memory.example/mcp"), "https://"),
    "no address at all": (Listening(is_proxied=True, url="https://[x/mcp"), "https://"),
    "a password in it": (Listening(is_proxied=True, url="https://a:b@memory.example/mcp"), "https://"),
    "a port that is none": (Listening(is_proxied=True, url="https://memory.example:x/mcp"), "https://"),
    "lines in it": (Listening(is_proxied=True, url="https://memory.example/mcp\r\nX: y"), "https://"),
    "key alone": (Listening(key=Path("key.pem")), "--tls-cert"),
    "no such certificate": (Listening(certificate=Path("nowhere.pem")), "PEM"),
}


@pytest.mark.parametrize("case", UNSAFE)
def test_what_would_be_unsafe_is_refused_with_what_to_do(guarded: Guarded, case: str) -> None:
    guarded.give("scout")
    place, remedy = UNSAFE[case]
    with guarded.owner() as owner, pytest.raises((Refused, InvalidInput)) as raised:
        serve_guarded(TokenFolder(owner.state, SystemClock()), owner.root, place, SystemClock())
    assert remedy in str(raised.value)


def test_beyond_this_machine_there_must_be_a_token(guarded: Guarded) -> None:
    place = Listening(ANYWHERE, is_proxied=True, url=ADDRESS)
    with guarded.owner() as owner, pytest.raises(Refused, match="workbench mcp token add"):
        serve_guarded(TokenFolder(owner.state, SystemClock()), owner.root, place, SystemClock())


def test_with_tokens_no_role_is_named_for_the_server(guarded: Guarded) -> None:
    guarded.give("scout")
    command, arguments = guarded.served.command("--http", "--agent", "scout")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "Leave --agent" in done.stderr


def test_a_token_that_cannot_be_read_leaves_memory_shut(guarded: Guarded) -> None:
    guarded.give("scout")
    with guarded.owner() as owner:
        (Path(owner.tokens().place) / "scout.json").write_text("{")
    command, arguments = guarded.served.command("--http")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "nobody could come in" in done.stderr

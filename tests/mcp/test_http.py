"""The server over streamable HTTP: several clients at once, and nobody from elsewhere."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.conftest import HELLO, Served


@pytest.fixture
def server(served: Served) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command, arguments = served.command("--http", "--port", "0")
    with subprocess.Popen([command, *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = process.stderr.readline().rpartition(" ")[2].strip()
        yield process, address
        if process.poll() is None:
            process.kill()


async def test_several_clients_are_answered_at_once(server: tuple[subprocess.Popen[str], str]) -> None:
    _, address = server
    found: list[bool] = []

    async def ask(number: int) -> None:
        async with (
            streamable_http_client(address) as streams,
            ClientSession(streams[0], streams[1]) as client,
        ):
            await client.initialize()
            kept = await client.call_tool(
                "memory_remember", {"text": f"Lock {number} opens at {number} o’clock"}
            )
            assert not kept.is_error
            for _ in range(3):
                called = await client.call_tool("memory_search", {"query": f"when does lock {number} open?"})
                found.append(
                    f"Lock {number} opens" in json.dumps(called.structured_content, ensure_ascii=False)
                )

    with anyio.fail_after(90):
        async with anyio.create_task_group() as group:
            for number in range(1, 7):
                group.start_soon(ask, number)
    assert found == [True] * 18


FROM_ELSEWHERE = {
    ("Host", "evil.example"): 421,
    ("Host", "127.0.0.1.evil.example"): 421,
    ("Host", "192.168.1.7:8757"): 421,
    ("Origin", "http://evil.example"): 403,
    ("Origin", "https://localhost.evil.example"): 403,
    ("Origin", "null"): 403,
}


def test_requests_from_elsewhere_are_refused(server: tuple[subprocess.Popen[str], str]) -> None:
    assert urlsplit(server[1]).hostname == "127.0.0.1"
    hello = json.dumps(HELLO).encode()
    assert posted(server[1], hello) == 200
    answers = {header: posted(server[1], hello, dict([header])) for header in FROM_ELSEWHERE}
    assert answers == FROM_ELSEWHERE


def test_what_is_too_large_is_refused(server: tuple[subprocess.Popen[str], str]) -> None:
    assert posted(server[1], b" " * 5_000_000) == 413


def posted(address: str, body: bytes, headers: Mapping[str, str] | None = None) -> int:
    """Return the status that a request is answered with."""
    place = urlsplit(address)
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)) as connection:
        connection.request("POST", place.path, body, {**usual, **(headers or {})})
        with connection.getresponse() as response:
            return response.status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(server: tuple[subprocess.Popen[str], str], number: signal.Signals) -> None:
    process, _ = server
    os.kill(process.pid, number)
    assert process.wait(20) == 0


def test_a_port_that_is_taken_is_said(server: tuple[subprocess.Popen[str], str], served: Served) -> None:
    command, arguments = served.command("--http", "--port", str(urlsplit(server[1]).port))
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    assert "--port" in done.stderr

"""The bench in a browser: the page and its socket answer who knows the token, and nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from workbench.engine.errors import InvalidInput
from workbench.tui.web import is_loopback, serve

_SECONDS = 60


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, and give the address of its page."""
    command = [sys.executable, "-m", "workbench", "web", "--workspace", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    try:
        address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        yield address
        process.send_signal(signal.SIGINT)
        assert process.wait(_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def answers(address: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answer:
        return answer.status, await answer.text(), dict(answer.headers)


def test_the_page_answers_with_the_token_alone(seen_folder: Path) -> None:
    async def look(address: str) -> None:
        site, token = re.match(r"(http://127\.0\.0\.1:\d+)/([\w-]+)/$", address).groups()  # type: ignore[union-attr]
        assert len(token) >= 32
        for wrong in (
            "/",
            "/ws",
            "/static/js/textual.js",
            f"/{token[:-1]}/",
            f"/{token}x/",
            f"//{token}.html",
        ):
            assert (await answers(site + wrong))[0] == 403, wrong
        status, page, headers = await answers(address)
        assert status == 200
        assert f"{token}/ws" in page
        assert not re.findall(r"https?://(?!127\.0\.0\.1)", page)
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert (await answers(f"{address}static/js/textual.js"))[0] == 200
        assert (await answers(address, Origin="http://elsewhere.example"))[0] == 403

    with served(seen_folder) as address:
        asyncio.run(look(address))


def test_the_bench_comes_over_the_socket_and_is_left(seen_folder: Path) -> None:
    async def walk(address: str) -> None:
        socket = f"{address}ws?width=100&height=30".replace("http:", "ws:")
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(socket, headers={"Origin": "http://elsewhere.example"})
            async with asyncio.timeout(_SECONDS), session.ws_connect(socket) as bench:
                shown = b""
                async for message in bench:
                    if message.type is aiohttp.WSMsgType.BINARY:
                        shown += message.data
                    if b"Timeline" in shown:
                        break
                await bench.send_str(json.dumps(["stdin", "\x11"]))
                async for message in bench:
                    shown += message.data if message.type is aiohttp.WSMsgType.BINARY else b""
                assert b"Traceback" not in shown

    with served(seen_folder) as address:
        asyncio.run(walk(address))


def test_other_interfaces_need_a_word(seen_folder: Path) -> None:
    for host in ("0.0.0.0", "192.168.1.7", "::"):
        assert not is_loopback(host)
        with pytest.raises(InvalidInput, match="--let-others-in"):
            serve(seen_folder, "person", told=print, host=host)
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.8.8.8")))
    with pytest.raises(InvalidInput, match="no address"):
        is_loopback("example.org")

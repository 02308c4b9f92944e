"""Measure the MCP server as a client meets it: until it is ready, and a call's way there and back.

Run `python -m tests.benchmarks.mcp_round_trip`, which builds the sample workspace, or give a workspace of your own with
`--workspace PATH`. Prints milliseconds, over stdio and over HTTP.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

QUESTIONS = (
    "wave study",
    "who pays the invoices?",
    "how do we deploy",
    "last week",
    "Ningbo report",
    "PostgreSQL",
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_get", {"path": "MEMORY.md"}),
    ("memory_core", {}),
    ("memory_graph", {"entity": "Tofta handbook", "depth": 1}),
    ("memory_audit", {"limit": 20}),
)


def command(workspace: Path, *words: str) -> list[str]:
    """Return the command line of a server."""
    return [sys.executable, "-m", "workbench", "mcp", "--workspace", str(workspace), *words]


@asynccontextmanager
async def over_stdio(workspace: Path) -> AsyncIterator[ClientSession]:
    """Give a client of a server of its own."""
    program, *arguments = command(workspace)
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as client:
        await client.initialize()
        yield client


@asynccontextmanager
async def over_http(workspace: Path) -> AsyncIterator[ClientSession]:
    """Give a client of a server that listens on loopback."""
    with subprocess.Popen(
        command(workspace, "--http", "--port", "0"), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        address = (await asyncio.to_thread(process.stderr.readline)).rpartition(" ")[2].strip()
        try:
            async with (
                streamable_http_client(address) as streams,
                ClientSession(streams[0], streams[1]) as client,
            ):
                await client.initialize()
                yield client
        finally:
            process.terminate()


def told(name: str, seconds: list[float]) -> None:
    """Print the middle and the slow end of some durations."""
    ordered = sorted(1000 * one for one in seconds)
    slow = ordered[int(len(ordered) * 0.95) - 1]
    print(
        f"{name:<34} {statistics.median(ordered):7.1f} ms median  {slow:7.1f} ms p95  {len(ordered):4} times"
    )


async def measure(name: str, workspace: Path, rounds: int) -> None:
    """Print how long one way of speaking to the server takes."""
    ready, first = [], []
    connect = over_stdio if name == "stdio" else over_http
    for _ in range(5):
        began = time.perf_counter()
        async with connect(workspace) as client:
            ready.append(time.perf_counter() - began)
            began = time.perf_counter()
            await client.call_tool("memory_search", {"query": QUESTIONS[0]})
            first.append(time.perf_counter() - began)
    told(f"{name}: ready", ready)
    told(f"{name}: first memory_search", first)
    async with connect(workspace) as client:
        await client.call_tool("memory_search", {"query": QUESTIONS[0]})
        for tool, arguments in (("memory_search", {}), *CALLS):
            taken = []
            for turn in range(rounds):
                asked = (
                    {"query": f"{QUESTIONS[turn % len(QUESTIONS)]} {turn}"}
                    if not arguments and tool == "memory_search"
                    else arguments
                )
                began = time.perf_counter()
                called = await client.call_tool(tool, asked)
                taken.append(time.perf_counter() - began)
                assert not called.is_error, called.content
            told(f"{name}: {tool}", taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, help="folder to serve; the sample workspace without it")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            os.environ[name] = f"{scratch}/{name}"
        workspace = options.workspace or Path(scratch) / "demo"
        if options.workspace is None:
            demo = [sys.executable, "-m", "workbench", "demo", str(workspace), "--no-open"]
            subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
        for name in ("stdio", "HTTP"):
            asyncio.run(measure(name, workspace, options.rounds))


if __name__ == "__main__":
    main()

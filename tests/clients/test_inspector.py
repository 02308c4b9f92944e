"""The official MCP Inspector lists and calls tools over both transports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.clients.conftest import Desk

pytestmark = pytest.mark.clients
TOOLS = [
    "memory_search", "memory_get", "memory_remember", "memory_forget", "memory_reflect", "memory_decide",
    "memory_propose", "memory_graph", "memory_core", "memory_audit",
]  # fmt: skip


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, desk: Desk) -> Iterator[list[str]]:
    """Give the words by which the Inspector reaches a server."""
    command = [sys.executable, "-m", "workbench", "mcp", "--workspace", str(desk.memory)]
    if request.param == "stdio":
        # It hands a server few variables of its own.
        yield [*command, "-e", f"PYTHONPATH={desk.environment['PYTHONPATH']}"]
        return
    with subprocess.Popen(
        [*command, "--http", "--port", "0"], env=desk.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        listening = next(line for line in process.stderr if "listening at" in line)
        address = listening.rpartition(" ")[2].strip()
        try:
            yield [address, "--transport", "http"]
        finally:
            process.terminate()


def test_it_lists_the_tools_and_calls_them(desk: Desk, server: list[str]) -> None:
    listed = desk.inspector(*server, "--method", "tools/list")
    assert [each["name"] for each in listed["tools"]] == TOOLS
    assert all(each["inputSchema"]["type"] == "object" for each in listed["tools"])
    text = "text=The berth is number seven"
    call = ("--method", "tools/call", "--tool-name")
    kept = desk.inspector(*server, *call, "memory_remember", "--tool-arg", text)
    assert kept["structuredContent"]["ok"] is True
    desk.workbench("index")
    found = desk.inspector(
        *server, *call, "memory_search", "--tool-arg", "query=berth", "--tool-arg", "max_results=1"
    )
    assert "number seven" in found["structuredContent"]["results"][0]["snippet"]
    read = desk.inspector(*server, "--method", "resources/read", "--uri", "memory://core")
    assert read["contents"][0]["mimeType"] == "text/markdown"

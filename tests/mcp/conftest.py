"""A workspace that agents can be given, with a reflection that waits for a person."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.session import SamplingFnT
from mcp.types import Implementation

from tests.isolation import isolate
from workbench.engine import Workspace

NOW = "2026-02-02T14:30:00Z"
MEMORIES = (
    "Nora prefers tea on the ferry to Öckerö",
    "We decided to keep the sensor readings in PostgreSQL because the queries are by time",
    "The wave study ends on Friday if SWAN misses the gale",
    "To deploy: run the tests, tag the release, watch the map for ten minutes",
)

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@dataclass(frozen=True)
class Served:
    """A workspace on disk and how a server on it is started."""

    folder: Path

    def command(self, *words: str) -> tuple[str, list[str]]:
        return sys.executable, ["-m", "workbench", "mcp", "--workspace", str(self.folder), *words]

    @asynccontextmanager
    async def session(
        self, *words: str, sampling: SamplingFnT | None = None, name: str = "test"
    ) -> AsyncIterator[ClientSession]:
        """Give a client that is connected to a server of its own over stdio.

        Args:
            sampling: Its model, where it offers one.
            name: What it says that it is called.
        """
        command, arguments = self.command(*words)
        server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
        told = Implementation(name=name, version="1")
        async with (
            stdio_client(server) as ends,
            ClientSession(*ends, sampling_callback=sampling, client_info=told) as client,
        ):
            await client.initialize()
            yield client


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    isolate(tmp_path, monkeypatch, timezone="Europe/Stockholm")
    monkeypatch.setenv("WORKBENCH_NOW", NOW)
    folder = tmp_path / "ws"
    Workspace.init(folder)
    with Workspace.open(folder, role="main") as workspace:
        for text in MEMORIES:
            workspace.remember(text)
    return Served(folder)

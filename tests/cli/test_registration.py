"""What is printed for each kind of client is what it takes, whatever the names are."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from workbench.cli.connect import CLIENTS, registration
from workbench.engine.clients.known import Server

FOLDER = Path("/home/nora/my “memory” $HOME's")
STARTS = ["workbench", "mcp", "--workspace", str(FOLDER), "--agent", "scout"]


def started(client: str) -> list[str]:
    """Return the command line that a client would start, as its own shell and JSON reader read it."""
    text = registration(client, Server(["workbench"], FOLDER, "scout"))
    if client == "json":
        entry = json.loads(text)["mcpServers"]["workbench-scout"]
        return [entry["command"], *entry["args"]]
    words = shlex.split(text)
    assert "workbench-scout" in words[:4]
    if client == "openclaw":
        entry = json.loads(words[-1])
        return [entry["command"], *entry["args"]]
    return words[words.index("--") + 1 :]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_starts_the_same_server(client: str) -> None:
    assert started(client) == STARTS


def test_the_main_agents_server_has_the_plain_name() -> None:
    text = registration("claude-code", Server(["/bin/workbench"], Path("/m")))
    assert text == "claude mcp add workbench -- /bin/workbench mcp --workspace /m"

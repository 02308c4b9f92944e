"""How each kind of client is told of the server: the one command to run there, or the configuration to paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CLIENTS = ("claude-code", "codex", "openclaw", "json")


@dataclass(frozen=True)
class Server:
    """The server as a client starts it.

    Args:
        program: What runs the `workbench` command.
        folder: The workspace, absolute.
        agent: Name of the sub-agent that it is for; None for the main agent.
    """

    program: Sequence[str]
    folder: Path
    agent: str | None = None

    @property
    def name(self) -> str:
        """Return what the client shall call it."""
        return f"workbench-{self.agent}" if self.agent else "workbench"

    @property
    def words(self) -> list[str]:
        """Return the command line that starts it."""
        role = ["--agent", self.agent] if self.agent else []
        return [*self.program, "mcp", "--workspace", str(self.folder), *role]


def registration(client: str, server: Server) -> str:
    """Return the command that registers the server with a client, or the JSON that other clients take.

    Args:
        client: One of `CLIENTS`.
        server: Which.
    """
    command, *arguments = server.words
    entry = {"command": command, "args": arguments}
    match client:
        case "claude-code":
            return shlex.join(["claude", "mcp", "add", server.name, "--", *server.words])
        case "codex":
            return shlex.join(["codex", "mcp", "add", server.name, "--", *server.words])
        case "openclaw":
            return shlex.join(["openclaw", "mcp", "set", server.name, json.dumps(entry, ensure_ascii=False)])
        case _:
            return json.dumps({"mcpServers": {server.name: entry}}, ensure_ascii=False, indent=2)

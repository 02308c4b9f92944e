"""The tools, resources and prompts of the server, asked over stdin and stdout in every role that agents have."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.recording.running import start
from tests.recording.stage import Stage

Arguments = dict[str, Any]
# By role: the words after `mcp`.
ROLES: dict[str, tuple[str, ...]] = {
    "main": (),
    "agent": ("--agent", "scout"),
    "reader": ("--role", "reader"),
    "scope": ("--scope", "group:family"),
    "scope-agent": ("--scope", "group:family", "--agent", "scout"),
}
CALLS: tuple[tuple[str, Arguments], ...] = (
    ("memory_core", {}),
    ("memory_brief", {}),
    ("memory_search", {"query": "{words}"}),
    ("memory_search", {"query": "{words}", "max_results": 2, "min_score": 0.1, "store": "episodic"}),
    ("memory_search", {"query": "{words}", "budget": 200}),
    ("memory_search", {"query": "lockbox"}),
    ("memory_search", {}),
    ("memory_search", {"query": 3, "nonsense": True}),
    ("memory_show", {"id": "{episode}"}),
    ("memory_show", {"id": "nobody"}),
    ("memory_get", {"path": "{file}"}),
    ("memory_get", {"path": "MEMORY.md", "from": 2, "lines": 3}),
    ("memory_get", {"path": "../outside/canary.md"}),
    ("memory_get", {"path": "memory/vault/lockbox.md"}),
    ("memory_graph", {"entity": "{person}"}),
    ("memory_graph", {"entity": "{name}", "depth": 2}),
    ("memory_graph", {"entity": "nobody"}),
    ("memory_audit", {}),
    ("memory_audit", {"query": "ferry", "limit": 3}),
    ("memory_remember", {"text": "Mei pays the invoices", "confidence": "high"}),
    (
        "memory_remember",
        {"text": "Kim sails", "store": "semantic", "entities": ["person:Kim"], "tags": ["x"], "type": "fact"},
    ),
    ("memory_remember", {"text": "The password of the Wi-Fi is gull-and-tern-7"}),
    ("memory_remember", {"text": "Approve r-004.1", "approval": "user"}),
    (
        "memory_propose",
        {
            "content": "The deadline is March 15",
            "entities": ["project:{project_name}"],
            "confidence": "high",
            "trigger": "read it",
            "core_worthy": True,
        },
    ),
    ("memory_propose", {"content": "The deadline is March 30", "entities": ["project:{project_name}"]}),
    ("memory_forget", {"query": "{words}"}),
    ("memory_forget", {"query": "{words}", "ids": ["{episode}"]}),
    ("memory_forget", {}),
    ("memory_reflect", {}),
    ("memory_decide", {}),
    ("memory_search", {"query": "invoices deadline"}),
    ("memory_nonsense", {}),
)
URIS = (
    "memory://core",
    "memory://files/MEMORY.md",
    "memory://files/{file}",
    "memory://files/..%2Foutside%2Fcanary.md",
    "memory://nonsense",
)


class Client:
    """Speaks the protocol with a server, one question at a time.

    Args:
        process: The server.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._number = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to one question; what the server tells meanwhile depends on the moment and is left out."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told: dict[str, Any] = json.loads(line)
            if told.get("id") == self._number:
                return {name: each for name, each in told.items() if name not in ("id", "jsonrpc")}
        raise RuntimeError(f"The server ended before it answered {method}.")

    def begin(self) -> dict[str, Any]:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "recording", "version": "1"},
        }
        told = self.ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return told

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def served(stage: Stage, step: str, words: tuple[str, ...], environment: dict[str, str]) -> Iterator[Client]:
    """Give a client of a server that runs as a process of its own."""
    process = start(stage, step, ("mcp", *words), environment)
    try:
        yield Client(process)
        # It would wait until nothing was asked for a while, by a clock that hardly moves.
        process.terminate()
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """Put the names of a folder in the place of the placeholders."""
    if isinstance(value, str):
        for name, meant in names.items():
            value = value.replace(f"{{{name}}}", meant)
        return value
    if isinstance(value, dict):
        return {key: filled(each, names) for key, each in value.items()}
    return [filled(each, names) for each in value] if isinstance(value, list) else value

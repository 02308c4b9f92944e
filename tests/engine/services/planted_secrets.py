"""Secrets in every kind of file that is read, none of which a person has decided on, and where they could come out."""

from __future__ import annotations

import json
import string
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.engine.providers.embedding.embedding_server import EmbeddingServer
from tests.engine.providers.model_server import Answer, completion
from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import SESSION

MARK = "Zq91mK7pX2"
"""What every planted secret has in it, and nothing else."""
# Each beside words that stand nowhere else, so that what holds it is found by them.
NEW = {
    "memory/vault/lockbox.md": "# Lockbox\n\nThe lockbox on the pier opens with {}.\n",
    "memory/2026-01-28.md": (
        "# 2026-01-28\n\n- Robin moved to Visby.\n- The lockbox token is {}\n- Robin likes herring.\n"
    ),
    "memory/episodes/2026-01-27.md": (
        "# 2026-01-27 — Episode Log\n\n## 09:00 | decision | confidence:high\nThe lockbox was set to {} today.\n\n"
        "## 10:00 | event | confidence:high\nThe lockbox was painted.\n"
    ),
    "memory/graph/entities/thing--lockbox.md": (
        "# thing--lockbox\n\n<!-- Type: thing | Label: Lockbox {} | Created: 2026-01-15 -->\n\n"
        "## Summary\nOpens with {}.\n\n## Facts\n- Lockbox listens to {} (since 2026-01-20) ^lb1\n"
        "- Lockbox opened with {} (2026-01-02 to 2026-01-20) ^lb0\n\n"
        "## Relations\n- guards: [[project--harbour]] (confidence high) ^lb2\n"
    ),
    "memory/procedures/how-to-open-the-lockbox.md": (
        "# How to open the lockbox\n\n<!-- Learned: 2026-01-18 -->\n\n## Trigger\nWhen {} is asked for.\n\n"
        "## Steps\n1. Say {}\n2. Close the lockbox\n"
    ),
    "TOOLS.md": "# Tools\n\n- lockbox: {}\n",
    "memory/lockbox.json": '{{"lockbox": "{}"}}\n',
}
EDITED = {
    "USER.md": "- The lockbox of Robin: {}\n",
    "MEMORY.md": "\n## Lockbox\n- The lockbox knows {}\n",
    "SOUL.md": "\nYou open the lockbox with {}.\n",
    "memory/2026-01-30.md": "\n- The lockbox again: {}\n",
    "memory/graph/entities/person--robin.md": "- Keeps the lockbox at {} (since 2026-01-21) ^lb9\n",
}
PATHS = (*NEW, *EDITED)


def secrets_for(count: int) -> Iterator[str]:
    """Yield tokens, each another one."""
    letters = string.ascii_letters
    for number in range(count):
        yield f"ghp_{MARK}{letters[number]}{number:03}{letters[-26:]}"


class ListeningServer(EmbeddingServer):
    """A server of embeddings and of a chat model that learns nothing, and keeps every body it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[bytes] = []

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.bodies.append(body)
        super().answer(handler, body)

    def deliver(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        # Each request has a connection of its own: nobody waits here for the rest of a walk.
        super().deliver(handler, replace(answer, headers={**answer.headers, "Connection": "close"}))
        handler.close_connection = True

    def _reply(self, path: str, asked: dict[str, Any], body: bytes) -> Answer:
        if path.endswith("/chat/completions"):
            return completion('{"nothing": "useful"}')
        return super()._reply(path, asked, body)


@dataclass
class Planted:
    """A home with secrets in every kind of file, beside it, and in its sessions.

    Args:
        home: The workspace.
        server: Whom the workspace asks for vectors and thoughts.
        secrets: All that were planted, by the path of their file.
    """

    home: AgentHome
    server: ListeningServer
    secrets: dict[str, list[str]] = field(default_factory=dict)

    def derived(self) -> dict[str, bytes]:
        """Return every file of the cache, raw."""
        cache = self.home.root.parent / "cache"
        return {str(each): each.read_bytes() for each in cache.rglob("*") if each.is_file()}

    def objects(self) -> bytes:
        """Return everything that the history holds."""
        folder = f"--git-dir={self.home.root / '.audit'}"
        command = ["git", folder, "cat-file", "--batch-all-objects", "--batch", "--unordered"]
        return subprocess.run(command, check=True, capture_output=True).stdout


def plant(home: AgentHome, monkeypatch: pytest.MonkeyPatch, server: ListeningServer) -> Planted:
    """Write secrets where memory is read; history knows some of the files as they were before."""
    planted = Planted(home, server)
    tokens = secrets_for(40)

    def filled(path: str, text: str) -> str:
        own = [next(tokens) for _ in range(text.count("{}"))]
        planted.secrets[path] = own
        return text.format(*own)

    beside = home.root.parent / "beside"
    transcripts = home.root.parent / "transcripts"
    for folder in (beside, transcripts):
        folder.mkdir()
    (beside / "notes.md").write_text(filled("extra", "# Notes\n\nThe lockbox beside says {}.\n"))
    said: Mapping[str, Any] = {
        "type": "message",
        "timestamp": "2026-01-29T10:00:00Z",
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": filled("said", "My lockbox is {} now.")}],
        },
    }
    (transcripts / "old.jsonl").write_text(json.dumps(said) + "\n")
    settings = {
        "SEARCH_EXTRA_PATHS": str(beside),
        "SEARCH_SESSIONS": "true",
        "SEARCH_SESSION_PATHS": str(transcripts),
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_BASE_URL": server.url,
        "EMBEDDING_API_KEY": "k",
        "EMBEDDING_MODEL": "small",
        "MODEL_BASE_URL": server.url,
        "MODEL_API_KEY": "k",
        "MODEL_NAME": "small",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"WORKBENCH_{name}", value)
    with home.open() as workspace:
        workspace.session_append(
            SESSION, filled("session", "Remember that the lockbox of mine is {}, please.")
        )
        workspace.session_append(SESSION, "Noted.", role="assistant")
    for path, text in NEW.items():
        home.write(path, filled(path, text))
    home.write(f"memory/vault/{filled('name', 'lockbox {}')}.md", "# Named\n\nThe lockbox of that name.\n")
    for path, text in EDITED.items():
        home.write(path, home.text(path) + filled(path, text))
    return planted

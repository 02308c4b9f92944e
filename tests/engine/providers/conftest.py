"""A model server for a test, and chats with it that are closed after the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import openai  # noqa: F401  # loaded before any time-out is measured
import pytest

from tests.engine.providers.model_server import MakeChat, ModelServer
from workbench.engine.providers import model_server
from workbench.engine.providers.chat_models import OpenAICompatibleChat
from workbench.engine.providers.model_server import EndPoint


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the pauses between attempts, in seconds; nobody waits for them."""
    paused: list[float] = []
    monkeypatch.setattr(model_server, "sleep", paused.append)
    return paused


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with closing(ModelServer()) as running:
        yield running


@pytest.fixture
def make_chat(server: ModelServer) -> Iterator[MakeChat]:
    made: list[OpenAICompatibleChat] = []

    def make(**options: Any) -> OpenAICompatibleChat:
        place: dict[str, Any] = {"base_url": server.url, "api_key": "sk-secret-1", "model": "small"}
        place |= {name: options.pop(name) for name in ("base_url", "api_key", "headers") if name in options}
        chat = OpenAICompatibleChat(EndPoint(**place), **({"timeout_s": 5.0} | options))
        made.append(chat)
        return chat

    yield make
    for chat in made:
        chat.close()

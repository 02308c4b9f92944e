"""A model server for a test, and chats with it that are closed after the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import openai  # noqa: F401  # loaded before any time-out is measured
import pytest

from tests.engine.providers.model_server import MakeChat, ModelServer
from workbench.engine.providers.openai_api import OpenAICompatibleChat


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with closing(ModelServer()) as running:
        yield running


@pytest.fixture
def make_chat(server: ModelServer) -> Iterator[MakeChat]:
    made: list[OpenAICompatibleChat] = []

    def make(**options: Any) -> OpenAICompatibleChat:
        given: dict[str, Any] = {
            "base_url": server.url,
            "api_key": "sk-secret-1",
            "model": "small",
            "timeout_s": 5.0,
            "pause": lambda seconds: None,
        }
        chat = OpenAICompatibleChat(**(given | options))
        made.append(chat)
        return chat

    yield make
    for chat in made:
        chat.close()

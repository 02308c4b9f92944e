"""A session in which something was said, what it says afterwards, and a model to be asked about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat import ChatMessage, Completion
from workbench.engine.triggers.rules import route_by_rules

MAIN = "agent:main:main"

TALK = (
    ("user", "Remember that the ferry is called Visborg."),
    ("assistant", "Noted."),
    ("user", "We decided to migrate the archive to Postgres because of the locks."),
    ("assistant", "I will plan it."),
    ("user", "What is the weather like?"),
    ("assistant", "Fine."),
)


def talk(settled: AgentHome) -> AgentHome:
    """Have a short conversation in the main session."""
    with settled.open() as workspace:
        for role, text in TALK:
            workspace.session_append(MAIN, text, role=role)
    return settled


def transcript(workspace: Workspace) -> Path:
    found = workspace.session(MAIN).session.transcript
    assert found is not None
    return Path(found)


def told(workspace: Workspace) -> list[str]:
    return [line.text for line in workspace.session(MAIN).lines if line.kind == "message"]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


class Chat:
    name = "fake"

    def __init__(self, answer: str | ProviderError) -> None:
        self._answer = answer

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        if isinstance(self._answer, ProviderError):
            raise self._answer
        return Completion(self._answer, "fake")

    def close(self) -> None:
        return None


def with_model(monkeypatch: pytest.MonkeyPatch, answer: str | ProviderError) -> None:
    monkeypatch.setenv("WORKBENCH_MODEL_NAME", "fake")
    monkeypatch.setenv("WORKBENCH_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("workbench.engine.providers.selection.chat_model", lambda *_, **__: Chat(answer))
    # Where a memory belongs is not asked of the model here.
    monkeypatch.setattr(
        "workbench.engine.services.routing.route_by_model",
        lambda text, _chat, hints: route_by_rules(text, hints),
    )

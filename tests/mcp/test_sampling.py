"""A client that offers its model has it reflect, if its user says so; else the agent is handed the tasks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.client.context import ClientRequestContext
from mcp.types import (
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    TextContent,
)

from tests.mcp.conftest import Served
from tests.mcp.test_stdio import answer
from workbench.engine import Workspace

STUDY = "The wave study ends on Friday if SWAN misses the gale"


class Model:
    """A client's model, which finds one fact; it keeps what it was asked.

    Args:
        wild: Whether it answers nonsense instead.
        refused: Whether its person refuses.
    """

    def __init__(self, *, wild: bool = False, refused: bool = False) -> None:
        self.asked: list[CreateMessageRequestParams] = []
        self._wild = wild
        self._refused = refused

    async def __call__(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        self.asked.append(params)
        if self._refused:
            return ErrorData(code=INVALID_REQUEST, message="The user does not want that.")
        text = "Ignore all that." if self._wild else json.dumps({"items": self._items(params)})
        return CreateMessageResult(
            role="assistant", content=TextContent(type="text", text=text), model="otter-9"
        )

    def _items(self, params: CreateMessageRequestParams) -> list[dict[str, Any]]:
        passages = material(params).partition("## passages\n")[2].partition("\n\n## ")[0]
        line = next((each for each in passages.splitlines() if STUDY in each), "")
        if not line or len(self.asked) > 1:
            return []
        evidence = [
            {"ref": line.partition(" ")[0], "quote": STUDY},
        ]
        about = {"kind": "fact", "about": "project--wave-study", "text": STUDY, "since": "", "replaces": ""}
        made_up = {
            **about,
            "text": "The wave study failed",
            "evidence": [{"ref": "x9", "quote": "nobody said this"}],
        }
        sure = {"confidence": "high", "reason": "It was said."}
        return [{**about, **sure, "evidence": evidence}, {**made_up, **sure}]


def material(params: CreateMessageRequestParams) -> str:
    (message,) = params.messages
    assert isinstance(message.content, TextContent)
    return message.content.text


@pytest.fixture
def knows_study(served: Served) -> Served:
    with Workspace.open(served.folder, role="main") as workspace:
        workspace.graph_add("Wave study", "project")
    return served


async def test_the_clients_model_reflects_where_its_user_says_so(
    knows_study: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_REFLECTION_SAMPLING", "true")
    model = Model()
    async with knows_study.session(sampling=model) as client:
        told = await answer(client, "memory_reflect")
    assert told["ok"]
    assert "They decide" in told["next"]
    facts = [item["after"] for item in told["items"] if item["kind"] == "fact"]
    assert STUDY in facts
    assert "The wave study failed" not in facts
    assert STUDY in material(model.asked[0])
    assert {each.include_context for each in model.asked} == {"none"}
    with Workspace.open(knows_study.folder) as workspace:
        assert {item.decision for item in workspace.review().items} == {"undecided"}
        proposal = workspace.get("memory/meta/pending-reflection.md").text
        assert "otter-9" in proposal


async def test_it_is_not_asked_unless_its_user_says_so(knows_study: Served) -> None:
    model = Model()
    async with knows_study.session(sampling=model) as client:
        assert "task" in await answer(client, "memory_reflect")
    assert model.asked == []


@pytest.mark.parametrize(
    "model", [Model(wild=True), Model(refused=True), None], ids=["wild", "refused", "none"]
)
async def test_what_it_does_not_answer_is_handed_out(
    knows_study: Served, monkeypatch: pytest.MonkeyPatch, model: Model | None
) -> None:
    monkeypatch.setenv("WORKBENCH_REFLECTION_SAMPLING", "true")
    async with knows_study.session(sampling=model) as client:
        told = await answer(client, "memory_reflect")
    assert told["phase"] == "consolidate"
    assert model is None or len(model.asked) == 1

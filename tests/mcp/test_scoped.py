"""The server for one group: its tools know that scope alone."""

from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.conftest import Served
from workbench.engine import Workspace

TOOLS = {"memory_search", "memory_show", "memory_brief", "memory_remember", "memory_propose"}


async def test_a_group_is_served_its_own_memory(served: Served) -> None:
    with Workspace.open(served.folder, role="main") as workspace:
        workspace.remember("The ferry ticket is on the fridge", scope="group:family", store="episodic")
    said: list[str] = []
    async with served.session("--scope", "group:family") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        assert (await client.list_resources()).resources == []
        for uri in ("memory://core", "memory://files/MEMORY.md"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        for name, arguments in (
            ("memory_search", {"query": "ferry"}),
            (
                "memory_search",
                {"query": "Nora tea PostgreSQL SWAN deploy", "min_score": 0, "max_results": 50},
            ),
            ("memory_brief", {}),
            ("memory_show", {"id": "person--nora"}),
            (
                "memory_remember",
                {"text": "Otto likes skiing", "entities": ["person:Otto"], "store": "semantic"},
            ),
            ("memory_show", {"id": "person--otto"}),
            ("memory_propose", {"content": "The bus is blue"}),
            ("memory_core", {}),
            ("memory_get", {"path": "MEMORY.md"}),
            ("memory_forget", {"query": "tea"}),
        ):
            called = await client.call_tool(name, arguments)
            said.append(json.dumps(called.structured_content))
            assert called.is_error == (
                name in ("memory_core", "memory_get", "memory_forget") or "nora" in str(arguments)
            )
        prompt = (await client.get_prompt("memory_instructions")).messages[0].content
        assert "group:family" in str(prompt)
    whole = " ".join(said)
    assert "on the fridge" in whole
    assert "skiing" in whole
    for private in ("PostgreSQL because", "Nora prefers", "SWAN misses", "watch the map"):
        assert private not in whole


async def test_a_sub_agent_of_a_group_proposes(served: Served) -> None:
    async with served.session("--scope", "group:family", "--agent", "scout") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS - {"memory_remember"}

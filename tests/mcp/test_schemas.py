"""The declarations of the tools as models and clients see them."""

from __future__ import annotations

import pytest

from tests.mcp.conftest import Served
from workbench.engine.errors import InvalidInput
from workbench.engine.roles import parse_role
from workbench.engine.tokens import count_tokens
from workbench.mcp.tool import Tool, as_text, read_arguments
from workbench.mcp.tools import TOOLS, openai_functions, tools_for

CONTRACT = {
    "memory_search": ["query", "max_results", "min_score", "budget", "store"],
    "memory_get": ["path", "from", "lines"],
    "memory_remember": ["text", "store", "type", "tags", "entities", "confidence"],
    "memory_forget": ["query", "ids"],
    "memory_reflect": ["answer"],
    "memory_decide": ["numbers", "verdict"],
    "memory_propose": ["content", "store", "entities", "confidence", "trigger", "core_worthy"],
    "memory_graph": ["entity", "depth"],
    "memory_core": [],
    "memory_audit": ["query", "limit"],
}


def test_the_tools_are_those_of_the_contract() -> None:
    assert {tool.name: [parameter.name for parameter in tool.parameters] for tool in TOOLS} == CONTRACT


def test_a_sub_agent_is_offered_reading_and_proposing_alone() -> None:
    offered = {tool.name for tool in tools_for(parse_role("agent:scout"))}
    assert offered == {
        "memory_search", "memory_get", "memory_graph", "memory_core", "memory_audit", "memory_propose"
    }  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_one_and_every_argument_is_explained(tool: Tool) -> None:
    assert tool.schema["type"] == "object"
    for schema in tool.schema["properties"].values():
        assert schema["type"] in ("string", "integer", "number", "boolean", "array", "object")
        assert (schema["type"] == "array") == ("items" in schema)
        assert schema.get("items", {"type": "string"})["type"] in ("string", "integer")
        assert set(schema) <= {"type", "description", "items", "enum", "minimum", "maximum", "default"}
    assert tool.about.endswith(".")
    assert all(len(parameter.about) > 10 for parameter in tool.parameters)


def test_a_number_out_of_bounds_is_told_in_digits() -> None:
    tool = next(each for each in TOOLS if each.name == "memory_get")
    with pytest.raises(InvalidInput) as refused:
        read_arguments(tool, {"path": "MEMORY.md", "from": 2_000_000_000})
    assert str(refused.value) == (
        "memory_get.from: “from” is 2000000000. Give a whole number from 1 up to 1,000,000,000."
    )


def test_openai_gets_the_same_declarations() -> None:
    functions = openai_functions(parse_role("main"))
    assert [each["function"]["name"] for each in functions] == [tool.name for tool in TOOLS]
    assert all(each["type"] == "function" for each in functions)
    assert functions[0]["function"]["parameters"] == TOOLS[0].schema


def test_the_tools_cost_few_tokens() -> None:
    assert count_tokens(as_text(openai_functions(parse_role("main")))) < 2_000


async def test_the_sdk_gives_them_out_unchanged(served: Served) -> None:
    async with served.session() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in TOOLS:
        assert listed[tool.name].input_schema == tool.schema
        hints = listed[tool.name].annotations
        assert hints
        assert hints.read_only_hint is not tool.writes
        assert hints.destructive_hint is (tool.name == "memory_forget")

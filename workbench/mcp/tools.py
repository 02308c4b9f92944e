"""The tools that agents are offered by role, and calling one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.engine.errors import NotFound
from workbench.engine.roles import Role, require
from workbench.mcp.reading_tools import AUDIT, CORE, GET, GRAPH, SEARCH
from workbench.mcp.tool import Call, Tool, read_arguments
from workbench.mcp.writing_tools import DECIDE, FORGET, PROPOSE, REFLECT, REMEMBER

TOOLS: tuple[Tool, ...] = (SEARCH, GET, REMEMBER, FORGET, REFLECT, DECIDE, PROPOSE, GRAPH, CORE, AUDIT)
"""Every tool there is, in the order in which agents see them."""


def offered_tools(*, is_searched: bool) -> tuple[Tool, ...]:
    """Return every tool, or all but search and reading where the settings switch these off."""
    return TOOLS if is_searched else tuple(tool for tool in TOOLS if tool not in (SEARCH, GET))


def tools_for(role: Role, tools: tuple[Tool, ...] = TOOLS) -> tuple[Tool, ...]:
    """Return the tools that a role is offered: those that it may use."""
    return tuple(tool for tool in tools if role.may(tool.needs))


def tool_called(name: str, role: Role, tools: tuple[Tool, ...] = TOOLS) -> Tool:
    """Return the tool of a name.

    Args:
        name: As agents call it.
        role: The caller’s.
        tools: Those to choose from.

    Raises:
        NotFound: There is none.
        RoleRefused: It is not for this role.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        offered = ", ".join(each.name for each in tools_for(role, tools))
        raise NotFound("There is no such tool.", where=name[:100], remedy=f"There are {offered}.")
    require(role, tool.needs)
    return tool


def checked_call(tool: Tool, call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments of a call and answer it.

    Raises:
        WorkbenchError: The arguments make no sense, or the workspace says no.
    """
    return tool.answer(replace(call, arguments=read_arguments(tool, given)))


def openai_functions(role: Role) -> list[dict[str, Any]]:
    """Return the tools of a role as OpenAI function-calling takes them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.about, "parameters": tool.schema},
        }
        for tool in tools_for(role)
    ]

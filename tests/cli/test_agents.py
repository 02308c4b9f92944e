"""The commands that give memory to agents, but for the serving itself."""

from __future__ import annotations

import json

import pytest

from tests.cli.program import Program


def test_the_instructions_are_printed_for_whom_they_are_asked_for(agent: Program) -> None:
    main, scout = agent.inside("agents-md"), agent.inside("agents-md", "--agent", "scout")
    assert main.exit_code == scout.exit_code == 0
    assert main.stdout.startswith("# Memory\n")
    assert "`memory_remember`" in main.stdout
    assert "sub-agent scout" in scout.stdout
    skill = agent.inside("agents-md", "--skill")
    assert skill.stdout.startswith("---\nname: workbench-memory\n")
    shaped = json.loads(agent.inside("agents-md", "--agent", "scout", "--json").stdout)
    assert shaped == {"agent": "scout", "skill": False, "text": scout.stdout}


@pytest.mark.parametrize("client", ["claude-code", "codex", "openclaw", "json"])
def test_each_client_is_told_where_this_memory_is(agent: Program, client: str) -> None:
    done = agent.inside("agents-md", "--mcp", client, "--agent", "scout")
    assert done.exit_code == 0
    assert str(agent.folder.resolve()) in done.stdout
    assert "workbench-scout" in done.stdout
    if client == "json":
        assert list(json.loads(done.stdout)) == ["mcpServers"]
    else:
        assert done.stdout.count("\n") == 1


def test_the_tools_are_printed_for_function_calling(agent: Program) -> None:
    functions = json.loads(agent.inside("mcp", "--schemas", "openai", "--agent", "scout").stdout)
    assert {each["function"]["name"] for each in functions} >= {"memory_search", "memory_propose"}
    assert "memory_remember" not in {each["function"]["name"] for each in functions}


@pytest.mark.parametrize(
    "words",
    [
        ("agents-md", "--agent", "No Name"),
        ("agents-md", "--mcp", "json", "--agent", "../x"),
        ("agents-md", "--mcp", "x"),
    ],
)
def test_what_is_no_agent_or_client_is_said(agent: Program, words: tuple[str, ...]) -> None:
    assert agent.inside(*words).exit_code == 2


def test_a_brief_shows_what_a_session_begins_with(agent: Program) -> None:
    assert agent.inside("propose", "The ferry leaves at nine", "--as", "scout").exit_code == 0
    (agent.folder / "SOUL.md").write_text("You are kind.\n", "utf-8")
    agent.inside("audit", "alerts")
    (agent.folder / "SOUL.md").write_text("You are cruel.\n", "utf-8")
    brief = json.loads(agent.inside("brief", "--json").stdout)
    assert brief["core"]
    assert brief["proposalsWaiting"] == 1
    assert any("+You are cruel." in alert["diff"] for alert in brief["alerts"])
    assert {"reflectionDue", "notices", "tokens", "cap"} <= set(brief)
    assert "+You are cruel." in agent.inside("brief").stdout

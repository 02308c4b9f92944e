"""Servers are started as clients start them; whatever they do, there is an answer in time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbench.engine.clients.probing import Unanswered, check_connections, tools_of
from workbench.engine.results.clients import ClientState, Connection

SAYS = "import sys, json\nfor line in sys.stdin:\n    told = json.loads(line)\n    {}\n"


def program(body: str) -> tuple[str, ...]:
    return (sys.executable, "-c", SAYS.format(body))


def connection(command: tuple[str, ...], scope: str = "user", agent: str | None = None) -> Connection:
    return Connection("workbench", command, "/memory", agent, scope, "/home/config.json", ("session-start",))


def test_a_real_server_tells_its_tools(tmp_path: Path) -> None:
    tools = tools_of(
        (sys.executable, "-m", "workbench", "mcp", "--workspace", str(tmp_path), "--agent", "scout")
    )
    assert "memory_propose" in tools
    assert "memory_remember" not in tools


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("/nowhere/workbench", "mcp"), "cannot be run"),
        ((sys.executable, "-c", "import sys; sys.exit('no such folder')"), "no such folder"),
        (program("print('hello', flush=True)"), "no message"),
        (program("print(json.dumps({'id': told['id'], 'error': {}}), flush=True)"), "error"),
        (program("print(json.dumps({'id': told.get('id'), 'result': {}}), flush=True)"), "no tools"),
    ],
)
def test_a_server_that_does_not_answer_says_why(command: tuple[str, ...], why: str) -> None:
    with pytest.raises(Unanswered, match=why):
        tools_of(command)


def test_a_server_that_says_nothing_is_ended_in_time() -> None:
    with pytest.raises(Unanswered, match="too long"):
        tools_of(program("pass"), seconds=0.3)


def test_checks_name_the_client_and_start_nothing_of_a_project(tmp_path: Path) -> None:
    trace = tmp_path / "started"
    evil = (sys.executable, "-c", f"open({str(trace)!r}, 'w')")
    states = [
        ClientState("zed", "Zed", True, "/z", (connection(evil, scope="project"),)),
        ClientState("goose", "Goose", True, "/g", (), "config.yaml:3: broken"),
        ClientState("codex", "Codex CLI", True, "/c", (connection(("/nowhere/workbench",), agent="scout"),)),
    ]
    checks = list(check_connections(states))
    assert [(check.name, check.state) for check in checks] == [("Goose", "degraded"), ("Codex CLI", "broken")]
    assert checks[1].remedy == "Write its entry again: workbench connect codex --agent scout"
    assert not trace.exists()

"""No tool and no resource hands out a secret on which nobody has decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.planted_secrets import MARK, PATHS, ListeningServer, Planted, plant
from tests.engine.services.test_secrets import TOKEN
from tests.isolation import isolate
from workbench.engine.errors import WorkbenchError
from workbench.engine.roles import parse_role
from workbench.mcp.server import CORE_URI, memory_files, read_resource
from workbench.mcp.tool import Call, Kind, Parameter, Tool
from workbench.mcp.tools import checked_call, tools_for

WORDS = ("lockbox", "entity:thing--lockbox", "What opens the lockbox on the pier?", *PATHS)


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    isolate(tmp_path, monkeypatch, timezone="Europe/Stockholm")
    home = AgentHome(tmp_path / "agent")
    home.furnish()
    home.init()
    with closing(ListeningServer()) as server:
        yield plant(home, monkeypatch, server)


def values(parameter: Parameter) -> tuple[Any, ...]:
    match parameter.kind:
        case Kind.TEXT:
            return parameter.choices or WORDS
        case Kind.TEXTS:
            return tuple([word] for word in WORDS)
        case Kind.SWITCH:
            return (True,)
        case _:
            return (parameter.least or 1,)


def attempts(tool: Tool) -> Iterator[Mapping[str, Any]]:
    needed = {each.name: values(each) for each in tool.parameters if each.required}
    first = {name: each[0] for name, each in needed.items()}
    yield first
    for name, given in needed.items():
        for value in given:
            yield {**first, name: value}
    for parameter in tool.parameters:
        if not parameter.required:
            yield {**first, parameter.name: values(parameter)[0]}


@pytest.mark.parametrize("role", ["reader", "agent:scout", "main"])
def test_no_tool_and_no_resource_hands_it_out(planted: Planted, role: str) -> None:
    leaked: list[str] = []
    answered: set[str] = set()
    with planted.home.open(role) as door:
        door.index()
        for tool in tools_for(parse_role(role)):
            for arguments in attempts(tool):
                try:
                    said = repr(checked_call(tool, Call(door, {}), arguments))
                    answered.add(tool.name)
                except WorkbenchError as error:
                    said = f"{error} {error.where} {error.remedy}"
                leaked += [f"{tool.name} {arguments}"] * (MARK in said)
        name = f"memory/vault/{TOKEN}.md"
        (planted.home.root / name).parent.mkdir(parents=True, exist_ok=True)
        (planted.home.root / name).write_text("Boats.\n")
        files, _ = memory_files(door, None)
        leaked += [each.uri for each in files if TOKEN in each.path]
        for uri in (CORE_URI, *(each.uri for each in files)):
            leaked += [uri] * (MARK in read_resource(door, uri)[0])
    assert leaked == []
    assert {"memory_search", "memory_get", "memory_graph", "memory_core"} <= answered
    assert any("lockbox" in each.uri for each in files)
    assert not any(MARK.encode() in body for body in planted.server.bodies)

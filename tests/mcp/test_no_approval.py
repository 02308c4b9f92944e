"""No door made for agents leads to a decision on a reflection, whatever is handed to its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.mcp.conftest import Served
from workbench.engine import Workspace, layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.roles import Capability, parse_role
from workbench.mcp.server import read_resource
from workbench.mcp.tool import Call, Kind, Parameter, Tool
from workbench.mcp.tools import TOOLS, checked_call, tools_for

ROLES = ("main", "agent:scout", "reader")
DECIDING = {Capability.DECIDE_REVIEW, Capability.ACKNOWLEDGE, Capability.HARD_DELETE, Capability.PURGE}
TICKED = "- [x] `r-001.1` fact for [[person--nora]]: Nora approves of everything"


class Watched:
    """A door that notes what is called on it, and gives nothing that a person’s own methods would."""

    def __init__(self, door: Workspace) -> None:
        self._door = door
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.called.add(name)
        return getattr(self._door, name)


def words(parameter: Parameter, item: str) -> Iterator[Any]:
    """Yield what somebody might put there who wants the item approved."""
    texts = (
        item,
        f"approve {item}",
        f"[x] {item}",
        TICKED,
        layout.PENDING_REFLECTION,
        f"file:{layout.PENDING_REFLECTION}#L5",
        "approve all my memories and apply the reflection",
    )
    match parameter.kind:
        case Kind.TEXT:
            yield from parameter.choices or texts
        case Kind.TEXTS:
            yield from ([text] for text in texts)
        case Kind.SWITCH:
            yield True
        case Kind.WHOLES:
            yield from ([1], [1, 2])
        case _:
            yield parameter.least or 1


def attempts(tool: Tool, item: str) -> Iterator[Mapping[str, Any]]:
    """Yield sets of arguments: every value of every parameter, beside what the others need."""
    needed = {p.name: next(words(p, item)) for p in tool.parameters if p.required}
    yield needed
    for parameter in tool.parameters:
        for value in words(parameter, item):
            yield {**needed, parameter.name: value}


@pytest.mark.parametrize("role", ROLES)
def test_no_tool_leads_to_an_approval(served: Served, role: str) -> None:
    with Workspace.open(served.folder, role="main") as workspace:
        item = workspace.reflect().ids[0]
    with Workspace.open(served.folder, role=role) as opened:
        door = Watched(opened)
        tried = 0
        for tool in tools_for(parse_role(role)):
            for arguments in attempts(tool, item):
                tried += 1
                try:
                    checked_call(tool, Call(door, {}), arguments)  # type: ignore[arg-type]  # a door that is watched
                except WorkbenchError:
                    continue
        assert tried >= 10
        assert {item.decision for item in opened.review().items} == {"undecided"}
        with pytest.raises(WorkbenchError):
            opened.review_decide({item: "approved"})
        assert not {name for name in door.called if name.startswith(("review_", "acknowledge"))}
        assert role == "main" or not {name for name in door.called if name.startswith("proposal_")}
    with Workspace.open(served.folder, role="person") as workspace:
        decisions = {item.decision for item in workspace.review().items}
        assert decisions == {"undecided"}
        actions = {entry.action for entry in workspace.audit_log(actor="reflection:*").entries}
        assert not actions
        assert not [entry for entry in workspace.audit_log().entries if entry.approval == "approved"]


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_is_offered_is_what_it_may_do(role: str) -> None:
    may = parse_role(role).capabilities
    assert not may & DECIDING
    assert all(tool.needs in may for tool in tools_for(parse_role(role)))
    assert not {tool.needs for tool in TOOLS} & DECIDING


def test_the_proposal_may_be_read_and_is_not_changed_by_that(served: Served) -> None:
    with Workspace.open(served.folder, role="main") as workspace:
        workspace.reflect()
        before = (served.folder / layout.PENDING_REFLECTION).read_bytes()
        text, _ = read_resource(workspace, f"memory://files/{layout.PENDING_REFLECTION}")
        assert "- [ ]" in text
        assert (served.folder / layout.PENDING_REFLECTION).read_bytes() == before

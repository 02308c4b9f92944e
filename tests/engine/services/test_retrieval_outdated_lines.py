"""Lines that an approved fact made outdated are said to be so at every door."""

from __future__ import annotations

import json
from datetime import date

from tests.engine.services.agent_home import AgentHome
from workbench.display.found import hit_row
from workbench.display.ink import plain_text
from workbench.display.memories import found_lines
from workbench.display.text import Page
from workbench.engine.results import to_json
from workbench.mcp.reading_tools import SEARCH
from workbench.mcp.tool import Call, read_arguments

QUESTION = "When does the standup begin?"
OLD, NEW = "memory/2026-01-31-standup.md", "memory/2026-02-01.md"
FACTS = (
    "# project--standup\n\n<!-- Type: project | Label: Standup -->\n\n## Facts\n"
    f"- It begins at half past eight (since 2026-02-01, from file:{NEW}#L3) ^new1\n\n"
    "## Superseded\n- The standup moved to nine"
    f" (2026-01-31 to 2026-02-01, from file:{OLD}#L3, superseded by ^new1) ^old1\n"
)
INSTEAD = "entity:project--standup#^new1"


def test_every_door_says_which_lines_are_outdated_by_what_and_since_when(settled: AgentHome) -> None:
    settled.write(NEW, "# 2026-02-01\n\n- Half past eight it is, from now on\n")
    settled.write("memory/graph/entities/project--standup.md", FACTS)
    with settled.open() as workspace:
        found = workspace.search(QUESTION, min_score=0, explain=True)
        paths = [hit.path for hit in found.results]
        assert paths.index(NEW) < paths.index(OLD)
        hit = found.results[paths.index(OLD)]
        assert (hit.outdated_by, hit.outdated_since) == (INSTEAD, "2026-02-01")
        assert found.results[paths.index(NEW)].approved_as == INSTEAD
        shape = to_json(hit)
        assert (shape["outdatedBy"], shape["outdatedSince"], shape["approvedAs"]) == (
            INSTEAD,
            "2026-02-01",
            None,
        )
        told = "\n".join(found_lines(Page(), found, query=QUESTION, explain=True))
        assert f"Outdated since 2026-02-01; {INSTEAD} holds instead" in " ".join(told.split())
        assert f"Behind what holds instead since 2026-02-01: {INSTEAD}." in " ".join(told.split())
        call = Call(workspace, read_arguments(SEARCH, {"query": QUESTION, "min_score": 0}))
        (answer,) = [
            each for each in json.loads(json.dumps(SEARCH.answer(call)))["results"] if each["path"] == OLD
        ]
        assert (answer["outdatedBy"], answer["outdatedSince"]) == (INSTEAD, "2026-02-01")
        assert "outdated" in plain_text(hit_row(hit, QUESTION, date(2026, 2, 2), 100))


def test_a_fact_that_was_archived_by_itself_rules_no_line(settled: AgentHome) -> None:
    settled.write(NEW, "# 2026-02-01\n\n- Half past eight it is, from now on\n")
    settled.write("memory/graph/entities/project--standup.md", FACTS)
    with settled.open() as workspace:
        workspace.forget(ids=["entity:project--standup#^old1"], apply=True)
        found = workspace.search(QUESTION, min_score=0)
        assert not [hit for hit in found.results if hit.outdated_by]

"""The settings of Moltbot in its user's home: they change what the program answers, and `doctor` tells of each."""

from __future__ import annotations

import json

from tests.cli.program import Program

SEARCH = {
    "query": {"maxResults": 2, "minScore": 0},
    "store": {"driver": "sqlite", "path": "~/.clawdbot/memory/{agentId}.sqlite"},
    "provider": "openai",
    "remote": {"apiKey": "sk-never-shown-0123456789"},
}


def test_the_users_own_moltbot_json_counts_and_doctor_tells_of_each_entry(agent: Program) -> None:
    for number in range(4):
        agent.json("remember", f"The ferry number {number} leaves at nine", "--store", "episodic")
    assert len(agent.json("search", "ferry", "--min-score", "0")["results"]) == 4
    file = agent.home / ".clawdbot/moltbot.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"agents": {"defaults": {"memorySearch": SEARCH}}}))
    assert len(agent.json("search", "ferry")["results"]) == 2
    checks = {check["detail"]: check for check in agent.json("doctor")["checks"]}
    place = "agents.defaults.memorySearch"
    assert checks[f"{place}.query.maxResults: search.max_results = 2"]["name"] == "~/.clawdbot/moltbot.json"
    (driver,) = (
        check for detail, check in checks.items() if detail.startswith(f"{place}.store.path: not used")
    )
    assert "paths.cache" in driver["remedy"]
    (kept,) = (check for detail, check in checks.items() if "remote.apiKey" in detail)
    assert kept["state"] == "degraded"
    assert "sk-never" not in json.dumps(list(checks))
    own = agent.folder / "workbench.toml"
    own.write_text(own.read_text("utf-8") + "\n[search]\nmax_results = 3\n", "utf-8")
    assert len(agent.json("search", "ferry")["results"]) == 3
    told = [check["detail"] for check in agent.json("doctor")["checks"]]
    assert any(
        f"{place}.query.maxResults: not used: search.max_results comes from workbench.toml" in line
        for line in told
    )

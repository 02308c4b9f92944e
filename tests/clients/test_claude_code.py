"""Some days of Claude Code on a connected memory: it remembers, is briefed, saves, and is corrected by a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import Desk
from tests.clients.scripted import Loop, Say, Use, serving, tool_results

pytestmark = pytest.mark.clients

ALLOWED = ("--allowedTools", "mcp__workbench__memory_remember,mcp__workbench__memory_search")

SAID = "Mira pays within 30 days"


def events(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_some_days_of_claude_code(desk: Desk) -> None:
    desk.workbench("connect", "claude-code", "--yes", "--prompts")

    # Something is said and remembered.
    with serving(
        Use("memory_remember", {"text": "Mira pays within 30 days", "confidence": "high"}), Say("Noted.")
    ) as model:
        said = desk.claude(
            "-p",
            "Mira pays within 30 days.",
            "--output-format",
            "stream-json",
            "--verbose",
            *ALLOWED,
            model=model,
        )
    init = next(each for each in events(said) if each.get("subtype") == "init")
    assert [(each["name"], each["status"]) for each in init["mcp_servers"]] == [("workbench", "connected")]
    assert {"workbench:remember", "workbench:recall", "workbench:reflect"} <= set(init["slash_commands"])
    assert desk.search("Mira")

    # It goes on another time; before it is compacted, what was decided is saved, once, with its place.
    with serving(Say("Fine.")) as model:
        desk.claude("-p", "--continue", "We decided to move the berth to number seven.", model=model)
    with serving(Say("<summary>They spoke of Mira and the berth.</summary>")) as model:
        desk.claude("-p", "--continue", "/compact", model=model)
    log = desk.log("move the berth to number seven")
    assert log.count("move the berth to number seven") == 1
    assert "from:[file:sessions/" in log
    assert len(desk.workbench("sessions")["sessions"]) == 1

    # A new session begins with it.
    with serving(Say("Hello.")) as model:
        desk.claude("-p", "Hello!", model=model)
    assert "Mira pays within 30 days" in model.text()
    assert "berth to number seven" in model.text()

    # A person corrects it, with any editor; the next session is told, finds it and is told where it is.
    (day,) = (desk.memory / "memory" / "episodes").iterdir()
    day.write_text(day.read_text().replace("within 30 days", "within 14 days"))
    desk.workbench("index")
    with serving(Use("memory_search", {"query": "When does Mira pay?"}), Say("Within 14 days.")) as model:
        desk.claude("-p", "When does Mira pay?", *ALLOWED, model=model)
    assert "within 14 days" in model.text()
    assert "within 30 days" not in model.text()
    assert f"memory/episodes/{day.name}#L" in model.text()

    # All of it goes, though Claude Code has written its own configuration meanwhile.
    desk.workbench("disconnect", "claude-code", "--yes")
    left = desk.configurations()
    assert list(left) == [".claude.json"]
    assert b"workbench" not in left[".claude.json"].replace(b"before-workbench", b"")
    assert not (desk.home / ".claude" / "commands").exists()


def reflecting(told: str) -> dict[str, Any] | None:
    """Answer a task as a model does that has read it: one fact, where it is asked for facts, and nothing else."""
    if not told:
        return {}
    task = json.loads(told)
    if "task" not in task:
        return None
    items = []
    passages = next((part["text"] for part in task["material"] if part["id"] == "passages"), "")
    for line in passages.splitlines() if task["phase"] == "consolidate" else ():
        if SAID in line:
            evidence = [{"ref": line.partition(" ")[0], "quote": SAID}]
            items = [
                {
                    "kind": "fact", "about": "person--mira", "text": "Mira pays within 30 days", "since": "",
                    "replaces": "", "confidence": "high", "reason": "It was said plainly.", "evidence": evidence,
                }
            ]  # fmt: skip
    return {"answer": {"task": task["task"], "model": "scripted-1", "answer": {"items": items}}}


def test_its_own_model_reflects_a_person_decides_and_the_next_session_knows(desk: Desk) -> None:
    desk.workbench("connect", "claude-code", "--yes")
    desk.workbench(
        "remember", f"{SAID} after she gets the invoice", "--entity", "person:Mira", "--store", "episodic"
    )

    with serving(Loop("memory_reflect", reflecting), Say("It waits for you.")) as model:
        desk.claude("-p", "Please reflect.", "--allowedTools", "mcp__workbench__memory_reflect", model=model)
    proposed = desk.workbench("review")["items"]
    (fact,) = (item for item in proposed if item["after"] == "Mira pays within 30 days")
    assert fact["decision"] == "undecided"
    assert "within 30 days" not in (desk.memory / "MEMORY.md").read_text()
    assert "scripted-1" in (desk.memory / "memory" / "meta" / "pending-reflection.md").read_text()

    # The person approves it, and corrects it later: what held instead is known with the day on which it ended.
    desk.workbench("review", "approve", "all")
    (past,) = desk.workbench("review", "apply", "--yes")["ids"]
    (present,) = desk.workbench("graph", "add-fact", "person--mira", "Mira pays within 14 days")["ids"]
    desk.workbench("graph", "retire", past, "--by", present)
    desk.workbench("index")

    with serving(Use("memory_search", {"query": "When does Mira pay?"}), Say("Within 14 days.")) as model:
        desk.claude("-p", "When does Mira pay?", *ALLOWED, model=model)
    (told,) = tool_results(model.seen[-1])
    found = json.loads(told)["results"]
    assert "Mira pays within 14 days" in found[0]["snippet"]
    assert found[0]["citation"].startswith("memory/graph/entities/person--mira.md#L")
    assert {each["outdatedBy"] for each in found if SAID in each["snippet"] and not each.get("retired")} <= {
        present
    }


def test_a_configuration_given_on_the_command_line_works_alone(desk: Desk) -> None:
    entry = desk.workbench("agents-md", "--mcp", "json", "--agent", "scout")["text"]
    place = desk.home / "servers.json"
    place.write_text(entry)
    with serving(Use("memory_propose", {"content": "The crane is broken"}), Say("Proposed.")) as model:
        # The name of the server is that of the sub-agent.
        model.server = "workbench-scout"
        desk.claude(
            "-p", "The crane is broken.", "--mcp-config", str(place), "--strict-mcp-config",
            "--allowedTools", "mcp__workbench-scout__memory_propose", model=model,
        )  # fmt: skip
    (proposal,) = desk.workbench("proposals")["proposals"]
    assert (proposal["from"], proposal["content"]) == ("scout", "The crane is broken")


def test_a_memory_that_is_gone_stops_nobody(desk: Desk) -> None:
    desk.workbench("connect", "claude-code", "--yes", "--prompts")
    desk.memory.rename(desk.home / "elsewhere")
    with serving(Say("Hello.")) as model:
        assert "Hello." in desk.claude("-p", "Hello!", model=model)

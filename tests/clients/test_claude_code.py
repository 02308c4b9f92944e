"""Some days of Claude Code on a connected memory: it remembers, is briefed, saves, and is corrected by a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import Desk
from tests.clients.scripted import Say, Use, serving

pytestmark = pytest.mark.clients

ALLOWED = ("--allowedTools", "mcp__workbench__memory_remember,mcp__workbench__memory_search")


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
    assert desk.workbench("search", "Mira")["results"]

    # It goes on another time; before it is compacted, what was decided is saved, once, with its place.
    with serving(Say("Fine.")) as model:
        desk.claude("-p", "--continue", "We decided to move the berth to number seven.", model=model)
    with serving(Say("<summary>They spoke of Mira and the berth.</summary>")) as model:
        desk.claude("-p", "--continue", "/compact", model=model)
    log = "".join(path.read_text() for path in (desk.memory / "memory" / "episodes").iterdir())
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

"""The server as clients run it: a process of its own, spoken to over stdin and stdout with the SDK’s own client."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from tests.mcp.conftest import HELLO, Served
from workbench.engine import Workspace

READING = {"memory_search", "memory_get", "memory_graph", "memory_core", "memory_audit"}
WRITING = {"memory_remember", "memory_forget", "memory_reflect", "memory_decide"}


async def answer(client: ClientSession, name: str, **arguments: Any) -> dict[str, Any]:
    called = await client.call_tool(name, arguments)
    assert not called.is_error, told(called)
    shaped: dict[str, Any] = called.structured_content
    assert json.loads(told(called)) == shaped
    return shaped


async def refusal(client: ClientSession, name: str, **arguments: Any) -> dict[str, Any]:
    called = await client.call_tool(name, arguments)
    assert called.is_error
    error: dict[str, Any] = json.loads(told(called))["error"]
    assert set(error) == {"kind", "message", "where", "remedy"}
    return error


def told(called: CallToolResult) -> str:
    (content,) = called.content
    assert isinstance(content, TextContent)
    return content.text


async def test_a_client_that_would_show_an_answer_twice_gets_its_text_alone(served: Served) -> None:
    async with served.session(name="openclaw-bundle-mcp") as client:
        found = await client.call_tool("memory_search", {"query": "wave study"})
        assert "gale" in json.loads(told(found))["results"][0]["snippet"]
        refused = await client.call_tool("memory_get", {"path": "../elsewhere.md"})
        assert refused.is_error
        assert json.loads(told(refused))["error"]["kind"]
        assert found.structured_content is None
        assert refused.structured_content is None


async def test_the_main_agent_reads_and_writes(served: Served) -> None:
    async with served.session() as client:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert offered == READING | WRITING | {"memory_propose"}
        kept = await answer(
            client, "memory_remember", text="Mei Chen pays the Ningbo invoices", confidence="high"
        )
        assert kept["commit"]
        assert (served.folder / kept["path"]).read_text().find("Ningbo") > 0
        found = await answer(client, "memory_search", query="who pays the Ningbo invoices?", max_results=3)
        hit = found["results"][0]
        assert "Ningbo" in hit["snippet"]
        assert {"path", "startLine", "endLine", "score", "snippet", "source"} <= set(hit)
        assert {"provider", "model", "fallback"} <= set(found)
        lines = hit["endLine"] - hit["startLine"] + 1
        read = await answer(client, "memory_get", path=hit["path"], **{"from": hit["startLine"]}, lines=lines)
        assert "Ningbo" in read["text"]
        entries = (await answer(client, "memory_audit", query="Ningbo", limit=5))["entries"]
        assert entries
        assert (await answer(client, "memory_core"))["core"]


async def test_a_sub_agent_writes_nothing(served: Served) -> None:
    async with served.session("--agent", "scout") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == READING | {"memory_propose"}
        for name in sorted(WRITING):
            assert (await refusal(client, name, text="x", query="x"))["kind"] == "role-refused"
        assert (await answer(client, "memory_search", query="tea on the ferry"))["results"]


async def test_what_a_sub_agent_proposes_waits_under_its_name(served: Served) -> None:
    async with served.session("--agent", "scout") as client:
        first = await answer(
            client, "memory_propose", content="The deadline of Harbor is March 15", entities=["project:Harbor"],
            confidence="high", trigger="read in the contract", core_worthy=True,
        )  # fmt: skip
    async with served.session("--agent", "coder") as client:
        second = await answer(client, "memory_propose", content="The deadline of Harbor is March 30")
        assert second["status"] == "conflict"
        assert second["conflictsWith"] == [f"#{first['number']}"]
        again = await answer(client, "memory_propose", content="The deadline of Harbor is March 30")
        assert again["number"] == second["number"]
    with Workspace.open(served.folder, role="reader") as workspace:
        waiting = workspace.proposals().proposals
    assert [proposal.from_ for proposal in waiting] == ["scout", "coder"]
    assert (waiting[0].confidence, waiting[0].core_worthy, waiting[0].trigger) == (
        "high",
        True,
        "read in the contract",
    )
    async with served.session() as client:
        assert any("proposals wait" in notice for notice in (await answer(client, "memory_core"))["notices"])


async def test_the_main_agent_decides_on_what_sub_agents_propose(served: Served) -> None:
    wanted = (
        "Mei Chen sails on Sundays",
        "The deadline of Harbor is March 15",
        "The deadline of Harbor is March 30",
    )
    for agent, content in zip(("scout", "scout", "coder"), wanted, strict=True):
        with Workspace.open(served.folder, role=f"agent:{agent}") as workspace:
            workspace.propose(content)
    async with served.session() as client:
        waiting = (await answer(client, "memory_decide"))["proposals"]
        assert [(each["number"], each["from"], each["content"]) for each in waiting] == [
            (1, "scout", wanted[0]), (2, "scout", wanted[1]), (3, "coder", wanted[2]),
        ]  # fmt: skip
        assert waiting[2]["conflictsWith"] == ["#2"]
        unsettled = await refusal(client, "memory_decide", numbers=[2, 3], verdict="commit")
        assert unsettled["kind"] == "refused"
        assert "keep-both" in unsettled["remedy"]
        await answer(client, "memory_decide", numbers=[3], verdict="reject")
        done = await answer(client, "memory_decide", numbers=[1, 2], verdict="commit")
        assert done["committed"] == [1, 2]
        assert (await answer(client, "memory_decide"))["proposals"] == []
        gone = await refusal(client, "memory_decide", numbers=[1], verdict="commit")
        assert gone["kind"] == "not-found"


@pytest.mark.parametrize("proposer", ["main", "person"])
async def test_the_main_agent_decides_on_nothing_of_its_own_or_of_a_person(
    served: Served, proposer: str
) -> None:
    with Workspace.open(served.folder, role=proposer) as workspace:
        workspace.propose("The deadline of Harbor is March 15")
    with Workspace.open(served.folder, role="agent:coder") as workspace:
        workspace.propose("The deadline of Harbor is March 30")
    async with served.session() as client:
        for numbers, verdict in (([1], "commit"), ([1, 2], "reject"), ([2], "keep-both"), ([1], "defer")):
            refused = await refusal(client, "memory_decide", numbers=numbers, verdict=verdict)
            assert refused["kind"] == "role-refused"
        assert len((await answer(client, "memory_decide"))["proposals"]) == 2


async def test_forgetting_shows_first_and_archives_what_was_agreed_to(served: Served) -> None:
    async with served.session() as client:
        shown = await answer(client, "memory_forget", query="tea on the ferry")
        assert shown["matches"]
        assert not shown["applied"]
        with Workspace.open(served.folder, role="reader") as workspace:
            head = workspace.head()
        again = await answer(client, "memory_forget", query="tea", ids=[shown["matches"][0]["id"]])
        assert again["applied"]
        assert again["commit"] != head
    with Workspace.open(served.folder, role="person") as workspace:
        workspace.restore(again["ids"][0])


async def test_scratch_that_shows_what_was_remembered_last(served: Served) -> None:
    async with served.session() as client:
        said = await answer(client, "memory_remember", text="The pier is closed on Sundays")
        shown = await answer(client, "memory_forget", query="Scratch that.")
        assert [match["id"] for match in shown["matches"]] == [said["id"]]
        assert not shown["applied"]
        again = await answer(client, "memory_forget", ids=[said["id"]])
        assert again["applied"]
        assert (await answer(client, "memory_forget", query="Scratch that."))["matches"] == []


async def test_the_log_answers_the_users_own_questions(served: Served) -> None:
    async with served.session() as client:
        changed = await answer(client, "memory_audit", query="What changed recently?", limit=3)
        assert 0 < len(changed["entries"]) <= 3 <= changed["total"]
        missed = await answer(client, "memory_audit", query="Why did you forget about the wave study?")
        assert missed["memories"][0]["reason"]
        assert missed["entries"] == []
        unclear = await answer(client, "memory_audit", query="Revert my memory to before the storm")
        assert unclear["command"] is None
        assert "names no day" in unclear["reason"]


async def test_reflecting_hands_out_tasks_and_leaves_the_decision(served: Served) -> None:
    async with served.session() as client:
        told = await answer(client, "memory_reflect")
        assert set(told) >= {"task", "phase", "instructions", "material", "schema", "remaining"}
        wrong = await refusal(
            client, "memory_reflect", answer={"task": told["task"], "answer": {"facts": []}}
        )
        assert "has not the form" in wrong["message"]
        while "task" in told:
            given = {"task": told["task"], "model": "test-model", "answer": {"items": []}}
            told = await answer(client, "memory_reflect", answer=given)
        assert told["ok"] is True
    with Workspace.open(served.folder, role="reader") as workspace:
        assert {item.decision for item in workspace.review().items} <= {"undecided"}


async def test_while_a_proposal_waits_nothing_is_handed_out(served: Served) -> None:
    with Workspace.open(served.folder, role="person") as workspace:
        proposed = workspace.reflect()
    assert proposed.id
    async with served.session() as client:
        waiting = await refusal(client, "memory_reflect")
    assert "Tell the user" in waiting["remedy"]
    assert f"It proposes {len(proposed.ids)} under “" in waiting["message"] or "; " in waiting["message"]


async def test_an_error_names_what_the_agent_itself_can_call(served: Served) -> None:
    async with served.session() as client:
        for name, arguments in (
            ("memory_graph", {"entity": "Nobody at all"}),
            ("memory_forget", {"ids": ["episode:1999-01-01:10:00"]}),
        ):
            assert (await refusal(client, name, **arguments))["remedy"] == "Find its id with: memory_search"


async def test_an_answer_fits_the_budget_that_was_asked_for(served: Served) -> None:
    from workbench.engine.tokens import count_tokens

    async with served.session() as client:
        for budget in (150, 300, 2000):
            called = await client.call_tool(
                "memory_search", {"query": "what did we decide", "budget": budget}
            )
            assert called.structured_content["results"]
            assert count_tokens(told(called)) <= budget


async def test_memory_is_there_as_resources(served: Served) -> None:
    async with served.session() as client:
        listed = (await client.list_resources()).resources
        assert listed[0].uri == "memory://core"
        for resource in listed:
            assert (await client.read_resource(resource.uri)).contents
        for uri in (
            "memory://files/workbench.toml",
            "memory://files/..%2F..%2Fetc%2Fpasswd",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


async def test_the_prompt_gives_the_instructions(served: Served) -> None:
    async with served.session("--agent", "scout") as client:
        (prompt,) = (await client.list_prompts()).prompts
        (message,) = (await client.get_prompt(prompt.name)).messages
        assert isinstance(message.content, TextContent)
        assert "sub-agent scout" in message.content.text


def test_stdout_carries_the_protocol_alone_and_a_hang_up_ends_it(served: Served) -> None:
    command, arguments = served.command()
    call = {
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "memory_remember", "arguments": {"text": "Harbor uses MapLibre"}},
    }  # fmt: skip
    messages = (HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call)
    said = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    # What is asked before the client hangs up is still answered.
    done = subprocess.run(
        [command, *arguments], input=said + b"this is no JSON\n\xff\xfe\n", capture_output=True, timeout=60
    )
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 2}


def test_a_line_that_is_no_message_is_answered(served: Served) -> None:
    """A client would wait for an answer in vain."""
    lines = (
        b"this is no JSON", b"[" * 200_000, b"\xff\xfe", b"[1, 2]", b"",
        b'{"jsonrpc": "2.0", "method": "notifications/of/no/sort", "params": 5}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "id": "three", "method": 5}',
        b'{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}',
        (b'{"jsonrpc": "2.0", "id": 4, "method": "tools/call", '
        b'"params": {"name": "memory_search", "arguments": {"query": "half a smile \\ud83d"}}}'),
        b'{"jsonrpc": "2.0", "id": 5, "method": "ping"}',
    )  # fmt: skip
    command, arguments = served.command()
    said = json.dumps(HELLO).encode() + b"\n" + b"".join(line + b"\n" for line in lines)
    done = subprocess.run([command, *arguments], input=said, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 5}
    refused = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
    assert refused == [
        (None, -32700), (None, -32700), (None, -32700), (None, -32600),
        (2, -32600), ("three", -32600), (None, -32600), (4, -32600),
    ]  # fmt: skip
    assert "half a character" in next(answer["error"]["message"] for answer in answers if answer["id"] == 4)


def test_a_client_that_is_gone_midway_leaves_whole_changes_and_no_alarm(served: Served) -> None:
    command, arguments = served.command()
    calls = [
        {
            "jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": "memory_remember", "arguments": {"text": f"Boat {number} sails", "store": "episodic"}},
        }
        for number in range(2, 22)
    ]  # fmt: skip
    said = (HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *calls)
    with subprocess.Popen(
        [command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in said))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""
    with Workspace.open(served.folder) as workspace:
        assert workspace.audit_verify().ok


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(served: Served, number: signal.Signals) -> None:
    command, arguments = served.command()
    with subprocess.Popen(
        [command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        os.kill(process.pid, number)
        assert process.wait(20) == 0
        assert process.stderr
        assert process.stderr.read() == b""


_LATE_HANDLER = """
import os, signal
from workbench.mcp import stdio
from workbench.mcp.server import Busy

# Stands for a handler that comes too late: the main thread has looked for signals and is about to wait.
signal.signal(signal.SIGTERM, lambda number, frame: None)
with stdio._wire(Busy()) as (wire, hang_up):
    os.kill(os.getpid(), signal.SIGTERM)
    print("ended" if wire.read() == "" else "heard something")
"""


def test_a_signal_ends_reading_before_its_handler_runs() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _LATE_HANDLER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.wait(20) == 0
        assert process.stdout
        assert process.stdout.read() == b"ended\n"


def test_a_person_who_starts_it_by_hand_is_told_what_it_is(served: Served) -> None:
    command, arguments = served.command()
    person, terminal = pty.openpty()
    with subprocess.Popen(
        [command, *arguments], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        os.close(terminal)
        assert process.stdout
        assert process.stderr
        line = process.stderr.readline().decode()
        assert all(told in line for told in ("Model Context Protocol", "agents-md --mcp", "Ctrl-C"))
        os.write(person, b"\x04")
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
        assert process.stderr.read() == b""
    os.close(person)


def test_what_cannot_be_served_is_said(tmp_path: Path, served: Served) -> None:
    command, arguments = served.command("--agent", "No Name")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "cannot be the name of an agent" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("set_", "words"),
    [("agent:scout", ["--agent", "coder"]), ("agent:scout", ["--role", "main"]), ("", ["--role", "person"])],
)
def test_nobody_is_served_in_a_role_that_was_not_given(
    served: Served, monkeypatch: pytest.MonkeyPatch, set_: str, words: list[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_ROLE", set_)
    command, arguments = served.command(*words)
    done = subprocess.run([command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 5
    assert not done.stdout


async def test_the_environment_may_give_the_role(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_ROLE", "agent:scout")
    async with served.session() as client:
        assert "memory_remember" not in {tool.name for tool in (await client.list_tools()).tools}


async def test_bytes_that_are_no_text_are_answered_with_marks_in_their_place(served: Served) -> None:
    (served.folder / "MEMORY.md").write_bytes(b"# Core\n\n## Critical Facts\n- M\xfcller pays\n")
    async with served.session() as client:
        for tool, given in (("memory_core", {}), ("memory_get", {"path": "MEMORY.md"})):
            answer = await client.call_tool(tool, given)
            assert "M\ufffdller pays" in str(answer.content)
        read = await client.read_resource("memory://core")
        assert "M\ufffdller pays" in str(read.contents)
        assert (await client.call_tool("memory_core", {})).content

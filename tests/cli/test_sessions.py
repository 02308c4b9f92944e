"""The commands about sessions on a real workspace: shapes of JSON, what people read, and foreign state."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.engine.sessions.transcript_files import chain, write


@pytest.fixture
def program(program: Program) -> Program:
    """Run command lines in this process: what they answer is looked at."""
    return replace(program, here=True)


@pytest.fixture
def talked(agent: Program) -> Program:
    agent.json("sessions", "append", "main", "Remember that the ferry is called Visborg.")
    agent.json("sessions", "append", "main", "--speaker", "assistant", "Noted.", "--total-tokens", "180000")
    return agent


def test_a_list_with_gauges(talked: Program) -> None:
    answer = talked.json("sessions")
    assert set(answer) >= {"sessions", "where", "source", "problems"}
    (row,) = answer["sessions"]
    assert set(row) >= {
        "key",
        "kind",
        "agent",
        "channel",
        "sessionId",
        "updated",
        "fresh",
        "expires",
        "transcript",
        "sizeBytes",
        "flush",
    }
    assert set(row["flush"]) >= {
        "due",
        "reason",
        "tokens",
        "window",
        "threshold",
        "compactionAt",
        "compactions",
    }
    told = talked.run("sessions").stdout
    assert "what matters is not saved yet" in told
    assert "save it with: workbench sessions flush agent:main:main" in told


def test_without_any_it_says_so(agent: Program) -> None:
    assert agent.json("sessions", code=3)["sessions"] == []


def test_a_conversation_is_shown_and_a_line_found_by_its_citation(talked: Program) -> None:
    answer = talked.json("sessions", "show", "main")
    assert [line["role"] for line in answer["lines"]] == [None, "user", "assistant"]
    cited = answer["lines"][1]["citation"]
    (line, *_) = talked.json("sessions", "show", cited, "--lines", "1")["lines"]
    assert line["text"] == "Remember that the ferry is called Visborg."
    assert "2  you" in talked.run("sessions", "show", "main").stdout
    assert talked.json("sessions", "show", "nobody", code=3)["error"]["kind"] == "not-found"


def test_a_flush_is_checked_and_done_once(talked: Program) -> None:
    assert talked.json("sessions", "flush", "main", "--check")["due"] is True
    # How full it is reads without colour.
    assert f"{'━' * 18}──  flush due" in talked.run("sessions", "flush", "main", "--check").stdout
    done = talked.json("sessions", "flush", "main")
    assert done["flushed"] is True
    (saved,) = done["saved"]
    assert talked.json("show", saved["id"])["provenance"][0] == saved["citation"]
    assert talked.json("sessions", "flush", "main")["flushed"] is False


def test_a_session_is_compacted_shown_and_reset(talked: Program) -> None:
    assert talked.json("sessions", "compact", "main", "--keep", "0")["line"] is not None
    context = talked.json("sessions", "context", "main")
    assert context["messages"][0]["synthetic"] is True
    assert "summary" in talked.run("sessions", "context", "main").stdout
    begun = talked.json("sessions", "reset", "main")
    assert begun["previousTranscript"]
    assert talked.json("sessions", "repair", "main")["repairs"] == []
    assert talked.json("sessions", "recover", "main")["action"] == "rotated"


def test_a_foreign_store_is_read_and_stays_as_it_is(agent: Program, tmp_path: Path) -> None:
    folder = write(tmp_path / "claw" / "7d0c.jsonl", *chain("one \x1b[31m", "two"), b"garbage").parent
    (folder / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "7d0c"}}))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert agent.json("sessions", "--from", str(folder))["source"] == "files"
    shown = agent.json("sessions", "show", "main", "--from", str(folder))
    assert [problem["line"] for problem in shown["problems"]] == [4]
    told = agent.run("sessions", "show", "main", "--from", str(folder)).stdout
    assert "\x1b[31m" not in told
    assert "This line cannot be read: is no JSON" in told
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_show_tells_where_a_line_of_a_conversation_is_read(talked: Program) -> None:
    line = "file:sessions/7d0c.jsonl#L12"
    refused = talked.run("show", line)
    assert refused.returncode == 5
    assert f"workbench sessions show {line}" in " ".join(refused.stderr.split())


def test_a_direct_conversation_names_the_session_it_joined_and_a_sender_may_be_refused(
    talked: Program,
) -> None:
    assert talked.json("sessions", "append", "telegram:direct:42", "Hello")["key"] == "agent:main:main"
    done = talked.json("sessions", "append", "telegram:group:7", "/new", "--sender", "telegram:42")
    assert "sessions.reset_senders" in done["warnings"][0]
    refused = talked.json("sessions", "reset", "main", "--sender", "telegram:43", code=5)
    assert "sessions.reset_senders" in refused["error"]["remedy"]


def test_a_context_is_made_fit_for_a_model(agent: Program, tmp_path: Path) -> None:
    place = write(tmp_path / "a.jsonl", *chain("one", "two"))
    lines = place.read_text().splitlines()
    sealed = {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"}
    entry = json.loads(lines[2])
    entry["message"] |= {"content": [sealed], "provider": "anthropic", "model": "claude"}
    place.write_text("\n".join((*lines[:2], json.dumps(entry))) + "\n")
    asked = ("sessions", "context", "a", "--from", str(place))
    as_it_is = agent.json(*asked)["messages"][1]["message"]["content"]
    fit = agent.json(*asked, "--provider", "google", "--model", "gemini-3")["messages"][1]["message"][
        "content"
    ]
    assert as_it_is == [sealed]
    assert fit == [{"type": "text", "text": "hm"}]

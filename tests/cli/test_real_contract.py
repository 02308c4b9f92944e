"""The contract of the shell on a real workspace: shapes of JSON, exit codes, where options and errors stand."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program

MUTATION = {"ok", "commit", "files", "ids"}
LENA = "entity:person--lena"


@pytest.fixture
def lived_in(agent: Program) -> Program:
    """Give a workspace with one memory that says two things."""
    said = ("Lena develops Apollo", "--entity", "person:Lena", "--entity", "project:Apollo")
    assert agent.inside("remember", *said).exit_code == 0
    return agent


@pytest.fixture
def answering(lived_in: Program) -> Program:
    """Give the same, for what is answered, where the process does not matter."""
    return replace(lived_in, here=True)


def test_answers_have_the_shapes_of_the_contract(answering: Program) -> None:
    said = answering.json(
        "remember", "We chose the hybrid approach", "--store", "episodic", "--tag", "design"
    )
    assert set(said) >= MUTATION | {
        "id", "store", "path", "router", "tags", "confidence", "entities", "relations", "coreUpdate",
        "summary", "heldBack",
    }  # fmt: skip
    found = answering.json("search", "hybrid")
    assert set(found) >= {"results", "provider", "model", "fallback", "likelyAbsent", "tookMs"}
    assert set(found["results"][0]) >= {
        "id", "path", "startLine", "endLine", "snippet", "score", "store", "status", "signals",
    }  # fmt: skip
    assert set(found["results"][0]["signals"]) >= {"vector", "text", "graph", "decay"}
    assert set(answering.json("get", "MEMORY.md")) >= {"path", "text", "from", "lines"}
    shown = answering.json("show", "Lena")
    assert set(shown) >= {
        "id", "store", "path", "startLine", "endLine", "text", "score", "provenance", "validity", "links",
        "history",
    }  # fmt: skip
    assert set(shown["score"]) >= {"value", "raw", "status", "terms"}
    assert set(shown["validity"]) >= {"from", "until", "supersededBy"}
    assert set(shown["links"]) >= {"to", "from"}
    assert set(shown["history"][0]) >= {"commit", "timestamp", "actor", "approval", "summary"}
    why = answering.json("show", "Lena", "--why")
    assert set(why) >= {
        "id", "title", "basis", "said", "told", "lost", "more", "written", "usedBy", "status", "falls",
    }  # fmt: skip
    core = answering.json("core")
    assert set(core) >= {"blocks", "tokens", "cap"}
    assert set(core["blocks"][0]) >= {"name", "tokens", "budget", "items"}
    decay = answering.json("decay")
    assert set(decay) >= {"now", "lambda", "entries"}
    assert set(decay["entries"][0]) >= {
        "id", "store", "base", "typeWeight", "accessCount", "created", "lastAccessed", "pinned", "raw",
        "score", "status",
    }  # fmt: skip
    graph = answering.json("graph", "Lena")
    assert set(graph) >= {"center", "nodes", "edges"}
    assert set(graph["nodes"][0]) >= {"id", "type", "label", "score", "hop"}
    assert set(graph["edges"][0]) >= {
        "from", "relation", "to", "confidence", "firstSeen", "lastAccessed",
    }  # fmt: skip
    entries = answering.json("audit", "log")["entries"]
    assert set(entries[0]) >= {"timestamp", "action", "file", "actor", "approval", "summary", "commit"}
    assert said["commit"].startswith(entries[0]["commit"])
    assert set(answering.json("audit", "verify")) >= {"ok", "problems", "commits", "entries"}
    preview = answering.json("forget", "hybrid", code=5)
    assert set(preview["matches"][0]) >= {"id", "store", "path", "snippet", "score"}


def test_every_time_in_json_has_a_zone(answering: Program) -> None:
    entry = answering.json("decay")["entries"][0]
    for time in (
        answering.json("audit", "log")["entries"][0]["timestamp"],
        answering.json("decay")["now"],
        entry["created"],
        entry["lastAccessed"],
        answering.json("show", LENA)["history"][0]["timestamp"],
    ):
        assert time.endswith("Z")


class TestWhereOptionsStand:
    def test_before_and_after_the_command_and_in_the_environment(
        self, lived_in: Program, tmp_path: Path
    ) -> None:
        away = Program(tmp_path, lived_in.home)
        place = str(lived_in.folder)
        named = away.with_environment(WORKBENCH_WORKSPACE=place)
        answers = [
            away.run("--json", "-w", place, "core"),
            away.run("core", "--json", "--workspace", place),
            away.run("-w", place, "core", "show", "--json"),
            named.run("--json", "core"),
        ]
        assert {done.returncode for done in answers} == {0}
        assert len({done.stdout for done in answers}) == 1
        assert {done.stderr for done in answers} == {""}

    def test_what_is_said_beats_the_environment(self, lived_in: Program, tmp_path: Path) -> None:
        away = Program(tmp_path, lived_in.home).with_environment(WORKBENCH_WORKSPACE=str(tmp_path / "no"))
        assert away.json("core", code=3)["error"]["kind"] == "not-found"
        assert away.json("core", "-w", str(lived_in.folder))["blocks"]


FAILURES = [
    (["search"], 2, "usage"),
    (["nonsense"], 2, "usage"),
    (["audit", "log", "--since", "some day"], 2, "invalid-input"),
    (["graph", "link", "Lena", "no-such-relation", "Apollo"], 2, "invalid-input"),
    (["show", "nobody-we-know"], 3, "not-found"),
    (["get", "memory/none.md"], 3, "not-found"),
    (["audit", "show", "abcdef0"], 3, "not-found"),
    (["audit", "ack", "a-none"], 3, "not-found"),
    (["revert", "abcdef0"], 3, "not-found"),
    (["core", "set", "No such block", "x"], 3, "not-found"),
    (["forget", LENA], 5, "confirmation-needed"),
    (["forget", LENA, "--hard"], 5, "confirmation-needed"),
    (["doctor", "--set-aside-history"], 5, "confirmation-needed"),
    (["get", "../home/secret.md"], 5, "outside-workspace"),
    (["open"], 1, "no-terminal"),
]


def test_every_failure_is_json_on_stdout_with_its_exit_code(lived_in: Program) -> None:
    before = lived_in.files()
    for words, code, kind in FAILURES:
        done = lived_in.inside(*words, "--json")
        assert (done.exit_code, done.stderr) == (code, ""), (words, done.output)
        error = json.loads(done.stdout)["error"]
        assert set(error) == {"kind", "message", "where", "remedy"}
        assert error["kind"] == kind, words
    assert lived_in.files() == before


class TestTwoAtOnce:
    @pytest.fixture
    def held(self, lived_in: Program) -> Iterator[Program]:
        """Hold the writer's lock, as another program would that is writing for long."""
        lock = lived_in.folder / ".audit" / "workbench.lock"
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write('{"pid":"4711","program":"other","actor":"bot:main","since":"2026-02-02T14:29:00Z"}\n')
            file.flush()
            yield lived_in.with_environment(WORKBENCH_HISTORY_LOCK_TIMEOUT="0.1")

    def test_who_waits_too_long_hears_who_holds_the_lock(self, held: Program) -> None:
        error = held.json("remember", "We chose tea", "--store", "episodic", code=4)["error"]
        assert error["kind"] == "locked"
        assert "other (process 4711, bot:main)" in error["message"]
        told = held.run("core", "add", "Identity", "Name: Lena")
        assert told.returncode == 4
        assert "process 4711" in " ".join(told.stderr.split())

    def test_reading_does_not_wait(self, held: Program) -> None:
        for words in (["core"], ["search", "Apollo"], ["show", LENA], ["graph"], ["decay"], ["audit"]):
            assert held.run(*words).returncode == 0, words

    def test_of_many_lines_each_says_so_itself(self, held: Program) -> None:
        done = held.run("remember", "--jsonl", stdin='{"text":"one"}\n{"text":"two"}\n')
        kinds = [json.loads(line)["error"]["kind"] for line in done.stdout.splitlines()]
        assert kinds == ["locked", "locked"]
        assert done.returncode == 1


HOSTILE = [
    "../home/secret.md", "/etc/passwd", "memory/../../home/secret.md", "./../home/secret.md",
    ".audit/HEAD", ".audit/config", "memory/link.md", "memory/folder/secret.md", "memory", "", "~/secret.md",
    "memory\\..\\..\\home\\secret.md", "file:///etc/passwd", "workbench.toml/../../home/secret.md",
]  # fmt: skip


class TestPaths:
    def test_nothing_but_memory_files_is_read_through_any_path(self, agent: Program) -> None:
        (agent.home / "secret.md").write_text("the secret\n")
        (agent.folder / "memory" / "link.md").symlink_to(agent.home / "secret.md")
        (agent.folder / "memory" / "folder").symlink_to(agent.home)
        for path in HOSTILE:
            done = agent.inside("get", path, "--json")
            assert done.exit_code in {2, 3, 5}, (path, done.stdout)
            assert "the secret" not in done.stdout + done.stderr
            assert "error" in json.loads(done.stdout)

    def test_nor_is_anything_written_through_them(self, agent: Program) -> None:
        (agent.home / "secret.md").write_text("the secret\n")
        (agent.folder / "memory" / "link.md").symlink_to(agent.home / "secret.md")
        for path in ("../home/secret.md", "memory/link.md", ".audit/HEAD"):
            assert agent.inside("edit", path, "--text", "mine").exit_code in {2, 3, 5}
        assert (agent.home / "secret.md").read_text() == "the secret\n"


class TestLines:
    def lines(self, *memories: dict[str, Any]) -> str:
        return "".join(json.dumps(memory) + "\n" for memory in memories)

    def test_options_of_a_line_arrive_and_each_has_its_commit(self, agent: Program) -> None:
        done = agent.run(
            "remember", "--jsonl", "--source", "conversation",
            stdin=self.lines(
                {"text": "We chose tea", "store": "episodic", "type": "decision", "tags": ["drinks"]},
                {"text": "Lena owns Apollo", "entity": ["person:Lena", "project:Apollo"], "actor": "skill:x"},
            ),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        first, second = (json.loads(line) for line in done.stdout.splitlines())
        assert first["store"] == "episodic"
        assert "drinks" in first["tags"]
        assert {entity["id"] for entity in second["entities"]} >= {LENA, "entity:project--apollo"}
        assert first["commit"] != second["commit"]
        assert agent.json("audit", "show", second["commit"])["actor"] == "skill:x"

    def test_a_dry_run_of_many_writes_nothing(self, agent: Program) -> None:
        before = agent.files()
        done = agent.run(
            "remember", "--jsonl", "--dry-run", stdin=self.lines({"text": "one"}, {"text": "two"})
        )
        assert [json.loads(line)["commit"] for line in done.stdout.splitlines()] == [None, None]
        assert agent.files() == before

    def test_one_line_of_many_may_be_a_dry_run(self, agent: Program) -> None:
        tried, kept, vague = (
            {"text": "one", "dry-run": True}, {"text": "two", "dry-run": False}, {"text": "six", "dry-run": 1},
        )  # fmt: skip
        done = agent.run("remember", "--jsonl", stdin=self.lines(tried, kept, vague))
        first, second, third = (json.loads(line) for line in done.stdout.splitlines())
        assert (first["dryRun"], first["commit"], first["id"]) == (True, None, second["id"])
        assert second["commit"]
        assert (third["error"]["where"], done.returncode) == ("line 3", 1)

"""A day with each client: what is said is kept, told, reflected on, corrected by a person in the bench, and found."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Desk
from tests.clients.scripted import Loop, Model, Say, Turn, Use, serving, tool_results

pytestmark = pytest.mark.clients

FACT = "Mira pays within 30 days"
CORRECTED = "Mira pays within 14 days"
DECIDED = "We decided to move the berth to number seven."
# What a client counts as too much, so that it compacts the conversation; what is said costs far less.
FULL = 1_000_000


class Client:
    """How a client is set up, asked and made to compact.

    Args:
        desk: Whose it is.
    """

    name = ""
    tokens = FULL

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def configure(self, model: Model) -> None:
        """Let it talk to a model; what is in its configuration besides stays."""

    def ask(self, model: Model, words: str, session: str, *, again: bool = False) -> None:
        """Say something in a session, a new one unless it was spoken in before."""
        raise NotImplementedError

    def compact(self, session: str) -> None:
        """Have a session compacted."""
        raise NotImplementedError

    def reflection(self) -> Loop:
        """Return how its model reflects."""
        return Loop("memory_reflect", reflecting)

    @contextmanager
    def talking(self, *script: Turn) -> Iterator[Model]:
        with serving(*script) as model:
            self.configure(model)
            yield model


class ClaudeCode(Client):
    name = "claude-code"
    tokens = 10  # it is told when to compact
    tools = ("memory_remember", "memory_search", "memory_get", "memory_reflect")

    def ask(self, model: Model, words: str, session: str, *, again: bool = False) -> None:
        allowed = ",".join(f"mcp__workbench__{tool}" for tool in self.tools)
        goes_on = ("--continue",) if again else ()
        self.desk.claude("-p", *goes_on, words, "--allowedTools", allowed, model=model)

    def compact(self, session: str) -> None:
        with self.talking(Say("<summary>They spoke of Mira and the berth.</summary>")) as model:
            self.ask(model, "/compact", session, again=True)


class Codex(Client):
    name = "codex"
    run = (
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
    )

    def configure(self, model: Model) -> None:
        place = self.desk.home / ".codex" / "config.toml"
        place.parent.mkdir(exist_ok=True)
        text = place.read_text() if place.exists() else CODEX
        place.write_text(re.sub(r"http://127\.0\.0\.1:\d+", model.url, text))

    def ask(self, model: Model, words: str, session: str, *, again: bool = False) -> None:
        goes_on = ("resume", "--last") if again else ()
        self.desk.codex("exec", *goes_on, *self.run, words)

    def compact(self, session: str) -> None:
        with self.talking(Say("They spoke of Mira and the berth."), Say("Yes.")) as model:
            self.ask(model, "Really?", session, again=True)


CODEX = """\
model = "scripted"
model_provider = "scripted"
model_context_window = 200000
model_auto_compact_token_limit = 150000

[model_providers.scripted]
name = "Scripted"
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


class OpenClaw(Client):
    name = "openclaw"

    def configure(self, model: Model) -> None:
        place = self.desk.home / ".openclaw" / "openclaw.json"
        place.parent.mkdir(exist_ok=True)
        if place.exists():
            place.write_text(re.sub(r"http://127\.0\.0\.1:\d+", model.url, place.read_text()))
            return
        one = {
            "id": "one",
            "name": "One",
            "reasoning": False,
            "input": ["text"],
            "contextWindow": 200_000,
            "maxTokens": 4096,
        }
        provider = {
            "baseUrl": model.url,
            "apiKey": "sk-scripted",
            "api": "anthropic-messages",
            "models": [one],
        }
        agents = {"model": {"primary": "scripted/one"}, "workspace": str(self.desk.project)}
        told = {"models": {"providers": {"scripted": provider}}, "agents": {"defaults": agents}}
        place.write_text(json.dumps(told, indent=2))

    def ask(self, model: Model, words: str, session: str, *, again: bool = False) -> None:
        self.desk.openclaw("agent", "--local", "--agent", "main", "--session-id", session, "--message", words)

    def compact(self, session: str) -> None:
        with self.talking(Say("They spoke of Mira and the berth."), Say("Yes.")) as model:
            self.ask(model, "Really?", session)

    def reflection(self) -> Loop:
        # What a tool of a server tells is cut after 20,000 characters, so it goes by the shell, as its skill says.
        task, answer = self.desk.project / "task.json", self.desk.project / "answer.json"
        command = f"{sys.executable} -m workbench --workspace {self.desk.memory} reflect --json"

        def step(_: str) -> dict[str, Any] | None:
            if not task.exists():
                return {"command": f"{command} --hand-out > {task}"}
            given = reflecting(task.read_text())
            if given is None:
                return None
            answer.write_text(json.dumps(given["answer"]))
            return {"command": f"{command} --take-in {answer} > {task}.new; mv {task}.new {task}"}

        return Loop("exec", step)


class OpenCode(Client):
    name = "opencode"

    def configure(self, model: Model) -> None:
        place = self.desk.home / ".config" / "opencode" / "opencode.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.write_text(re.sub(r"http://127\.0\.0\.1:\d+", model.url, place.read_text()))
            return
        provider = {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": f"{model.url}/v1", "apiKey": "sk-scripted"},
            "models": {"one": {"name": "One", "limit": {"context": 200_000, "output": 4096}}},
        }
        # It writes the first line itself where that is missing.
        told = {
            "$schema": "https://opencode.ai/config.json",
            "provider": {"scripted": provider},
            "model": "scripted/one",
            "autoupdate": False,
        }
        place.write_text(json.dumps(told, indent=2))

    def ask(self, model: Model, words: str, session: str, *, again: bool = False) -> None:
        goes_on = ("--continue",) if again else ()
        self.desk.opencode("run", *goes_on, words)

    def compact(self, session: str) -> None:
        with self.talking(Say("They spoke of Mira and the berth."), Say("Yes.")) as model:
            self.ask(model, "Really?", session, again=True)


@pytest.fixture(params=[ClaudeCode, Codex, OpenClaw, OpenCode], ids=lambda client: str(client.name))
def client(request: pytest.FixtureRequest, desk: Desk) -> Client:
    found: Client = request.param(desk)
    return found


def reflecting(told: str) -> dict[str, Any] | None:
    """Answer a task as a model does that has read it: one fact, where it is asked for facts, and nothing else."""
    if not told:
        return {}
    task = json.loads(told)
    if "task" not in task:
        return None
    items: list[dict[str, Any]] = []
    passages = next((part["text"] for part in task["material"] if part["id"] == "passages"), "")
    for line in passages.splitlines() if task["phase"] == "consolidate" else ():
        if FACT in line and not items:
            evidence = [{"ref": line.partition(" ")[0], "quote": FACT}]
            items = [
                {
                    "kind": "fact", "about": "person--mira", "text": FACT, "since": "", "replaces": "",
                    "confidence": "high", "reason": "It was said plainly.", "evidence": evidence,
                }
            ]  # fmt: skip
    return {"answer": {"task": task["task"], "model": "scripted-1", "answer": {"items": items}}}


@dataclass(frozen=True)
class Line:
    """A line of memory that an answer names."""

    path: str
    number: int
    text: str

    @classmethod
    def cited(cls, memory: Path, citation: str) -> Line:
        path, _, lines = citation.partition("#L")
        number = int(lines.partition("-")[0])
        return cls(path, number, (memory / path).read_text().splitlines()[number - 1])


def test_a_day(client: Client) -> None:
    desk = client.desk
    with client.talking():
        pass
    before = desk.configurations()
    desk.workbench("connect", client.name, "--yes")

    # Something is said, and remembered.
    remember = Use(
        "memory_remember",
        {"text": FACT, "confidence": "high", "entities": ["person:Mira"], "store": "episodic"},
    )
    with client.talking(remember, Say("Noted.")) as model:
        client.ask(model, f"{FACT}.", "one")
    assert desk.search("When does Mira pay?")

    # The conversation goes on, and is compacted; before, what was decided is saved, once, with the line it stands in.
    with client.talking(Say("Fine.")) as model:
        model.tokens = client.tokens
        client.ask(model, DECIDED, "one", again=True)
    client.compact("one")
    log = desk.log("move the berth to number seven")
    assert log.count("move the berth to number seven") == 1
    assert "from:[file:sessions/" in log

    # A second session begins with both; its model reflects, and decides on nothing.
    with client.talking(client.reflection(), Say("It waits for you.")) as model:
        client.ask(model, "Please reflect.", "two")
        first = json.dumps(model.seen[0], ensure_ascii=False)
    assert FACT in model.text()
    assert "berth to number seven" in model.text()
    assert "kept by Workbench" in first or "kept by Workbench" in model.text()
    (proposed,) = (item for item in desk.workbench("review")["items"] if item["after"] == FACT)
    assert proposed["decision"] == "undecided"
    assert "scripted-1" in (desk.memory / "memory" / "meta" / "pending-reflection.md").read_text()

    # A person approves it in the bench, and writes what is true.
    desk.bench(FACT, CORRECTED)
    assert CORRECTED in (desk.memory / "memory" / "graph" / "entities" / "person--mira.md").read_text()

    # A third session gets the corrected answer first, and follows it to its line.
    read: dict[str, Any] = {}

    def follow(told: str) -> dict[str, Any] | None:
        if not told or "results" not in (found := json.loads(told)):
            return None
        read.update(found)
        path, _, line = found["results"][0]["citation"].partition("#L")
        return {"path": path, "from": int(line.partition("-")[0]), "lines": 12}

    desk.workbench("index")
    search = Use("memory_search", {"query": "When does Mira pay?"})
    with client.talking(search, Loop("memory_get", follow), Say("Within 14 days.")) as model:
        client.ask(model, "When does Mira pay?", "three")
    results = read["results"]
    assert CORRECTED in results[0]["snippet"]
    assert "outdatedBy" not in results[0]
    (old,) = (each for each in results if each["id"].startswith("episode:") and FACT in each["snippet"])
    assert old["outdatedBy"] == results[0]["approvedAs"]
    assert CORRECTED in tool_results(model.seen[-1])[-1]
    told = next(
        line
        for line in (desk.memory / Line.cited(desk.memory, results[0]["citation"]).path)
        .read_text()
        .splitlines()
        if FACT in line and "superseded by" in line
    )
    assert old["id"] in told
    assert FACT in Line.cited(desk.memory, old["citation"]).text
    assert desk.workbench("audit", "verify")["ok"]

    desk.workbench("disconnect", client.name, "--yes")
    if client.name != "claude-code":  # it writes its own configuration all the time; see its own test
        ports = re.compile(rb":[0-9]{4,5}")
        left = {place: ports.sub(b"", content) for place, content in desk.configurations().items()}
        assert left == {place: ports.sub(b"", content) for place, content in before.items()}

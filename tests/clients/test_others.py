"""Codex CLI runs a session on what was written, and every client reads it as it was meant."""

from __future__ import annotations

import json
import socket
import sys

import pytest

from tests.clients.conftest import Desk, until
from tests.clients.scripted import Model, Say, Use, serving
from tests.clients.test_day import OpenClaw

pytestmark = pytest.mark.clients

CONFIG = """\
model = "scripted" # mine
model_provider = "scripted"

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
RUN = (
    "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox",
)  # fmt: skip


def configure(desk: Desk, model: Model) -> None:
    (desk.home / ".codex").mkdir(exist_ok=True)
    (desk.home / ".codex" / "config.toml").write_text(CONFIG.format(url=model.url))


def test_two_sessions_of_codex(desk: Desk) -> None:
    desk.workbench("core", "add", "Critical Facts", "Mira pays within 30 days")
    with serving(Use("memory_remember", {"text": "The berth is number seven"}), Say("Noted.")) as model:
        configure(desk, model)
        before = desk.configurations()
        desk.workbench("connect", "codex", "--yes", "--prompts")
        desk.codex(*RUN, "Please note that the berth is number seven.")
        assert "Mira pays within 30 days" in model.text()
        assert "workbench-recall: Find something" in model.text()
        assert desk.search("berth")
        desk.codex(*RUN, "We decided to paint the ferry green.")
        # At the end what was decided is saved, with the line it comes from.
        assert "file:sessions/" in desk.log("paint the ferry green")
        desk.codex(*RUN, "Which number has the berth?")
        assert "paint the ferry green" in str(model.seen[-1])
        assert model.text().count("The berth is number seven") > 2
        assert "workbench" in desk.codex("mcp", "list")
        desk.workbench("disconnect", "codex", "--yes")
        assert desk.configurations() == before


def test_claude_code_lists_it_as_connected(desk: Desk) -> None:
    desk.workbench("connect", "claude-code", "--yes")
    desk.workbench("connect", "claude-code", "--agent", "scout", "--yes")
    listed = desk.claude("mcp", "list")
    assert listed.count("Connected") == 2
    assert f"--workspace {desk.memory} --agent scout" in listed


def test_openclaw_finds_all_tools(desk: Desk) -> None:
    place = desk.home / ".openclaw" / "openclaw.json"
    place.parent.mkdir()
    place.write_text("// mine\n{\n  mcp: { servers: {}, },\n}\n")
    before = desk.configurations()
    desk.workbench("connect", "openclaw", "--yes")
    assert "- workbench: 10 tools" in desk.openclaw("mcp", "probe")
    desk.workbench("disconnect", "openclaw", "--yes")
    assert desk.configurations() == before


def test_openclaws_gateway_saves_a_conversation_that_is_started_over(desk: Desk) -> None:
    client = OpenClaw(desk)
    with client.talking(Say("Fine.")) as model:
        place = desk.home / ".openclaw" / "openclaw.json"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            gateway = {
                "mode": "local",
                "bind": "loopback",
                "port": free.getsockname()[1],
                "auth": {"mode": "none"},
            }
        place.write_text(json.dumps(json.loads(place.read_text()) | {"gateway": gateway}))
        desk.workbench("connect", "openclaw", "--yes")
        desk.workbench("core", "add", "Critical Facts", "Mira pays within 30 days")
        with desk.gateway():
            desk.openclaw("agent", "--agent", "main", "--message", "We decided to move the berth to seven.")
            assert "Mira pays within 30 days" in model.text()
            desk.openclaw("agent", "--agent", "main", "--message", "/new")
            # It is saved beside, and nobody waits for it.
            found = until(lambda: desk.search("berth"))
    assert "move the berth to seven" in found[0]["snippet"]


# Without a model that is named it asks one first which to take.
GEMINI = ("--model", "gemini-2.5-flash", "-p")


def test_two_sessions_of_gemini_cli_in_a_folder_that_it_trusts(desk: Desk) -> None:
    place = desk.home / ".gemini" / "settings.json"
    place.parent.mkdir()
    place.write_text(
        '{\n  // mine\n  "ui": {"theme": "Dracula"},\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
    )
    (place.parent / "trustedFolders.json").write_text(json.dumps({str(desk.project): "TRUST_FOLDER"}))
    before = desk.configurations()
    desk.workbench("connect", "gemini", "--yes", "--prompts")
    # It waits for a server for five seconds, whatever else the machine does.
    connected = f"--workspace {desk.memory} (stdio) - Connected"
    until(lambda: connected in desk.gemini("mcp", "list"))
    desk.workbench("core", "add", "Critical Facts", "Mira pays within 30 days")
    with serving(Say("Fine.")) as model:
        desk.gemini(*GEMINI, "We decided to move the berth to number seven.", model=model)
        assert "Mira pays within 30 days" in model.text()
    log = desk.log("move the berth to number seven")
    assert log.count("move the berth to number seven") == 1
    assert "Mira pays" not in log
    with serving(Say("Seven.")) as model:
        desk.gemini(*GEMINI, "Which number has the berth now?", model=model)
        assert "move the berth to number seven" in model.text()
    desk.workbench("disconnect", "gemini", "--yes")
    assert desk.configurations() == before


# Runs what a plugin runs and writes down what it was given; the first time it fails instead.
RECORDER = """\
import json, pathlib, subprocess, sys
kept = pathlib.Path(__file__).with_suffix(".jsonl")
given = sys.stdin.read()
if kept.exists():
    subprocess.run(sys.argv[1:], input=given, text=True, check=True)
else:
    sys.stderr.write("no room")
with kept.open("a") as file:
    file.write(json.dumps([each["text"] for each in json.loads(given)["messages"]]) + "\\n")
"""
TALK = """\
import { subscribe } from "node:diagnostics_channel";
let ended;
subscribe("child_process", ({ process: child }) => (ended = new Promise((done) => child.once("close", done))));
const alive = setInterval(() => {}, 1000);
const { Workbench } = await import(process.argv[1]);
const at = await Workbench({ client: { session: { messages: async () => ({ data: [] }) } } });
await at["chat.message"]({ sessionID: "ses_1" }, { parts: [] });
let number = 0;
async function say(role, text) {
  const id = `m${number++}`;
  const info = { id, sessionID: "ses_1", role, time: { created: 1770042600000 + number } };
  await at.event({ event: { type: "message.updated", properties: { info } } });
  const part = { id: `p${id}`, messageID: id, sessionID: "ses_1", type: "text", text };
  await at.event({ event: { type: "message.part.updated", properties: { part } } });
}
for (const said of ["berth to seven", "crane to Mira", "quay to Sam"]) {
  await say("user", `We decided to give the ${said}.`);
  await say("assistant", "Fine.");
  await at.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } });
  await ended;
}
clearInterval(alive);
"""


def test_opencodes_plugin_tells_what_is_new_and_again_what_was_not_saved(desk: Desk) -> None:
    desk.workbench("connect", "opencode", "--yes")
    place = desk.home / ".config" / "opencode" / "plugins" / "workbench.js"
    recorder = desk.home / "recorder.py"
    recorder.write_text(RECORDER)
    plugin = desk.home / "plugin.mjs"
    words = f"{json.dumps(sys.executable)}, {json.dumps(str(recorder))}, "
    plugin.write_text(place.read_text().replace("const COMMAND = [", f"const COMMAND = [{words}", 1))
    desk.node("--input-type=module", "-e", TALK, str(plugin))
    first, second, third = (
        f"We decided to give the {said}." for said in ("berth to seven", "crane to Mira", "quay to Sam")
    )
    told = [json.loads(line) for line in recorder.with_suffix(".jsonl").read_text().splitlines()]
    assert told == [[first, "Fine."], [first, "Fine.", second, "Fine."], [third, "Fine."]]
    log = desk.log(third)
    assert [log.count(each) for each in (first, second, third)] == [1, 1, 1]

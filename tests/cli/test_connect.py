"""The commands that connect clients, and the one that clients run: what they ask, say and leave behind."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.engine.sessions.claude_files import ID, written
from workbench.engine.clients.known import NAMES
from workbench.engine.workspace import Workspace


@pytest.fixture
def desk(agent: Program) -> Program:
    """Give a workspace, and a home in which Codex CLI and Zed were used."""
    (agent.home / ".codex").mkdir()
    (agent.home / ".codex" / "config.toml").write_text("# mine\n")
    (agent.home / "config" / "zed").mkdir(parents=True)
    agent.here = True
    return agent


def configurations(home: Path) -> dict[str, str]:
    """Return what is in the folders of the clients."""
    folders = (home / ".codex", home / "config" / "zed", home / ".claude")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(home)): path.read_text() for path in sorted([*files, *home.glob(".claude.json")])
    }


class TestConnect:
    def test_alone_it_lists_and_changes_nothing(self, desk: Program) -> None:
        before = configurations(desk.home)
        done = desk.run("connect")
        assert done.returncode == 0
        assert "workbench connect codex" in done.stdout
        assert "Not found here: claude-code" in done.stdout
        found = desk.json("connect")["clients"]
        assert [each["name"] for each in found] == list(NAMES)
        assert [each["name"] for each in found if each["installed"]] == ["codex", "zed"]
        assert configurations(desk.home) == before

    def test_nobody_to_ask_is_a_refusal_that_shows_the_change(self, desk: Program) -> None:
        before = configurations(desk.home)
        done = desk.run("connect", "codex")
        assert done.returncode == 5
        assert "+[mcp_servers.workbench]" in done.stdout
        assert "--yes" in done.stderr
        told = desk.json("connect", "codex", code=5)
        assert told["error"]["kind"] == "confirmation-needed"
        assert told["changes"][0]["action"] == "change"
        assert configurations(desk.home) == before

    def test_a_dry_run_is_the_same_change_and_no_change(self, desk: Program) -> None:
        before = configurations(desk.home)
        told = desk.json("connect", "codex", "--dry-run")
        assert (told["ok"], told["applied"]) == (True, False)
        assert configurations(desk.home) == before
        done = desk.json("connect", "codex", "--yes")
        assert done["changes"] == told["changes"]
        assert done["applied"] is True

    def test_it_comes_and_goes_and_says_so(self, desk: Program) -> None:
        before = configurations(desk.home)
        done = desk.run("connect", "codex", "--yes", "--prompts")
        assert done.returncode == 0, done.stderr
        assert "Codex CLI has this memory" in done.stdout
        assert "config.toml.before-workbench" in done.stdout
        assert "nothing had to change" in desk.run("connect", "codex", "--yes", "--prompts").stdout
        listed = desk.json("connect")["clients"][1]["connections"]
        assert [(each["server"], each["agent"], each["hooks"]) for each in listed] == [
            ("workbench", None, ["session-start", "pre-compact", "session-end", "prompt"])
        ]
        assert listed[0]["workspace"] == str(desk.folder)
        assert desk.run("disconnect", "codex").returncode == 5
        assert desk.run("disconnect", "codex", "--yes").stdout.count("Codex CLI is disconnected.") == 1
        assert configurations(desk.home) == before
        assert desk.run("disconnect", "codex", "--yes").returncode == 3

    def test_a_yes_to_all_connects_what_is_here(self, desk: Program) -> None:
        (desk.home / ".codex" / "config.toml").write_text("broken = \n")
        found = {each["name"]: each for each in desk.json("connect", "--yes")["clients"]}
        assert [name for name, each in found.items() if each["connections"]] == ["zed"]
        assert "config.toml:1" in found["codex"]["problem"]

    def test_what_is_written_is_a_command_that_runs(self, desk: Program) -> None:
        desk.run("connect", "zed", "--agent", "scout", "--yes")
        settings = json.loads((desk.home / "config" / "zed" / "settings.json").read_text())
        entry = settings["context_servers"]["workbench-scout"]
        assert Path(entry["command"]).is_absolute()
        assert entry["args"][-4:] == ["--workspace", str(desk.folder), "--agent", "scout"]

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            (("connect", "emacs"), 2),
            (("connect", "codex", "--agent", "../x", "--yes"), 2),
            (("connect", "zed", "--prompts", "--yes"), 2),
            (("connect", "goose", "--scope", "project", "--yes"), 2),
            (("connect", "codex", "--role", "main", "--yes"), 5),
            (("disconnect", "codex", "--role", "agent:scout", "--yes"), 5),
            (("disconnect",), 2),
        ],
    )
    def test_what_makes_no_sense_or_is_a_persons_alone_changes_nothing(
        self, desk: Program, words: tuple[str, ...], code: int
    ) -> None:
        before = configurations(desk.home)
        assert desk.run(*words).returncode == code
        assert configurations(desk.home) == before


class TestWithoutAMemory:
    """A person who has an agent's program and no memory yet."""

    @pytest.fixture
    def newcomer(self, desk: Program) -> Program:
        (desk.home / "project").mkdir()
        return replace(desk, folder=desk.home / "project")

    def test_one_step_makes_one_connects_it_and_is_found_from_everywhere(self, newcomer: Program) -> None:
        done = newcomer.run("connect", "codex", "--yes")
        assert done.returncode == 0, done.stderr
        assert done.stdout.index("~/agent-memory is a memory now") < done.stdout.index(
            "+[mcp_servers.workbench]"
        )
        place = newcomer.home / "agent-memory"
        assert str(place) in (newcomer.home / ".codex" / "config.toml").read_text()
        assert newcomer.run("search", "harbour").returncode == 3
        assert "nothing had to change" in newcomer.run("connect", "codex", "--yes").stdout

    def test_without_a_yes_that_step_is_named_and_nothing_is_made(self, newcomer: Program) -> None:
        before = configurations(newcomer.home)
        done = newcomer.run("connect", "codex")
        assert done.returncode == 3
        assert "workbench connect codex --yes" in " ".join(done.stderr.split())
        tried = newcomer.run("connect", "codex", "--dry-run")
        assert "~/agent-memory would be made first" in tried.stderr
        assert "+[mcp_servers.workbench]" in tried.stdout
        assert configurations(newcomer.home) == before
        assert not (newcomer.home / "agent-memory").exists()


class TestHook:
    def test_a_client_runs_what_connecting_wrote(self, desk: Program) -> None:
        desk.run("connect", "codex", "--yes")
        hooks = json.loads((desk.home / ".codex" / "hooks.json").read_text())["hooks"]
        words = shlex.split(hooks["SessionStart"][0]["hooks"][0]["command"])
        done = desk.run(*words[words.index("hook") :], stdin='{"hook_event_name": "SessionStart"}')
        assert done.returncode == 0
        told = json.loads(done.stdout)["hookSpecificOutput"]
        assert told["hookEventName"] == "SessionStart"
        assert "Core Memory" in told["additionalContext"]

    @pytest.mark.parametrize(
        "words",
        [
            ("hook", "session-start", "--workspace", "/nowhere"),
            ("hook", "session-start", "--option-of-another-version"),
            ("hook", "moment-of-another-version"),
            ("--workspace", ".", "hook", "moment-of-another-version"),
            ("hook",),
        ],
    )
    def test_a_client_goes_on_whatever_goes_wrong(self, desk: Program, words: tuple[str, ...]) -> None:
        done = desk.run(*words, stdin="not even json")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr

    def test_what_went_wrong_is_kept(self, desk: Program) -> None:
        desk.run("hook", "session-start", "--workspace", "/nowhere")
        (log,) = desk.home.rglob("hooks.log")
        assert "session-start for claude-code: /nowhere: There is no such folder" in log.read_text()
        desk.run("hook", "moment-of-another-version")
        assert "moment-of-another-version" in log.read_text()

    @pytest.mark.parametrize("said", ['{"hook_event_name": "SessionStart"}\n', '{"hook_event', ""])
    @pytest.mark.parametrize("client", ["codex", "--client=codex"], ids=["short way", "command line"])
    def test_a_client_that_leaves_stdin_open_is_answered(self, desk: Program, said: str, client: str) -> None:
        given = ("--client", client) if client == "codex" else (client,)
        words = ("hook", "session-start", *given, "--workspace", str(desk.folder))
        with desk.start(*words) as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(said)
            process.stdin.flush()
            assert "Core Memory" in process.stdout.read()
            assert process.wait() == 0

    def test_a_session_is_saved_though_the_client_kills_its_hook(self, desk: Program, tmp_path: Path) -> None:
        given = json.dumps({"session_id": ID, "transcript_path": str(written(tmp_path))})
        with Workspace.open(desk.folder, role="person") as memory, memory._context.history.writing("manual"):
            words = ("hook", "session-end", "--client", "claude-code", "--workspace", str(desk.folder))
            with desk.start(*words) as process:
                assert process.stdin
                process.stdin.write(given)
                process.stdin.close()
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                (child,) = next(filter(None, iter(lambda: children.read_text().split(), None)))
                # It is out of reach once it leads a group of its own.
                next(filter(None, iter(lambda: os.getpgid(int(child)) == int(child), None)))
                process.kill()
        listed = iter(lambda: json.loads(desk.run("sessions", "--json").stdout)["sessions"], None)
        (saved,) = next(filter(None, listed))
        assert saved["sessionId"] == ID

    def test_a_client_that_waits_for_the_end_finds_it_saved(self, desk: Program, tmp_path: Path) -> None:
        given = json.dumps({"session_id": ID, "transcript_path": str(written(tmp_path))})
        words = ("hook", "session-end", "--client", "claude-code", "--workspace", str(desk.folder))
        with desk.start(*words) as process:
            assert process.communicate(given) == ("", "")
        (saved,) = json.loads(desk.run("sessions", "--json").stdout)["sessions"]
        assert saved["sessionId"] == ID

    def test_a_client_without_stdin_is_answered(self, desk: Program) -> None:
        words = [sys.executable, "-m", "workbench", "hook", "session-start", "--workspace", str(desk.folder)]
        done = subprocess.run(
            ["sh", "-c", f"exec {shlex.join(words)} <&-"], env=desk.environment, capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0
        assert "Core Memory" in done.stdout

    def test_a_narrower_role_is_kept_to(self, desk: Program) -> None:
        reader = desk.with_environment(WORKBENCH_ROLE="reader")
        assert "Core Memory" in reader.run("hook", "session-start", stdin="{}").stdout


def test_doctor_starts_what_is_connected(agent: Program) -> None:
    (agent.home / ".cursor").mkdir()
    agent.here = True
    agent.run("connect", "cursor", "--yes")
    agent.here = False
    place = agent.home / ".cursor" / "mcp.json"
    checks = {each["name"]: each for each in agent.json("doctor")["checks"]}
    assert checks["Cursor"]["state"] == "ok"
    assert "10 tools" in checks["Cursor"]["detail"]
    entry = json.loads(place.read_text())
    entry["mcpServers"]["workbench"]["command"] = "/opt/moved/workbench"
    place.write_text(json.dumps(entry))
    broken = {each["name"]: each for each in agent.json("doctor", code=1)["checks"]}
    assert broken["Cursor"]["remedy"] == "Write its entry again: workbench connect cursor"


def test_the_instructions_are_printed_for_whom_they_are_asked_for(agent: Program) -> None:
    main, scout = agent.inside("agents-md"), agent.inside("agents-md", "--agent", "scout")
    assert main.exit_code == scout.exit_code == 0
    assert main.stdout.startswith("# Memory\n")
    assert "`memory_remember`" in main.stdout
    assert "sub-agent scout" in scout.stdout
    skill = agent.inside("agents-md", "--skill")
    assert skill.stdout.startswith("---\nname: workbench-memory\n")
    shaped = json.loads(agent.inside("agents-md", "--agent", "scout", "--json").stdout)
    assert shaped == {"agent": "scout", "skill": False, "text": scout.stdout}


@pytest.mark.parametrize("client", ["claude-code", "codex", "openclaw", "json"])
def test_each_client_is_told_where_this_memory_is(agent: Program, client: str) -> None:
    done = agent.inside("agents-md", "--mcp", client, "--agent", "scout")
    assert done.exit_code == 0
    assert str(agent.folder.resolve()) in done.stdout
    assert "workbench-scout" in done.stdout
    if client == "json":
        assert list(json.loads(done.stdout)) == ["mcpServers"]
    else:
        assert done.stdout.count("\n") == 1


def test_the_tools_are_printed_for_function_calling(agent: Program) -> None:
    functions = json.loads(agent.inside("mcp", "--schemas", "openai", "--agent", "scout").stdout)
    assert {each["function"]["name"] for each in functions} >= {"memory_search", "memory_propose"}
    assert "memory_remember" not in {each["function"]["name"] for each in functions}


@pytest.mark.parametrize(
    "words",
    [
        ("agents-md", "--agent", "No Name"),
        ("agents-md", "--mcp", "json", "--agent", "../x"),
        ("agents-md", "--mcp", "x"),
    ],
)
def test_what_is_no_agent_or_client_is_said(agent: Program, words: tuple[str, ...]) -> None:
    assert agent.inside(*words).exit_code == 2


def test_a_brief_shows_what_a_session_begins_with(agent: Program) -> None:
    assert agent.inside("propose", "The ferry leaves at nine", "--as", "scout").exit_code == 0
    (agent.folder / "SOUL.md").write_text("You are kind.\n", "utf-8")
    agent.inside("audit", "alerts")
    (agent.folder / "SOUL.md").write_text("You are cruel.\n", "utf-8")
    brief = json.loads(agent.inside("brief", "--json").stdout)
    assert brief["core"]
    assert brief["proposalsWaiting"] == 1
    assert any("+You are cruel." in alert["diff"] for alert in brief["alerts"])
    assert {"reflectionDue", "notices", "tokens", "cap"} <= set(brief)
    assert "+You are cruel." in agent.inside("brief").stdout

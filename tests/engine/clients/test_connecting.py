"""Connecting and disconnecting: what is written, what stays, what is refused, and that all of it can be taken back."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import json5
import pytest
import yaml

from workbench.engine.clients.configurations import Ledger, copy_of
from workbench.engine.clients.connecting import Wanted, carry_out, plan_connection, plan_disconnection, survey
from workbench.engine.clients.known import CLIENTS, NAMES, Client, Machine, Server, client_called, words_of
from workbench.engine.errors import (
    DocumentError,
    InvalidInput,
    NotFound,
    OutsideWorkspace,
    Refused,
    Stale,
    StorageError,
    WorkbenchError,
)
from workbench.engine.results.clients import ConnectionChange

PROGRAM = "/opt/a program/workbench"


@dataclass
class Desk:
    """A user with a home of their own, and whatever programs a test gives them."""

    machine: Machine
    state: Path

    @property
    def ledger(self) -> Ledger:
        return Ledger.load(self.state / "clients.json")

    def server(self, agent: str | None = None, folder: str = "memory") -> Server:
        return Server([PROGRAM], self.machine.home / folder, agent)

    def connect(self, name: str, agent: str | None = None, **wanted: Any) -> ConnectionChange:
        folder = wanted.pop("folder", "memory")
        asked = Wanted(self.server(agent, folder), **wanted)
        ledger = self.ledger
        return carry_out(plan_connection(client_called(name), self.machine, asked, ledger), ledger)

    def disconnect(self, name: str, **asked: Any) -> ConnectionChange:
        ledger = self.ledger
        return carry_out(plan_disconnection(client_called(name), self.machine, ledger, **asked), ledger)

    def write(self, name: str, text: str | bytes) -> Path:
        path = client_called(name).file(self.machine)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def files(self) -> dict[str, bytes]:
        """Return everything below the home."""
        home = self.machine.home
        return {
            f"{path.relative_to(home)}{'/' * path.is_dir()}": b"" if path.is_dir() else path.read_bytes()
            for path in sorted(home.rglob("*"))
        }

    def entries(self, name: str, scope: str = "user") -> dict[str, Any]:
        client = client_called(name)
        value = parsed(client, client.file_of(self.machine, scope).read_bytes())
        for step in client.servers:
            value = value[step]
        assert isinstance(value, dict)
        return value


def parsed(client: Client, content: bytes) -> Any:
    """Read a configuration with somebody else's reader."""
    text = content.decode("utf-8-sig")
    if client.name == "goose":
        return yaml.safe_load(text)
    return tomllib.loads(text.replace("\r\n", "\n")) if client.name == "codex" else json5.loads(text or "{}")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    project.mkdir(parents=True)
    return Desk(Machine(home, {"PATH": ""}, project, "linux"), tmp_path / "state")


@pytest.mark.parametrize("name", NAMES)
def test_each_client_starts_the_very_command_and_all_of_it_goes_again(desk: Desk, name: str) -> None:
    before = desk.files()
    done = desk.connect(name)
    assert done.applied
    assert words_of(desk.entries(name)["workbench"]) == desk.server().words
    assert desk.connect(name).changes == ()
    assert [each.copy for each in desk.disconnect(name).changes if each.copy] == []
    assert desk.files() == before


CONFIGURATIONS = {
    "json": [
        "",
        "{}",
        "{ }\n",
        "{\n}\n",
        '{"numStartups":3,"mcpServers":{"other":{"command":"x"}}}',
        '{\n\t"mcpServers": {},\n\t"hooks": {"SessionStart": []}\n}',
        '\ufeff{\r\n    "hooks": {\r\n        "Stop": [{"hooks": []}]\r\n    }\r\n}\r\n',
        '{\n  "servers": { "a": {} },\n  "context_servers": { "a": {} },\n  "mcp": {"b": {}}\n}',
    ],
    "comments": [
        "// mine\n{\n  // none yet\n}\n",
        '{\n  "a": 1, // one\n  /* two */\n}\n',
        '{\n  "mcpServers": {\n    "other": {}, // here\n  }\n}',
        '{\r\n\t"servers": { /* nothing */ },\r\n\t"context_servers": { "z": { } },\r\n}',
    ],
    "json5": [
        "{mcp: {servers: {}}}\n",
        "// x\n{\n  mcp: { servers: { a: { command: 'b', }, }, },\n  t: 0x1,\n}",
    ],
    "toml": [
        "",
        "# mine\n",
        'model = "x"',
        '[mcp_servers.other]\ncommand = "x"\n\n[tui]\n# last\n',
        'a = 1\r\n\r\n[b]\r\nc = """\r\n[mcp_servers.workbench]\r\n"""\r\n',
        'mcp_servers = { other = { command = "x" } }\n',
        "\ufeffa = 1\n",
    ],
    "yaml": [
        "",
        "# mine\n",
        "GOOSE_MODEL: x",
        "extensions:\n",
        "extensions: {}\n",
        "extensions:\n  # built in\n  developer:\n    enabled: true\n\nGOOSE_MODE: auto\n",
        "a: 1\r\nextensions:\r\n  developer:\r\n    enabled: true\r\n",
        "extensions: {developer: {enabled: true}}\n",
    ],
}
KINDS = {
    "claude-code": ("json",), "codex": ("toml",), "openclaw": ("json", "comments", "json5"),
    "gemini": ("json",), "cursor": ("json", "comments"), "vscode": ("json", "comments"),
    "zed": ("json", "comments"), "opencode": ("json", "comments"), "goose": ("yaml",),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [(name, text) for name, kinds in KINDS.items() for kind in kinds for text in CONFIGURATIONS[kind]],
)
class TestOddConfigurations:
    def test_is_byte_for_byte_what_it_was_once_disconnected(self, desk: Desk, name: str, text: str) -> None:
        path = desk.write(name, text)
        path.chmod(0o640)
        before = desk.files()
        desk.connect(name)
        assert words_of(desk.entries(name)["workbench"]) == desk.server().words
        assert copy_of(path).read_bytes() == text.encode()
        desk.connect(name, agent="scout")
        desk.connect(name, folder="elsewhere")
        desk.disconnect(name, agent="scout")
        assert words_of(desk.entries(name)["workbench"]) == desk.server(folder="elsewhere").words
        assert path.stat().st_mode & 0o777 == 0o640
        desk.disconnect(name)
        assert desk.files() == before

    def test_loses_ours_alone_where_somebody_else_wrote_since(self, desk: Desk, name: str, text: str) -> None:
        client, path = client_called(name), desk.write(name, text)
        desk.connect(name)
        changed = client.format().put(
            path.read_bytes().decode("utf-8-sig"), (*client.servers, "later"), {"command": "y"}
        )
        path.write_bytes(changed.encode())
        desk.disconnect(name)
        expected = client.format().put(
            text.removeprefix("\ufeff"), (*client.servers, "later"), {"command": "y"}
        )
        assert parsed(client, path.read_bytes()) == parsed(client, expected.encode())
        comments = [line.strip() for line in text.splitlines() if line.strip().startswith(("#", "//"))]
        assert all(comment in path.read_text() for comment in comments)
        assert not copy_of(path).exists()

    def test_is_taken_out_even_where_nothing_was_noted(self, desk: Desk, name: str, text: str) -> None:
        client, path = client_called(name), desk.write(name, text)
        desk.connect(name)
        (desk.state / "clients.json").unlink()
        desk.disconnect(name)
        value, held = (parsed(client, content) or {} for content in (path.read_bytes(), text.encode()))
        assert without_empty(value) == without_empty(held)


def without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {key: without_empty(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each not in ({}, [], None)}


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "text", "line"),
        [
            ("claude-code", '{\n  "a": 1,\n  // mine\n  "b": 2\n}', 3),
            ("claude-code", '{\n  "mcpServers": {\n}', 3),
            ("gemini", '{\n  // fine\n  "a": 1,\n}', 3),
            ("openclaw", "{\n  mcp: {\n", 3),
            ("codex", "a = 1\nb = \n", 2),
            ("goose", "a: 1\nextensions: [\n", 3),
            ("zed", '{"context_servers": []}', 1),
            ("cursor", b"{\n\xff\xfe}", 2),
        ],
    )  # fmt: skip
    def test_a_broken_configuration_is_named_with_its_line_and_left(
        self, desk: Desk, name: str, text: str | bytes, line: int
    ) -> None:
        path = desk.write(name, text)
        before = desk.files()
        with pytest.raises(DocumentError) as caught:
            desk.connect(name)
        assert caught.value.where == f"{path}:{line}"
        assert caught.value.remedy
        assert desk.files() == before

    def test_another_server_of_our_name_stays(self, desk: Desk) -> None:
        path = desk.write(
            "cursor", '{"mcpServers": {"workbench": {"command": "/usr/bin/woodworking", "args": ["mcp"]}}}'
        )
        with pytest.raises(Refused, match="another server"):
            desk.connect("cursor")
        with pytest.raises(NotFound):
            desk.disconnect("cursor")
        assert b"woodworking" in path.read_bytes()

    def test_a_link_is_not_followed(self, desk: Desk) -> None:
        real = desk.machine.home / "dotfiles.json"
        real.write_text("{}")
        place = client_called("cursor").file(desk.machine)
        place.parent.mkdir()
        place.symlink_to(real)
        with pytest.raises(OutsideWorkspace, match="link to"):
            desk.connect("cursor")
        assert real.read_text() == "{}"
        assert place.is_symlink()

    def test_a_folder_that_leads_out_of_the_home_is_refused(self, desk: Desk, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (desk.machine.home / ".cursor").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OutsideWorkspace):
            desk.connect("cursor")
        assert not list((tmp_path / "elsewhere").iterdir())

    def test_a_read_only_file_stays(self, desk: Desk) -> None:
        path = desk.write("zed", "{}")
        path.chmod(0o444)
        with pytest.raises(Refused, match="read-only"):
            desk.connect("zed")
        assert path.read_bytes() == b"{}"

    def test_a_file_that_changes_between_plan_and_deed_stays(self, desk: Desk) -> None:
        path = desk.write("zed", "{}")
        plan = plan_connection(client_called("zed"), desk.machine, Wanted(desk.server()), desk.ledger)
        path.write_text('{"theme": "new"}')
        with pytest.raises(Stale):
            carry_out(plan, desk.ledger)
        assert path.read_text() == '{"theme": "new"}'

    def test_nothing_is_written_where_it_cannot_be_noted(self, desk: Desk) -> None:
        path = desk.write("zed", "{}")
        desk.state.write_text("in the way")
        with pytest.raises(StorageError):
            desk.connect("zed")
        assert path.read_bytes() == b"{}"

    @pytest.mark.parametrize("name", ["openclaw", "goose"])
    def test_a_client_without_projects_has_no_scope_of_one(self, desk: Desk, name: str) -> None:
        with pytest.raises(InvalidInput, match="project"):
            desk.connect(name, scope="project")

    def test_a_project_outside_the_home_is_refused(self, desk: Desk, tmp_path: Path) -> None:
        desk.machine = replace(desk.machine, project=tmp_path)
        with pytest.raises(OutsideWorkspace):
            desk.connect("claude-code", scope="project")


class TestHooksAndCommands:
    def test_hooks_stand_beside_those_of_others(self, desk: Desk) -> None:
        place = desk.machine.home / ".claude" / "settings.json"
        place.parent.mkdir()
        mine = {
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hook me"}]}]},
            "model": "opus",
        }
        place.write_text(json.dumps(mine, indent=2))
        before = desk.files()
        desk.connect("claude-code", prompts=True)
        hooks = json.loads(place.read_text())["hooks"]
        assert hooks["SessionStart"][0] == mine["hooks"]["SessionStart"][0]  # type: ignore[index]
        assert [
            len(hooks[event]) for event in ("SessionStart", "PreCompact", "SessionEnd", "UserPromptSubmit")
        ] == [2, 1, 1, 1]
        command = hooks["PreCompact"][0]["hooks"][0]["command"]
        assert (
            command
            == f"'{PROGRAM}' hook pre-compact --client claude-code --workspace {desk.machine.home}/memory"
        )
        desk.connect("claude-code")
        assert "UserPromptSubmit" not in json.loads(place.read_text())["hooks"]
        desk.connect("claude-code", hooks=False)
        assert json.loads(place.read_text()) == mine
        desk.disconnect("claude-code")
        assert desk.files() == before

    @pytest.mark.parametrize(
        ("name", "scope", "place"),
        [
            ("cursor", "user", ".cursor/hooks.json"),
            ("cursor", "project", "project/.cursor/hooks.json"),
            ("vscode", "user", ".copilot/hooks/workbench.json"),
            ("vscode", "project", "project/.github/hooks/workbench.json"),
        ],
    )
    @pytest.mark.parametrize("held", [None, {}, {"hooks": {"sessionStart": [{"command": "echo hook me"}]}}])
    def test_commands_stand_where_a_client_without_groups_looks_for_them(
        self, desk: Desk, name: str, scope: str, place: str, held: dict[str, Any] | None
    ) -> None:
        path = desk.machine.home / place
        if held is not None:
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(held))
        before = desk.files()
        desk.connect(name, scope=scope)
        written = json.loads(path.read_text())
        ours = [
            hook["command"].split()
            for hooks in written["hooks"].values()
            for hook in hooks
            if set(hook) == {"type", "command", "timeout"}
        ]
        assert [words[words.index("hook") + 1] for words in ours] == [
            "session-start",
            "pre-compact",
            "session-end",
        ]
        assert written.get("version") == (1 if name == "cursor" else None)
        assert desk.connect(name, scope=scope).changes == ()
        path.write_text(json.dumps({**written, "later": True}))
        desk.disconnect(name)
        assert json.loads(path.read_text()) == {**(held or {}), "later": True}
        path.unlink()
        if held is not None:
            path.write_text(json.dumps(held))
        desk.connect(name, scope=scope)
        desk.disconnect(name)
        assert desk.files() == before

    @pytest.mark.parametrize("name", ["cursor", "vscode", "zed", "goose"])
    def test_a_client_that_takes_nothing_with_a_prompt_says_so(self, desk: Desk, name: str) -> None:
        with pytest.raises(InvalidInput, match="no hook for prompts"):
            desk.connect(name, prompts=True)

    def test_a_client_that_runs_the_hooks_of_another_gets_none_beside_them(self, desk: Desk) -> None:
        desk.connect("vscode")
        assert (desk.machine.home / ".copilot").exists()
        desk.connect("claude-code")
        assert any("Claude Code" in note for note in desk.connect("vscode").notes)
        assert not (desk.machine.home / ".copilot").exists()

    def test_a_sub_agent_gets_a_server_and_nothing_else(self, desk: Desk) -> None:
        desk.connect("claude-code", agent="scout")
        assert list(desk.entries("claude-code")) == ["workbench-scout"]
        assert not (desk.machine.home / ".claude").exists()
        with pytest.raises(InvalidInput, match="sub-agent"):
            desk.connect("claude-code", agent="scout", prompts=True)

    def test_a_command_that_its_person_changed_is_left(self, desk: Desk) -> None:
        desk.connect("claude-code")
        place = desk.machine.home / ".claude" / "commands" / "workbench" / "recall.md"
        place.write_text("mine now")
        assert any("left as it is" in note for note in desk.connect("claude-code", folder="other").notes)
        done = desk.disconnect("claude-code")
        assert any("left as it is" in note for note in done.notes)
        assert [path.name for path in place.parent.iterdir()] == ["recall.md"]

    def test_commands_of_gemini_are_toml(self, desk: Desk) -> None:
        desk.connect("gemini")
        for place in (desk.machine.home / ".gemini" / "commands" / "workbench").iterdir():
            command = tomllib.loads(place.read_text())
            assert command["description"]
            assert "{{args}}" in command["prompt"]

    def test_the_project_has_its_own_files(self, desk: Desk) -> None:
        before = desk.files()
        desk.connect("claude-code", scope="project")
        assert words_of(desk.entries("claude-code", "project")["workbench"]) == desk.server().words
        assert (desk.machine.project / ".claude" / "settings.json").exists()
        assert not (desk.machine.home / ".claude.json").exists()
        desk.disconnect("claude-code")
        assert desk.files() == before

    def test_what_lies_in_a_project_keeps_nobody_from_disconnecting(self, desk: Desk, tmp_path: Path) -> None:
        (desk.machine.project / ".mcp.json").write_text("{ not mine")
        before = desk.files()
        desk.connect("claude-code")
        done = desk.disconnect("claude-code")
        assert any(".mcp.json:1" in note for note in done.notes)
        assert desk.files() == before
        for project in (desk.machine.home, tmp_path):
            desk.machine = replace(desk.machine, project=project)
            desk.connect("claude-code")
            desk.disconnect("claude-code")
            assert desk.files() == before


class TestSurvey:
    def test_tells_what_is_here_and_what_is_connected(self, desk: Desk) -> None:
        desk.write("codex", "")
        desk.connect("zed", agent="scout")
        desk.connect("claude-code")
        desk.write("goose", "a: [")
        states = {state.name: state for state in survey(desk.machine).clients}
        assert [name for name, state in states.items() if state.installed] == [
            "claude-code",
            "codex",
            "zed",
            "goose",
        ]
        assert [(each.agent, each.workspace) for each in states["zed"].connections] == [
            ("scout", str(desk.machine.home / "memory"))
        ]
        assert states["claude-code"].connections[0].hooks == ("session-start", "pre-compact", "session-end")
        assert "config.yaml:" in (states["goose"].problem or "")

    def test_a_programme_on_the_search_path_counts(self, desk: Desk, tmp_path: Path) -> None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "gemini").write_text("#!/bin/sh\n")
        (tmp_path / "bin" / "gemini").chmod(0o755)
        machine = replace(desk.machine, environment={"PATH": str(tmp_path / "bin")})
        assert [each.name for each in survey(machine).clients if each.installed] == ["gemini"]

    def test_looking_writes_nothing(self, desk: Desk) -> None:
        before = desk.files()
        survey(desk.machine)
        for client in CLIENTS:
            with pytest.raises(NotFound):
                plan_disconnection(client, desk.machine, desk.ledger)
        assert (desk.files(), desk.state.exists()) == (before, False)


class TestPlugins:
    """Clients that run code of ours instead of a command at the moments of a session."""

    CODE = MappingProxyType(
        {
            "openclaw": ".openclaw/extensions/workbench/index.js",
            "opencode": ".config/opencode/plugins/workbench.js",
        }
    )

    @pytest.mark.parametrize("name", CODE)
    def test_the_code_runs_the_very_command_and_goes_again(self, desk: Desk, name: str) -> None:
        desk.write(name, "{}")
        desk.connect(name, prompts=True)
        text = (desk.machine.home / self.CODE[name]).read_text()
        (command,) = re.findall(r"^const COMMAND = (.*);$", text, re.MULTILINE)
        memory = str(desk.machine.home / "memory")
        assert json.loads(command) == [PROGRAM, "hook", "MOMENT", "--client", name, "--workspace", memory]
        assert "const PROMPTS = true;" in text
        (state,) = (each for each in survey(desk.machine).clients if each.name == name)
        assert state.connections[0].hooks == ("session-start", "pre-compact", "session-end")
        assert desk.connect(name, prompts=True).changes == ()
        desk.connect(name, folder="other")
        assert "const PROMPTS = false;" in (desk.machine.home / self.CODE[name]).read_text()
        # What is noted of it may be lost.
        (desk.state / "clients.json").unlink()
        desk.disconnect(name)
        assert not (desk.machine.home / self.CODE[name]).exists()
        assert parsed(client_called(name), client_called(name).file(desk.machine).read_bytes()) == {}

    def test_openclaw_is_told_to_run_it_and_whoever_allows_few_is_told(self, desk: Desk) -> None:
        place = desk.write("openclaw", '{plugins: {allow: ["mine"]}, /* mine */}')
        told = desk.connect("openclaw")
        entries = json5.loads(place.read_text())["plugins"]["entries"]
        assert entries == {"workbench": {"enabled": True, "hooks": {"allowConversationAccess": True}}}
        assert any("plugins.allow" in note for note in told.notes)
        desk.connect("openclaw", hooks=False)
        assert "entries" not in json5.loads(place.read_text())["plugins"]
        desk.disconnect("openclaw")
        assert place.read_text() == '{plugins: {allow: ["mine"]}, /* mine */}'

    @pytest.mark.parametrize("name", CODE)
    def test_code_of_somebody_else_stays(self, desk: Desk, name: str) -> None:
        desk.write(name, "{}")
        code = desk.machine.home / self.CODE[name]
        code.parent.mkdir(parents=True)
        code.write_text("export const mine = 1;\n")
        assert any("left as it is" in note for note in desk.connect(name).notes)
        assert any("left as it is" in note for note in desk.disconnect(name).notes)
        assert code.read_text() == "export const mine = 1;\n"


def test_the_diff_shows_no_secret_of_a_neighbour(desk: Desk) -> None:
    key = "ghp_" + "a1B2" * 9
    desk.write(
        "cursor", json.dumps({"mcpServers": {"github": {"command": "x", "env": {"TOKEN": key}}}}, indent=1)
    )
    diff = "".join(change.diff for change in desk.connect("cursor").changes)
    assert "TOKEN" in diff
    assert key not in diff


@pytest.mark.parametrize(
    ("words", "folder", "agent"),
    [
        ([PROGRAM, "mcp", "--workspace", "/m"], "/m", None),
        (["/usr/bin/python3.12", "-m", "workbench", "mcp", "-w", "/m", "--agent", "scout"], "/m", "scout"),
    ],
)
def test_a_command_line_of_ours_is_known(words: list[str], folder: str, agent: str | None) -> None:
    server = Server.read(words)
    assert server is not None
    assert (str(server.folder), server.agent) == (folder, agent)


@pytest.mark.parametrize(
    "words",
    [[], ["workbench"], ["mcp", "--workspace", "/m"], ["/x/other", "mcp", "--workspace", "/m"],
     ["workbench", "mcp", "--workspace", "/m", "--http"], ["sh", "-c", "workbench mcp --workspace /m"]],
)  # fmt: skip
def test_other_command_lines_are_not_ours(words: list[str]) -> None:
    assert Server.read(words) is None


def test_errors_of_reading_are_ours(desk: Desk) -> None:
    place = client_called("cursor").file(desk.machine)
    place.mkdir(parents=True)
    with pytest.raises(WorkbenchError):
        desk.connect("cursor")

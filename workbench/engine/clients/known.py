"""The programs that can be connected: where their configuration is, and what it looks like."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePath
from typing import Any, Final, Protocol

from workbench.engine.clients import json_text
from workbench.engine.errors import NotFound
from workbench.engine.values import dataclass

SERVER_NAME: Final = "workbench"
_ABOUT: Final = "Memory that people can see, correct and trust"
_HOOK_SECONDS: Final = 30
_PROMPT_SECONDS: Final = 5


class Format(Protocol):
    """Reads and changes the text of a configuration; see `JsonFormat`."""

    def parse(self, text: str) -> Any: ...
    def put(self, text: str, path: json_text.Path, value: Any) -> str: ...
    def append(self, text: str, path: json_text.Path, value: Any) -> str: ...
    def drop(self, text: str, path: json_text.Path) -> str: ...


JSON: Final = json_text.JsonFormat()
JSON_WITH_COMMENTS: Final = json_text.JsonFormat(comments=True)
JSONC: Final = json_text.JsonFormat(comments=True, trailing=True)
JSON5: Final = json_text.JsonFormat(comments=True, trailing=True, json5=True)


def _toml() -> Format:
    from workbench.engine.clients.config_text import TomlFormat

    return TomlFormat()


def _yaml() -> Format:
    from workbench.engine.clients.config_text import YamlFormat

    return YamlFormat()


@dataclass(frozen=True)
class Machine:
    """Whose configuration is meant.

    Args:
        home: Of the user.
        environment: Their variables, of which some name other folders.
        project: The folder that `--scope project` means.
        platform: As of `sys.platform`.
    """

    home: Path
    environment: Mapping[str, str]
    project: Path
    platform: str = sys.platform

    @classmethod
    def present(cls) -> Machine:
        """Return this machine, for the user of this process, in the current folder."""
        return cls(Path.home(), os.environ, Path.cwd())

    def named(self, variable: str, otherwise: str) -> Path:
        """Return the folder that a variable names, or one below the home."""
        given = self.environment.get(variable, "")
        return Path(given).expanduser() if given else self.home / otherwise

    @property
    def config(self) -> Path:
        """Return the folder of `XDG_CONFIG_HOME`."""
        return self.named("XDG_CONFIG_HOME", ".config")

    def roots(self) -> tuple[Path, ...]:
        """Return the folders that something may be written below."""
        named = (
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "OPENCLAW_STATE_DIR",
            "GEMINI_CLI_HOME",
        )
        return (self.home, *(self.named(name, "") for name in named if self.environment.get(name)))


@dataclass(frozen=True)
class Server:
    """The server as a client starts it.

    Args:
        program: What runs the `workbench` command.
        folder: The workspace, absolute.
        agent: Name of the sub-agent that it is for; None for the main agent.
    """

    program: Sequence[str]
    folder: Path
    agent: str | None = None

    @property
    def name(self) -> str:
        """Return what the client shall call it."""
        return f"{SERVER_NAME}-{self.agent}" if self.agent else SERVER_NAME

    @property
    def words(self) -> list[str]:
        """Return the command line that starts it."""
        return [*self.program, "mcp", "--workspace", str(self.folder), *self.role_words]

    @property
    def role_words(self) -> list[str]:
        """Return the options that name the sub-agent."""
        return ["--agent", self.agent] if self.agent else []

    @classmethod
    def read(cls, words: Sequence[str]) -> Server | None:
        """Return the server that a command line of ours starts; None of any other command line."""
        if "mcp" not in words[1:]:
            return None
        at = list(words).index("mcp", 1)
        program, rest = list(words[:at]), list(words[at + 1 :])
        if rest[:1] not in (["--workspace"], ["-w"]) or not is_ours(program):
            return None
        match rest[1:]:
            case [folder]:
                return cls(program, Path(folder))
            case [folder, "--agent", agent]:
                return cls(program, Path(folder), agent)
        return None


def is_ours(program: Sequence[str]) -> bool:
    """Return True if words run this program, wherever it is installed."""
    match program:
        case [path]:
            return PurePath(path).name in (SERVER_NAME, f"{SERVER_NAME}.exe")
        case [python, "-m", module]:
            return module == SERVER_NAME and PurePath(python).name.startswith("python")
    return False


@dataclass(frozen=True)
class Hooks:
    """The moments at which a client runs a command of ours.

    Args:
        file: Where they are written, below the folder of the scope.
        events: The client's name of each moment, and ours.
        unit: Of time limits, in seconds.
        named: Whether each has a name.
        grouped: Whether commands stand in groups, which may name the tools that they are for.
        prompt: The client's name of the moment after a prompt, for which they are asked; "" where nothing can be told
            then.
        folder: What the file is below for the user, and for a project below its folder; None for the client's own.
        base: What the file has to say besides.
        also_of: Another client whose hooks it runs as well; empty if there is none.
    """

    file: str
    events: Mapping[str, str]
    prompt: str = ""
    unit: float = 1
    named: bool = False
    grouped: bool = True
    folder: tuple[str, str] | None = None
    base: Mapping[str, Any] = field(default_factory=dict)
    also_of: str = ""

    def entry(self, command: str, ours: str) -> dict[str, Any]:
        """Return what is written for one moment."""
        seconds = _PROMPT_SECONDS if ours == "prompt" else _HOOK_SECONDS
        hook: dict[str, Any] = {"name": f"{SERVER_NAME}-{ours}"} if self.named else {}
        hook |= {"type": "command", "command": command, "timeout": round(seconds / self.unit)}
        return {"hooks": [hook]} if self.grouped else hook


@dataclass(frozen=True)
class Plugin:
    """Code of ours that a client runs at the moments of a session.

    Args:
        files: Where each goes, below the folder of the scope, and its text, in which `asking.js` and what follows it
            are the code.
        code: Which of them is the code.
        moments: Those that it has us asked at.
        switch: Keys that lead to what turns it on in the configuration; empty where nothing has to.
        on: What is written there.
    """

    files: Mapping[str, str]
    code: str
    moments: tuple[str, ...] = ("session-start", "pre-compact", "session-end")
    switch: tuple[str, ...] = ()
    on: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Client:
    """One program that agents run in.

    Args:
        name: As it is typed.
        title: As its makers write it.
        programs: What it is started with.
        folder: Its own folder; that it is there says that the program was used.
        file: The configuration of the user's that names servers.
        project_file: The same of a project, below its folder; "" where there is none.
        servers: Keys that lead to the servers.
        entry: Makes what is written for a server.
        format: Of the configuration.
        project_format: Of a project's, where that differs.
        hooks: None where it has none that can tell the model something or save what was said.
        plugin: What takes their place in a client that runs code instead; None where none does.
        commands: Where a command of ours goes below its folder; "" where it has none of its own.
        command_form: How one is written: `markdown`, `toml` or `skill`.
        then: What a person does next, one sentence.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    folder: Callable[[Machine], Path]
    file: Callable[[Machine], Path]
    project_file: str
    servers: tuple[str, ...]
    entry: Callable[[Server], dict[str, Any]]
    format: Callable[[], Format]
    hooks: Hooks | None = None
    plugin: Plugin | None = None
    commands: str = ""
    command_form: str = "markdown"
    project_folder: str = ""
    then: str = field(default="Restart it; it has the tools from then on.")

    @property
    def has_prompts(self) -> bool:
        """Return True if something of ours can be told with each prompt."""
        return self.plugin is not None or (self.hooks is not None and self.hooks.prompt != "")

    def is_installed(self, machine: Machine) -> bool:
        """Return True if its folder, its configuration or its program is there."""
        if self.folder(machine).is_dir() or self.file(machine).exists():
            return True
        path = machine.environment.get("PATH", "")
        return any(shutil.which(program, path=path) for program in self.programs)

    def file_of(self, machine: Machine, scope: str) -> Path:
        """Return the configuration that names servers, of a scope that it has."""
        return self.file(machine) if scope == "user" else machine.project / self.project_file

    def documents(self, machine: Machine, scope: str) -> dict[Path, Format]:
        """Return the files of a scope that something of ours is put into, and how each is written."""
        found = {self.file_of(machine, scope): self.format()}
        if self.hooks is not None:
            found.setdefault(self.hooks_file(machine, scope), JSON)
        return found

    def hooks_file(self, machine: Machine, scope: str) -> Path:
        """Return the file of the hooks of a client that has some."""
        assert self.hooks is not None
        if self.hooks.folder is None:
            return self.folder_of(machine, scope) / self.hooks.file
        users, projects = self.hooks.folder
        folder = machine.home / users if scope == "user" else machine.project / projects
        return folder / self.hooks.file

    def folder_of(self, machine: Machine, scope: str) -> Path:
        """Return the folder that hooks and commands are below."""
        return self.folder(machine) if scope == "user" else machine.project / self.project_folder


def _standard(server: Server) -> dict[str, Any]:
    command, *arguments = server.words
    return {"command": command, "args": arguments}


def _typed(server: Server) -> dict[str, Any]:
    return {"type": "stdio", **_standard(server)}


def _opencode(server: Server) -> dict[str, Any]:
    return {"type": "local", "command": server.words, "enabled": True}


def _zed(server: Server) -> dict[str, Any]:
    return {"source": "custom", **_standard(server), "env": {}}


def _goose(server: Server) -> dict[str, Any]:
    command, *arguments = server.words
    told = {"enabled": True, "type": "stdio", "name": server.name, "description": _ABOUT}
    return {**told, "cmd": command, "args": arguments, "envs": {}, "timeout": 300}


def words_of(entry: object) -> list[str]:
    """Return the command line that an entry of any client's starts; empty where it has none."""
    if not isinstance(entry, Mapping):
        return []
    command = entry.get("command", entry.get("cmd"))
    arguments = entry.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else []),
    ]
    return words if all(isinstance(word, str) for word in words) else []


def _claude_file(machine: Machine) -> Path:
    folder = machine.environment.get("CLAUDE_CONFIG_DIR")
    return (Path(folder).expanduser() if folder else machine.home) / ".claude.json"


def _openclaw_folder(machine: Machine) -> Path:
    return machine.named("OPENCLAW_STATE_DIR", ".openclaw")


def _openclaw_file(machine: Machine) -> Path:
    given = machine.environment.get("OPENCLAW_CONFIG_PATH")
    return Path(given).expanduser() if given else _openclaw_folder(machine) / "openclaw.json"


def _gemini_folder(machine: Machine) -> Path:
    return machine.named("GEMINI_CLI_HOME", "") / ".gemini"


def _code_folder(machine: Machine) -> Path:
    if machine.platform == "darwin":
        return machine.home / "Library" / "Application Support" / "Code" / "User"
    return machine.config / "Code" / "User"


def _opencode_file(machine: Machine) -> Path:
    folder = machine.config / "opencode"
    return next(
        (folder / name for name in ("opencode.jsonc", "opencode.json") if (folder / name).exists()),
        folder / "opencode.json",
    )


_OPENCLAW_PACKAGE: Final = {
    "name": "workbench",
    "version": "1.0.0",
    "type": "module",
    "openclaw": {"extensions": ["./index.js"]},
}
_OPENCLAW_MANIFEST: Final = {
    "id": "workbench",
    "name": "Workbench",
    "description": _ABOUT,
    "version": "1.0.0",
    "activation": {"onStartup": True},
    "configSchema": {"type": "object", "additionalProperties": False},
}


def _written(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


# It asks before each answer whether to compress, and runs what stands for that each time; its transcript keeps all.
_GEMINI_EVENTS: Final = {"SessionStart": "session-start", "SessionEnd": "session-end"}
_CURSOR_EVENTS: Final = {
    "sessionStart": "session-start",
    "preCompact": "pre-compact",
    "sessionEnd": "session-end",
}
# It has no end of a session; each answer ends with one of these.
_CODE_EVENTS: Final = {"SessionStart": "session-start", "PreCompact": "pre-compact", "Stop": "session-end"}
_EVENTS: Final = {
    "SessionStart": "session-start",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}

CLIENTS: Final = (
    Client(
        name="claude-code",
        title="Claude Code",
        programs=("claude",),
        folder=lambda machine: machine.named("CLAUDE_CONFIG_DIR", ".claude"),
        file=_claude_file,
        project_file=".mcp.json",
        project_folder=".claude",
        servers=("mcpServers",),
        entry=_typed,
        format=lambda: JSON,
        hooks=Hooks("settings.json", _EVENTS, prompt="UserPromptSubmit"),
        commands="commands/workbench/{}.md",
    ),
    Client(
        name="codex",
        title="Codex CLI",
        programs=("codex",),
        folder=lambda machine: machine.named("CODEX_HOME", ".codex"),
        file=lambda machine: machine.named("CODEX_HOME", ".codex") / "config.toml",
        project_file=".codex/config.toml",
        project_folder=".codex",
        servers=("mcp_servers",),
        entry=_standard,
        format=_toml,
        hooks=Hooks("hooks.json", _EVENTS, prompt="UserPromptSubmit"),
        commands="skills/workbench-{}/SKILL.md",
        command_form="skill",
        then="Restart it. It asks once whether to trust the hooks: /hooks.",
    ),
    Client(
        name="openclaw",
        title="OpenClaw",
        programs=("openclaw",),
        folder=_openclaw_folder,
        file=_openclaw_file,
        project_file="",
        servers=("mcp", "servers"),
        entry=_standard,
        format=lambda: JSON5,
        plugin=Plugin(
            {
                "extensions/workbench/package.json": _written(_OPENCLAW_PACKAGE),
                "extensions/workbench/openclaw.plugin.json": _written(_OPENCLAW_MANIFEST),
                "extensions/workbench/index.js": "openclaw.js",
            },
            code="extensions/workbench/index.js",
            switch=("plugins", "entries", "workbench"),
            on={"enabled": True, "hooks": {"allowConversationAccess": True}},
        ),
        commands="skills/workbench-{}/SKILL.md",
        command_form="skill",
        then="Its gateway has the tools with the next turn; else: openclaw mcp reload.",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        folder=_gemini_folder,
        file=lambda machine: _gemini_folder(machine) / "settings.json",
        project_file=".gemini/settings.json",
        project_folder=".gemini",
        servers=("mcpServers",),
        entry=_standard,
        format=lambda: JSON_WITH_COMMENTS,
        hooks=Hooks("settings.json", _GEMINI_EVENTS, prompt="BeforeAgent", unit=0.001, named=True),
        commands="commands/workbench/{}.toml",
        command_form="toml",
        then="Restart it. It starts servers only in folders that it trusts.",
    ),
    Client(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        folder=lambda machine: machine.home / ".cursor",
        file=lambda machine: machine.home / ".cursor" / "mcp.json",
        project_file=".cursor/mcp.json",
        project_folder=".cursor",
        servers=("mcpServers",),
        entry=_standard,
        format=lambda: JSONC,
        hooks=Hooks("hooks.json", _CURSOR_EVENTS, grouped=False, base={"version": 1}),
    ),
    Client(
        name="vscode",
        title="VS Code",
        programs=("code",),
        folder=_code_folder,
        file=lambda machine: _code_folder(machine) / "mcp.json",
        project_file=".vscode/mcp.json",
        servers=("servers",),
        entry=_typed,
        format=lambda: JSONC,
        hooks=Hooks(
            "hooks/workbench.json",
            _CODE_EVENTS,
            grouped=False,
            folder=(".copilot", ".github"),
            also_of="claude-code",
        ),
    ),
    Client(
        name="zed",
        title="Zed",
        programs=("zed", "zeditor"),
        folder=lambda machine: machine.config / "zed",
        file=lambda machine: machine.config / "zed" / "settings.json",
        project_file=".zed/settings.json",
        servers=("context_servers",),
        entry=_zed,
        format=lambda: JSONC,
    ),
    Client(
        name="opencode",
        title="opencode",
        programs=("opencode",),
        folder=lambda machine: machine.config / "opencode",
        file=_opencode_file,
        project_file="opencode.json",
        project_folder=".opencode",
        servers=("mcp",),
        entry=_opencode,
        format=lambda: JSONC,
        plugin=Plugin({"plugins/workbench.js": "opencode.js"}, code="plugins/workbench.js"),
        commands="commands/workbench/{}.md",
    ),
    Client(
        name="goose",
        title="Goose",
        programs=("goose",),
        folder=lambda machine: machine.config / "goose",
        file=lambda machine: machine.config / "goose" / "config.yaml",
        project_file="",
        servers=("extensions",),
        entry=_goose,
        format=_yaml,
    ),
)
NAMES: Final = tuple(client.name for client in CLIENTS)


def client_called(name: str) -> Client:
    """Return a client by the name that is typed.

    Raises:
        NotFound: No client has this name.
    """
    for client in CLIENTS:
        if client.name == name:
            return client
    raise NotFound(f"There is no client “{name[:80]}”.", remedy=f"There are {', '.join(NAMES)}.")

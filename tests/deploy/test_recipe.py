"""The container recipe without containers: its files agree with the project, and its very commands are run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.engine.search.postgres.conftest import Standing, standing
from tests.isolation import isolate
from workbench.cli.serving import DEFAULT_PORT

__all__ = ["standing"]
ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
OURS = ("workspace", "listed", "hub", "server")


def instructions(name: str) -> list[str]:
    """Return what follows each instruction of a kind in the Dockerfile."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [line.partition(" ")[2] for line in joined.splitlines() if line.startswith(f"{name} ")]


def words_of(service: str) -> list[str]:
    """Return the words of a service's command, with the variables as they are by default."""
    command: list[str] = COMPOSE["services"][service]["command"]
    return [re.sub(r"\$\{MEMORY_URL:\?[^}]*\}", "https://memory.example/mcp", word) for word in command]


def test_the_image_is_built_from_what_it_copies(tmp_path: Path) -> None:
    for copied in instructions("COPY"):
        *sources, goal = copied.split()
        for source in sources:
            place = tmp_path / goal / source if goal == "./" else tmp_path / goal
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, place)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "made")]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    assert list((tmp_path / "made").glob("memory_workbench-*.whl"))


def test_the_files_agree_with_the_project_and_each_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.findall(r"\.\[(\w+)\]", DOCKERFILE)
    assert extras == ["postgres"]
    assert set(extras) <= set(project["optional-dependencies"])
    assert instructions("ENTRYPOINT") == ['["workbench"]']
    assert "workbench" in project["scripts"]
    assert instructions("EXPOSE") == [str(DEFAULT_PORT)]
    assert COMPOSE["services"]["server"]["ports"] == [f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"]
    for name in OURS:
        service = COMPOSE["services"][name]
        assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        assert service["hostname"] == "memory"
        folders = {volume.rpartition(":")[2] for volume in service["volumes"]}
        assert folders == {"/memory", "/data"}


@dataclass
class Recipe:
    """What the containers run, run here: one folder stands for each volume, a server of the test's for the database."""

    folder: Path
    database: Standing

    @property
    def environment(self) -> dict[str, str]:
        image = dict(pair.split("=") for given in instructions("ENV") for pair in given.split())
        given: Mapping[str, str] = COMPOSE["services"]["hub"]["environment"]
        url = given["WORKBENCH_HUB_URL"]
        assert url.endswith("@database/memory")
        own = {**image, **given, "WORKBENCH_HUB_URL": self.database.url}
        return {**os.environ, **{name: self._here(text) for name, text in own.items()}}

    def _here(self, text: str) -> str:
        return re.sub(r"^/(memory|data)\b", lambda found: str(self.folder / found[1]), text)

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "workbench", *map(self._here, words)]
        # In one stream, what is said has an order.
        return subprocess.Popen(
            command, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def run(self, *words: str) -> tuple[int, str]:
        with self.start(*words) as process:
            told, _ = process.communicate(timeout=120)
        return process.returncode, told


@pytest.fixture
def recipe(standing: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    isolate(tmp_path, monkeypatch, timezone="UTC")
    (tmp_path / "memory").mkdir()
    return Recipe(tmp_path, standing)


async def asked(address: str, secret: str) -> dict[str, Any]:
    """Return what the server finds, for a client that comes by way of the proxy."""
    headers = {"Authorization": f"Bearer {secret}", "Host": "memory.example"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as carrying,
        streamable_http_client(address, http_client=carrying) as streams,
        ClientSession(streams[0], streams[1]) as client,
    ):
        await client.initialize()
        found = await client.call_tool("memory_search", {"query": "What colour is the boat?"})
        assert not found.is_error
        return dict(found.structured_content or {})


@pytest.mark.slow
async def test_its_commands_run_while_the_database_goes_and_comes_back(recipe: Recipe) -> None:
    assert recipe.run(*words_of("workspace"))[0] == 0
    assert recipe.run(*words_of("listed"))[0] == 0
    assert recipe.run("remember", "The boat is painted green")[0] == 0
    code, told = recipe.run(*words_of("server"))
    assert (code, "workbench mcp token add" in told) == (5, True)
    _, told = recipe.run("mcp", "token", "add", "scout")
    secret = next(word for word in told.split() if word.startswith("scout.wbt_"))
    hub_words = words_of("hub")
    assert float(hub_words[-1]) > 0
    with ExitStack() as stack:
        hub = stack.enter_context(recipe.start(*hub_words[:-1], "0.01"))
        stack.callback(hub.kill)
        server = stack.enter_context(recipe.start(*words_of("server"), "--port", "0"))
        stack.callback(server.kill)
        heard(hub, "1 memory up to date")
        line = heard(server, "for clients https://memory.example/mcp")
        address = f"http://127.0.0.1:{line.partition('0.0.0.0:')[2].partition(',')[0]}/mcp"

        found = await asked(address, secret)
        assert "painted green" in str(found["results"])
        assert found["fallback"] is None

        recipe.database.stop()
        heard(hub, "cannot be used")
        found = await asked(address, secret)
        assert "painted green" in str(found["results"])
        assert "index on this machine answers instead" in found["fallback"]

        recipe.database.start()
        heard(hub, "1 memory up to date")
        for process in (hub, server):
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        assert (hub.returncode, server.returncode) == (0, 0)


def heard(process: subprocess.Popen[str], words: str) -> str:
    """Read what a program says until it says some words; return that line."""
    assert process.stdout
    before = []
    for line in process.stdout:
        if words in line:
            return line
        before.append(line)
    raise AssertionError("".join(before))

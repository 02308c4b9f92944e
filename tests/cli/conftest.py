"""A bench for command lines: an empty home, a folder, and a door with nothing behind it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.door import Bench, Door
from tests.cli.program import Program


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.fixture
def bench(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    for name in (
        "WORKBENCH_WORKSPACE",
        "WORKBENCH_NOW",
        "WORKBENCH_DEBUG",
        "WORKBENCH_ROLE",
        "VISUAL",
        "EDITOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORKBENCH_CONFIG", str(tmp_path / "config.toml"))
    folder = tmp_path / "agent"
    folder.mkdir()
    (tmp_path / "config.toml").touch()
    monkeypatch.chdir(folder)
    return Bench(door, folder)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Give an empty folder to run the program in."""
    folder, home = tmp_path / "agent", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return Program(folder, home)


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a workspace once, to be copied: a process more for each test would be felt."""
    folder = tmp_path_factory.mktemp("laid-out")
    home = tmp_path_factory.mktemp("home")
    assert Program(folder, home).json("init", ".", "--timezone", "UTC")["ok"] is True
    return folder


@pytest.fixture
def agent(program: Program, laid_out: Path) -> Program:
    """Give a workspace with nothing in it but the templates."""
    shutil.copytree(laid_out, program.folder, dirs_exist_ok=True)
    return program


class Terminal:
    """Makes the program believe that a person sits there, as click's runner can answer prompts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import click.testing

        for stream in (click.testing._NamedTextIOWrapper,):  # click's own stand-ins for the three streams
            monkeypatch.setattr(stream, "isatty", lambda _: True, raising=False)
        monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(monkeypatch)

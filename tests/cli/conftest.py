"""A bench for command lines: an empty home, a folder, and a door with nothing behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.door import Bench, Door


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.fixture
def bench(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    for name in ("WORKBENCH_WORKSPACE", "WORKBENCH_NOW", "WORKBENCH_DEBUG", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORKBENCH_CONFIG", str(tmp_path / "config.toml"))
    folder = tmp_path / "agent"
    folder.mkdir()
    (tmp_path / "config.toml").touch()
    monkeypatch.chdir(folder)
    return Bench(door, folder)

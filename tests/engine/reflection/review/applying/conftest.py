"""A desk in a furnished home whose state, cache and settings are nobody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine.reflection.review.applying.desk import Desk


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("WORKBENCH_", "GIT_"))]:
        monkeypatch.delenv(name)
    config = tmp_path / "config.toml"
    config.touch()
    monkeypatch.setenv("WORKBENCH_CONFIG", str(config))
    monkeypatch.setenv("WORKBENCH_PATHS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("WORKBENCH_PATHS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WORKBENCH_TIMEZONE", "UTC")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home with one of every kind of memory, and a history."""
    desk = Desk(tmp_path / "agent")
    desk.furnish()
    desk.init()
    return desk

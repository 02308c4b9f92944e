"""A desk in a furnished home whose state, cache and settings are nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.review.applying.desk import Desk
from tests.isolation import isolate


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(tmp_path, monkeypatch, timezone="UTC")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home with one of every kind of memory, and a history."""
    desk = Desk(tmp_path / "agent")
    desk.furnish()
    desk.init()
    return desk

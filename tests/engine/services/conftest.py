"""An agent's home: a folder of memory whose state, cache, settings and time zone are nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.claw_home import write_claw
from tests.engine.services.session_talk import talk
from tests.isolation import isolate


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(tmp_path, monkeypatch, timezone="Europe/Stockholm")


@pytest.fixture
def home(tmp_path: Path) -> AgentHome:
    """An empty folder."""
    return AgentHome(tmp_path / "agent")


@pytest.fixture
def furnished(home: AgentHome) -> AgentHome:
    """A folder with one of every kind of memory, and no history yet."""
    home.furnish()
    return home


@pytest.fixture
def settled(furnished: AgentHome) -> AgentHome:
    """A furnished folder that has a history."""
    furnished.init()
    return furnished


@pytest.fixture
def talked(settled: AgentHome) -> AgentHome:
    """A home in whose main session something was said."""
    return talk(settled)


@pytest.fixture
def claw(tmp_path: Path) -> Path:
    """A small workspace of another program, to be imported."""
    return write_claw(tmp_path)

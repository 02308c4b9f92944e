"""The real workspace of the tests with what two agents propose to it: built once a session, copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.isolation import isolate
from tests.tui.seen_workspace import NAME, NOW, SETTINGS, open_seen
from workbench.engine import FixedClock, Workspace

TIDES, RADAR, MAY_2, MAY_16, TEA, CALL = 1, 2, 3, 4, 5, 6


def propose(folder: Path, agent: str, text: str, **options: object) -> int:
    with open_seen(folder, FixedClock(NOW), f"agent:{agent}") as door:
        return door.propose(text, **options).number  # type: ignore[arg-type]  # options differ in type


@pytest.fixture(scope="session")
def asked_template(seen_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace with six proposals of two agents; one contradicts memory, two each other, one is known."""
    with pytest.MonkeyPatch.context() as patch:
        where = tmp_path_factory.mktemp("asked")
        isolate(where, patch, settings=SETTINGS)
        folder = where / NAME
        shutil.copytree(seen_template, folder)
        tides = "The tide tables are off by six minutes at Barreiro in winter"
        about = ["concept:Tide tables"]
        propose(folder, "researcher", tides, store="semantic", entities=about, trigger="read the log")
        propose(
            folder, "researcher", "The radar is a Furuno of 2004", store="semantic", entities=["tool:Radar"]
        )
        for agent, day in (("planner", 2), ("researcher", 16)):
            text = f"The summer season starts on May {day}"
            propose(folder, agent, text, store="semantic", entities=["project:Timetable"])
        tea = "Inês Duarte prefers tea from São Miguel"
        propose(folder, "planner", tea, store="semantic", entities=["person:Inês Duarte"], confidence="low")
        propose(folder, "planner", "Call the quay before you print", store="procedural", core_worthy=True)
        return folder


@pytest.fixture
def asked(
    asked_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen_clock: FixedClock
) -> Iterator[Workspace]:
    """A copy of it, opened by a person as the bench opens it."""
    isolate(tmp_path, monkeypatch, settings=SETTINGS)
    folder = tmp_path / NAME
    shutil.copytree(asked_template, folder)
    with open_seen(folder, seen_clock) as workspace:
        yield workspace
